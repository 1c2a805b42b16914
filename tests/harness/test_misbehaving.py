"""Tools that misbehave in every way: the turn goes on, its records hold, nothing grows (L5)."""

from __future__ import annotations

import asyncio
import datetime as dt
import io
import json
import math
import threading
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest

from goliath_local.budget import estimate_tokens
from goliath_local.errors import RunCancelled
from goliath_local.memory import in_memory
from goliath_local.memory.read import read_memory
from goliath_local.memory.write import memory_text
from goliath_local.records import to_json

WINDOW_TOKENS = 4096


def _cycle() -> Any:
    found: dict[str, Any] = {"name": "loop"}
    found["self"] = [found]
    return found


def _deep(levels: int) -> Any:
    found: Any = "bottom"
    for _ in range(levels):
        found = [found]
    return found


class Hostile:
    """Breaks when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__

    def __deepcopy__(self, _: Any) -> Any:
        raise RuntimeError("no")


class HostileMapping(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise RuntimeError("no items")

    def __iter__(self) -> Any:
        raise RuntimeError("no keys")


OUTPUTS: dict[str, Any] = {
    "200 KB of text": "word " * 40_000,
    "one word of 200 KB": "x" * 200_000,
    "10,000 rows": [{"id": n, "title": f"task {n}", "done": n % 2 == 0} for n in range(10_000)],
    "10,000 keys": {f"key {n}": n for n in range(10_000)},
    "NaN": {"share": math.nan, "most": [math.inf, -math.inf]},
    "a cycle": _cycle(),
    "a pit": _deep(100_000),
    "bytes": b"\xff\x00" * 5000,
    "lone surrogates": {"na\ud800me": ["\udfff" * 400]},
    "control characters": "\x00\x1b[2J\x9b\u202e" * 200,
    "combining marks": "e" + "\u0301" * 50_000,
    "a huge integer": 10**6000,
    "a decimal": Decimal("1E+999999"),
    "an open file": io.StringIO("x"),
    "a lock": threading.Lock(),
    "a type": dict,
    "a function": print,
    "an exception": ValueError("returned, not raised"),
    "what breaks when looked at": Hostile(),
    "a list of it": [Hostile(), 1],
    "a mapping that breaks": HostileMapping(a=1),
    "a generator": (n for n in range(20_000)),
    "an iterator": iter(range(20_000)),
    "a set of mixed things": {1, "a", None, (2, 3)},
    "a path and a date": [PurePosixPath("/a"), dt.date(2026, 1, 2)],
    "nothing": None,
    "blank": " \n\t ",
    "odd keys": {2: "a", None: "b", True: "c", (1, 2): "d", "2": "e"},
}


async def checked_turn(play: Any, say: Any, tool: Any, **options: Any) -> Any:
    """Run one turn with one step; whatever the tool did, all that is kept has to be sound."""
    memory = in_memory()
    agent = play([say.tool(tool.name), *say.done], tools=[tool], memory=memory, **options)
    events: list[Any] = []
    result = await agent.run(on_event=events.append)
    assert result.text == "All done."
    for call in agent.calls:
        text = call.request.system_text + call.request.user_text
        text.encode()  # no half of a surrogate pair reaches a tokenizer
        assert estimate_tokens(text) < WINDOW_TOKENS
    told = json.dumps([to_json(event) for event in events], allow_nan=False)
    assert len(told) < 200_000
    stored = memory_text(await memory.load())
    assert len(stored) < 200_000
    reading = read_memory(stored)
    assert reading.problems == ()
    [step] = reading.state.recent[0].steps[:1]
    assert step.tool == tool.name
    return result


@pytest.mark.parametrize("mode", [None, "content"])
@pytest.mark.parametrize("case", OUTPUTS)
async def test_whatever_a_tool_returns_the_turn_goes_on(
    play: Any, make: Any, say: Any, case: str, mode: Any
) -> None:
    tool = make(output=lambda *_: OUTPUTS[case], output_mode=mode).tool
    result = await checked_turn(play, say, tool)
    assert result.steps[0].status == "completed"
    assert 0 < len(result.steps[0].result) < 4000


class OutOfTree(BaseException):
    """Neither an Exception nor one of Python's own."""


RAISED: dict[str, BaseException] = {
    "an error": ValueError("no"),
    "exit": SystemExit(3),
    "no exception class": OutOfTree("no"),
    "a group": BaseExceptionGroup("many", [OutOfTree("one"), ValueError("two")]),
    "memory": MemoryError(),
    "recursion": RecursionError("too deep"),
    "assertion": AssertionError(),
    "a 200 KB message": RuntimeError("x" * 200_000),
    "an escape in the message": RuntimeError("\x1b[2J\ud800"),
    "time-out": TimeoutError(),
}


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize("case", RAISED)
async def test_whatever_a_tool_raises_the_turn_goes_on(
    play: Any, make: Any, say: Any, case: str, kind: str
) -> None:
    from goliath_local.tools import define_tool

    def plain(*_: Any) -> None:
        raise RAISED[case]

    async def later(*_: Any) -> None:
        raise RAISED[case]

    execute = plain if kind == "plain" else later
    tool = define_tool(name="look", description="Looks.", execute=execute)
    result = await checked_turn(play, say, tool)
    assert result.steps[0].status == "failed"
    assert len(result.steps[0].result) < 400


async def test_a_tool_that_hangs_is_given_up_on_and_the_turn_goes_on(
    play: Any, make: Any, say: Any
) -> None:
    async def hang(*_: Any) -> None:
        await asyncio.sleep(60)

    tool = make(output=hang, timeout_s=0.02).tool
    result = await checked_turn(play, say, tool)
    assert result.steps[0].status == "failed"
    assert "0.02 s" in result.steps[0].result


async def test_a_tool_that_spoils_its_arguments_changes_no_record(
    play: Any, make: Any, say: Any
) -> None:
    def spoil(arguments: Any, _: Any) -> str:
        arguments["tags"].append("spoilt")
        arguments.clear()
        return "ok"

    tags = {"tags": {"type": "array", "items": {"type": "string"}}}
    tool = make("write", spoil, tags, writes=True)
    asked: list[Any] = []

    def confirm(request: Any) -> bool:
        asked.append(json.dumps(request.input))
        request.input["tags"].append("sneaked in")
        return True

    script = [say.tool("write"), {"json": {"tags": ["a"]}}, *say.done]
    result = await play(script, tools=[tool.tool], confirm=confirm).run()
    assert asked == ['{"tags": ["a"]}']
    assert result.steps[0].input == {"tags": ["a"]}


def named(value: Any) -> str:
    """Return a name that is the same in each process, for tests that are shared out."""
    return "an object" if type(value) is object else repr(value)


@pytest.mark.parametrize(
    "said",
    [
        *(None, 0, 1, "yes", "y", "true", b"y", 1.0, [True], (True,), {}, object(), Exception),
        *({"approved": "true"}, {"approved": 1}, {"reason": "ok"}, {"approved": [True]}),
    ],
    ids=named,
)
async def test_whatever_is_not_a_clear_yes_runs_nothing(
    play: Any, writer: Any, say: Any, said: Any
) -> None:
    script = [say.tool("write"), {"json": {"title": "x"}}, *say.done]
    result = await play(script, tools=[writer.tool], confirm=lambda _: said).run()
    assert writer.ran == []
    assert result.steps[0].skip_reason == "confirmation"


@pytest.mark.parametrize("raised", [ValueError("no"), OutOfTree("no"), RunCancelled("no")])
async def test_a_confirm_handler_that_raises_runs_nothing(
    play: Any, writer: Any, say: Any, raised: BaseException
) -> None:
    async def confirm(_: Any) -> bool:
        raise raised

    script = [say.tool("write"), {"json": {"title": "x"}}, *say.done]
    with pytest.raises(type(raised), match="no"):
        await play(script, tools=[writer.tool], confirm=confirm).run()
    assert writer.ran == []


GARBAGE: list[Any] = [
    *(None, 5, True, b"text", ["text"], object(), {}, {"text": None}, {"text": 5}),
    *({"text": ["a"]}, {"answer": "a"}, ValueError("x")),
]


@pytest.mark.parametrize("said", GARBAGE, ids=named)
async def test_a_fallback_that_answers_garbage_is_an_error_in_words(
    play: Any, make: Any, say: Any, said: Any
) -> None:
    from goliath_local.errors import FallbackError

    with pytest.raises(FallbackError, match="return a text"):
        await play([say.escalate], tools=[make().tool], fallback=lambda _: said).run()


async def test_a_fallback_with_a_megabyte_of_text_is_heard_and_kept_within_bounds(
    play: Any, make: Any, say: Any
) -> None:
    memory = in_memory()
    agent = play(
        [say.escalate, say.text("brief")],
        tools=[make().tool],
        fallback=lambda _: "word \ud800\x1b[2J" * 90_000,
        memory=memory,
    )
    result = await agent.run()
    assert result.handled_by == "cloud"
    json.dumps([to_json(event) for event in result.trace])
    assert read_memory(memory_text(await memory.load())).problems == ()
