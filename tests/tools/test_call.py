from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from typing import Any

import pytest

from goliath_local.budget import estimate_tokens
from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.tools import (
    ResultBudget,
    Tool,
    ToolContext,
    ToolTimeout,
    call_tool,
    cap_result,
    define_tool,
    format_result,
    resolve_input,
    tool,
)
from tests.slowness import without_slowness


def context(cancel: CancelToken | None = None, **more: Any) -> ToolContext:
    return ToolContext(
        conversation_id=None,
        context=more.get("context"),
        cancel=cancel or CancelToken(),
        result_budget=ResultBudget(max_tokens=40, count_tokens=estimate_tokens),
        steps=(),
        recent=(),
    )


def made(execute: Any, **options: Any) -> Tool:
    return define_tool(name="f", description="F.", execute=execute, **options)


async def test_plain_and_async_tools_return_their_output() -> None:
    async def later(arguments: Any, context: ToolContext) -> Any:
        return arguments["x"], context.context

    def now(arguments: Any, context: ToolContext) -> Any:
        return arguments["x"], context.context

    for function in (now, later):
        result = await call_tool(made(function), {"x": 1}, context(context="mine"))
        assert (result.output, result.failed) == ((1, "mine"), False)


async def test_a_function_is_called_with_its_arguments_by_name_and_the_context() -> None:
    @tool
    def add(text: str, count: int = 2, *, context: ToolContext) -> Any:
        return text * count, context.context

    @tool
    async def add_later(text: str, context: ToolContext, count: int = 2) -> Any:
        return text * count, context.context

    for each in (add, add_later):
        arguments = each.parameters.read({"text": "ab"})
        result = await call_tool(each, arguments, context(context="mine"))
        assert result.output == ("abab", "mine")


async def test_what_a_plain_function_returns_is_awaited_if_it_can_be() -> None:
    async def inner() -> str:
        return "late"

    result = await call_tool(made(lambda *_: inner()), {}, context())
    assert result.output == "late"


@pytest.mark.parametrize(
    "error",
    [ValueError("no such note"), KeyError("x"), StopIteration(3), SystemExit(2), Exception()],
)
async def test_whatever_a_tool_raises_is_a_failure_with_words(error: BaseException) -> None:
    def now(*_: Any) -> None:
        raise error

    async def later(*_: Any) -> None:
        raise error

    functions = [now] if isinstance(error, StopIteration) else [now, later]
    for function in functions:
        result = await call_tool(made(function), {}, context())
        assert result.error is error
        assert result.message


async def test_an_error_that_cannot_say_what_it_is_is_named() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def now(*_: Any) -> None:
        raise Mute

    assert (await call_tool(made(now), {}, context())).message == "Mute"


async def test_what_a_tool_yields_is_its_list() -> None:
    @tool
    def count(most: int) -> Any:
        yield from range(most)

    assert (await call_tool(count, {"most": 3}, context())).output == [0, 1, 2]


async def test_a_tool_gets_its_own_copy_of_the_arguments() -> None:
    arguments = {"tags": ["a"]}

    def spoil(arguments: Any, _: ToolContext) -> Any:
        arguments["tags"].append("b")
        return arguments

    result = await call_tool(made(spoil), arguments, context())
    assert result.output == {"tags": ["a", "b"]}
    assert arguments == {"tags": ["a"]}


async def test_arguments_that_cannot_be_copied_are_handed_over_themselves() -> None:
    lock = threading.Lock()
    result = await call_tool(made(lambda arguments, _: arguments), lock, context())
    assert result.output is lock


async def test_a_plain_tool_does_not_hold_up_the_loop() -> None:
    release = threading.Event()
    call = asyncio.create_task(call_tool(made(lambda *_: release.wait(40)), {}, context()))
    await asyncio.sleep(0.02)
    assert not call.done()
    release.set()
    assert (await call).output is True


async def test_context_variables_reach_a_plain_tool() -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    result = await call_tool(made(lambda *_: variable.get()), {}, context())
    assert result.output == "set"


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_a_tool_that_takes_too_long_has_failed(kind: str) -> None:
    release = threading.Event()

    async def later(*_: Any) -> None:
        await asyncio.sleep(40)

    function = later if kind == "async" else lambda *_: release.wait(40)
    started = time.monotonic()
    result = await call_tool(made(function, timeout_s=0.05), {}, context())
    release.set()
    assert time.monotonic() - started < 20  # a hang, not a speed
    assert isinstance(result.error, ToolTimeout)
    assert "0.05 s" in result.message


@pytest.mark.parametrize("kind", ["plain", "async", "deaf"])
async def test_cancelling_stops_the_wait_for_a_tool_at_once(kind: str) -> None:
    release = threading.Event()
    cleaned: list[str] = []

    def plain(*_: Any) -> None:
        cancel.cancel("enough")
        release.wait(40)

    async def later(*_: Any) -> None:
        try:
            cancel.cancel("enough")
            await asyncio.sleep(40)
        finally:
            cleaned.append("up")

    async def deaf(*_: Any) -> None:
        cancel.cancel("enough")
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    functions: dict[str, Any] = {
        "plain": plain,
        "async": later,
        "deaf": deaf,
    }
    cancel = CancelToken()
    started = time.monotonic()
    with pytest.raises(RunCancelled, match="enough"):
        await call_tool(made(functions[kind]), {}, context(cancel))
    assert time.monotonic() - started < 20  # a hang, not a speed
    assert cleaned == (["up"] if kind == "async" else [])
    release.set()
    await asyncio.sleep(0.05)


async def test_a_cancelled_run_does_not_start_a_tool() -> None:
    cancel = CancelToken()
    cancel.cancel()
    ran: list[int] = []
    with pytest.raises(RunCancelled):
        await call_tool(made(lambda *_: ran.append(1)), {}, context(cancel))
    assert ran == []


async def test_a_tool_that_raises_a_cancellation_cancels_the_run() -> None:
    def stop(*_: Any) -> None:
        raise RunCancelled("by the tool")

    def stop_task(*_: Any) -> None:
        raise asyncio.CancelledError

    async def stop_later(*_: Any) -> None:
        raise asyncio.CancelledError

    for function in (stop, stop_task, stop_later):
        with pytest.raises(RunCancelled):
            await call_tool(made(function), {}, context())


async def test_cancelling_the_task_cancels_an_async_tool_in_it() -> None:
    cleaned: list[str] = []

    began = asyncio.Event()

    async def later(*_: Any) -> None:
        try:
            began.set()
            await asyncio.sleep(40)
        finally:
            cleaned.append("up")

    call = asyncio.create_task(call_tool(made(later), {}, context()))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.sleep(0)
    assert cleaned == ["up"]


def test_a_hanging_tool_does_not_keep_the_program_alive() -> None:
    import subprocess

    program = (
        "import asyncio, time\n"
        "from goliath_local.tools import *\n"
        "from goliath_local.cancel import CancelToken\n"
        "t = define_tool(name='f', description='F.', execute=lambda *_: time.sleep(600),\n"
        "                timeout_s=0.05)\n"
        "c = ToolContext(conversation_id=None, context=None, cancel=CancelToken(), steps=(),\n"
        "                recent=(), result_budget=ResultBudget(max_tokens=1, count_tokens=len))\n"
        "print(asyncio.run(call_tool(t, {}, c)).message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=600,  # a hang, not a speed
        check=True,
    )
    assert done.stdout.strip() == "It did not finish within 0.05 s."
    assert without_slowness(done.stderr) == ""


async def test_a_late_result_of_a_plain_tool_is_dropped_without_a_word() -> None:
    done = threading.Event()

    def slow(*_: Any) -> None:
        time.sleep(0.1)
        done.set()

    await call_tool(made(slow, timeout_s=0.02), {}, context())
    assert await asyncio.to_thread(done.wait, 60)
    await asyncio.sleep(0.02)


async def test_without_a_resolver_the_arguments_are_taken_as_they_are() -> None:
    arguments = {"x": 1}
    assert (await resolve_input(made(print), arguments, context())).output is arguments


async def test_a_resolver_sees_earlier_steps_and_gets_a_copy() -> None:
    def resolve(arguments: Any, context: ToolContext) -> Any:
        arguments["id"] = context.steps[0]["output"][arguments["id"]]
        return arguments

    arguments = {"id": "first"}
    seen = context()
    seen = ToolContext(
        conversation_id=None,
        context=None,
        cancel=seen.cancel,
        result_budget=seen.result_budget,
        steps=({"output": {"first": 17}},),
        recent=(),
    )
    result = await resolve_input(made(print, resolve_input=resolve), arguments, seen)
    assert result.output == {"id": 17}
    assert arguments == {"id": "first"}


async def test_a_raising_resolver_is_a_failure_with_its_message() -> None:
    def resolve(*_: Any) -> Any:
        raise LookupError("no note 9")

    result = await resolve_input(made(print, resolve_input=resolve), {}, context())
    assert result.message == "no note 9"


async def formatted(made_tool: Tool, output: Any) -> Any:
    return await format_result(made_tool, output, completed="It is done.", cancel=CancelToken())


async def test_without_a_formatter_a_result_is_summarised() -> None:
    assert (await formatted(made(print), ["a", "b"])).text == "1. a\n2. b"


async def test_without_a_formatter_content_is_literal() -> None:
    content = made(print, output_mode="content")
    assert (await formatted(content, "x\n" * 900)).text == "x\n" * 900
    assert (await formatted(content, {"ä": [1]})).text == '{"ä":[1]}'
    assert (await formatted(content, "")).text == "(no output)"


async def test_a_formatter_words_the_result_sync_or_async() -> None:
    async def later(output: Any) -> str:
        return f"late {output}"

    assert (await formatted(made(print, to_model_output=str.upper), "ab")).text == "AB"
    assert (await formatted(made(print, to_model_output=later), "ab")).text == "late ab"


@pytest.mark.parametrize("formatter", [lambda _: 1 / 0, lambda _: 42, lambda _: None])
async def test_a_formatter_that_cannot_is_replaced_by_a_fixed_sentence(formatter: Any) -> None:
    result = await formatted(made(print, to_model_output=formatter), "ab")
    assert result.text == "It is done."
    assert result.error is not None


def test_summaries_are_capped_at_600_characters() -> None:
    text = cap_result(made(print), "x" * 900, context().result_budget)
    assert text == "x" * 599 + "…"


def test_content_is_capped_at_the_budget_with_a_marker() -> None:
    budget = context().result_budget
    text = cap_result(made(print, output_mode="content"), "word " * 900, budget)
    assert estimate_tokens(text) <= 40
    assert "tokens left out" in text


def test_a_content_budget_without_room_for_the_marker_is_an_error() -> None:
    budget = ResultBudget(max_tokens=2, count_tokens=estimate_tokens)
    with pytest.raises(ConfigError):
        cap_result(made(print, output_mode="content"), "word " * 900, budget)
