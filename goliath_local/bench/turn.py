"""How long a user waits: whole turns on the sample tools, cold and warm.

Edge: drives an agent. A turn is cold when its instructions were never seen before, so that no
saved state fits; it is warm when only the ask is new.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from goliath_local.agent import create_agent
from goliath_local.bench.listening import Listener
from goliath_local.bench.rows import Row
from goliath_local.evals import sample_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.bench.listening import Heard
    from goliath_local.cancel import CancelToken
    from goliath_local.model import CountingModel

_ASKS: Final = (
    "What is on my list today?",
    "Put buying eggs on my list.",
    "Add a call to the dentist, unless it is on my list already.",
    "Remind me to water the plants.",
    "Read me my tasks.",
)


@dataclass(slots=True, kw_only=True)
class _Turns:
    """What turns of one kind took."""

    first_token_s: list[float] = field(default_factory=list)
    whole_s: list[float] = field(default_factory=list)
    step_s: list[float] = field(default_factory=list)
    choosing_ms: list[float] = field(default_factory=list)

    def add(self, seconds: float, *, steps: int, heard: Sequence[Heard]) -> None:
        self.whole_s.append(seconds)
        self.step_s.append(seconds / max(steps, 1))
        if heard:
            self.first_token_s.append(heard[0].reply.usage.first_token_s)
        self.choosing_ms += [cost for one in heard if (cost := constraint_ms(one)) is not None]


async def measure_turns(
    model: CountingModel, *, repetitions: int, cancel: CancelToken | None = None
) -> tuple[Row, ...]:
    """Return the turn rows.

    Args:
        model: a loaded model that counts.
        repetitions: turns of each kind.
        cancel: stops it.

    Raises:
        RunCancelled: it was told to stop.
    """
    listener = Listener(model)
    cold, warm = _Turns(), _Turns()
    # The vocabulary is read and the grammars are compiled at the first reply: that is `load`'s.
    await _play(listener, "Warm up.", _ASKS[0], _Turns(), cancel)
    for number in range(repetitions):
        await _play(listener, _instructions(number), _ASKS[number % len(_ASKS)], cold, cancel)
    # Every stage's head once, so that the warm turns find them: one write, one read.
    for ask in _ASKS[:3]:
        await _play(listener, _instructions(repetitions), ask, _Turns(), cancel)
    for number in range(repetitions):
        ask = f"{_ASKS[number % len(_ASKS)]} This is the {_ordinal(number)} time."
        await _play(listener, _instructions(repetitions), ask, warm, cancel)
    return (
        _row("first token, cold", cold.first_token_s),
        _row("first token, warm", warm.first_token_s),
        _row("whole, cold", cold.whole_s),
        _row("whole, warm", warm.whole_s),
        _row("step, warm", warm.step_s),
        Row(
            test="turn: constraint a token",
            unit="ms",
            samples=tuple(cold.choosing_ms + warm.choosing_ms),
        ),
    )


def constraint_ms(heard: Heard) -> float | None:
    """Return what choosing a token cost, in ms, mean over the sampled tokens of a reply.

    None for free text and for replies in which nothing was left to choose.
    """
    usage = heard.reply.usage
    sampled = usage.completion_tokens - usage.forced_tokens
    if heard.request.schema is None or sampled < 1:
        return None
    return usage.choosing_s / sampled * 1000


async def _play(
    listener: Listener, instructions: str, ask: str, turns: _Turns, cancel: CancelToken | None
) -> None:
    agent = create_agent(
        model=listener,
        tools=sample_tools(),
        instructions=instructions,
        fallback=lambda _request: {"text": "Handed over."},
    )
    listener.taken()
    started = time.perf_counter()
    result = await agent.run(ask, cancel=cancel)
    seconds = time.perf_counter() - started
    turns.add(seconds, steps=len(result.steps), heard=listener.taken())


def _instructions(number: int) -> str:
    # The number stands in front: whatever follows was never evaluated behind it.
    return f"Assistant {number}. You help one person with their list of tasks."


def _ordinal(number: int) -> str:
    return (
        ("first", "second", "third", "fourth", "fifth")[number]
        if number < 5
        else f"{number + 1}th"
    )


def _row(name: str, samples: Sequence[float]) -> Row:
    return Row(test=f"turn: {name}", unit="s", samples=tuple(samples))
