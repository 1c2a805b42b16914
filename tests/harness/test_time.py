"""A run that was told to stop waits for nobody: not for a yes, a hook, a fallback, a store."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import RunCancelled

if TYPE_CHECKING:
    from goliath_local.records import MemoryState

WRITE = {"json": {"title": "x"}}


async def never(*_: Any, **__: Any) -> Any:
    await asyncio.sleep(60)


class Deaf:
    """Takes no notice of being cancelled, for longer than anybody should wait."""

    def __init__(self) -> None:
        self.until = time.monotonic() + 30

    async def __call__(self, *_: Any, **__: Any) -> Any:
        while time.monotonic() < self.until:
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue


def model_of(generate: Any) -> Any:
    return SimpleNamespace(generate=generate)


def store_of(load: Any) -> Any:
    async def save(_: MemoryState) -> None: ...

    return SimpleNamespace(load=load, save=save)


def observer(name: str, hook: Any) -> Any:
    return SimpleNamespace(**{"name": "slow", name: hook})


PARTS = {
    "confirm": lambda slow: {"confirm": slow},
    "a hook": lambda slow: {"extensions": [observer("before_plan", slow)]},
    "fallback": lambda slow: {"fallback": slow, "max_steps": 0},
    "model": lambda slow: {"model": model_of(slow)},
    "memory": lambda slow: {"memory": store_of(slow)},
}


@pytest.mark.parametrize(
    ("part", "is_deaf"), [*((part, False) for part in PARTS), ("confirm", True), ("model", True)]
)
async def test_a_turn_ends_in_time_though_a_part_never_answers(
    play: Any, writer: Any, say: Any, part: str, is_deaf: bool
) -> None:
    slow = Deaf() if is_deaf else never
    script = [say.tool("write"), WRITE, *say.done]
    agent = play(script, tools=[writer.tool], **PARTS[part](slow))
    began = time.monotonic()
    with pytest.raises(RunCancelled, match=r"longer than 0\.05 s"):
        await agent.run(timeout_s=0.05)
    assert time.monotonic() - began < 20  # a hang, not a speed
    if isinstance(slow, Deaf):
        slow.until = 0  # or the end of the loop would wait for it
    assert writer.ran == []


async def test_an_observer_that_never_answers_is_noted_and_left(
    play: Any, say: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goliath_local.extensions.chain._OBSERVER_GRACE_S", 0.05)
    finished: list[Any] = []
    extensions = [
        observer("on_error", never),
        SimpleNamespace(name="after", on_finish=lambda data: finished.append(data.diagnostics)),
    ]
    cancel = CancelToken()
    cancel.cancel("enough")
    began = time.monotonic()
    with pytest.raises(RunCancelled):
        await play(say.done, extensions=extensions).run(cancel=cancel)
    assert time.monotonic() - began < 20  # a hang, not a speed
    [[seen]] = finished
    assert (seen.extension, seen.phase) == ("slow", "on_error")


async def test_a_yes_after_the_cancellation_is_none(play: Any, writer: Any, say: Any) -> None:
    cancel = CancelToken()

    async def confirm(_: Any) -> bool:
        cancel.cancel("changed my mind")
        await asyncio.sleep(0.02)
        return True

    script = [say.tool("write"), WRITE, *say.done]
    with pytest.raises(RunCancelled, match="changed my mind"):
        await play(script, tools=[writer.tool], confirm=confirm).run(cancel=cancel)
    assert writer.ran == []


async def test_a_fallback_that_answers_after_the_cancellation_is_not_heard(
    play: Any, make: Any, say: Any
) -> None:
    cancel, announced = CancelToken(), []

    async def fall_back(_: Any) -> str:
        cancel.cancel("enough")
        await asyncio.sleep(0.02)
        return "From elsewhere."

    with pytest.raises(RunCancelled, match="enough"):
        await play([say.escalate], tools=[make().tool], fallback=fall_back).run(
            cancel=cancel, on_event=lambda event: announced.append(event.type)
        )
    assert "answer" not in announced


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt])
async def test_a_handler_that_wants_to_end_the_program_ends_its_run_alone(
    play: Any, writer: Any, say: Any, raised: Any
) -> None:
    async def confirm(_: Any) -> bool:
        raise raised

    script = [say.tool("write"), WRITE, *say.done]
    with pytest.raises(raised):
        await play(script, tools=[writer.tool], confirm=confirm).run()
    assert writer.ran == []
    assert (await play([say.text("All done.")]).run()).text == "All done."
