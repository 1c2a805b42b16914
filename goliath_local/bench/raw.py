"""The bare speed of the network: prompts evaluated, tokens decoded, at one depth or another.

Edge: drives a native session on ids drawn at random, as llama-bench does. No text, no template,
no constraint: what is left is what the machine can do.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from goliath_local.bench.rows import Row, row_name
from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goliath_local.engine.native import Session

_WARM_UP_TOKENS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What is to be measured."""

    prompts: tuple[int, ...] = (512,)
    """Tokens of the prompts; none leaves them out."""

    replies: tuple[int, ...] = (128,)
    depths: tuple[int, ...] = (0,)
    """Tokens that are in the context before."""

    repetitions: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A row, and what every single token took, in seconds, in order; none for prompts."""

    row: Row
    token_s: tuple[float, ...] = ()


def verify_trials(trials: Trials, *, window_tokens: int) -> None:
    """Raise `ConfigError` unless every trial is possible and fits the window."""
    if trials.repetitions < 1:
        message = f"{trials.repetitions} repetitions measure nothing. Give at least 1 (-r)."
        raise ConfigError(message)
    if not any((*trials.prompts, *trials.replies)):
        raise ConfigError("There is nothing to measure. Give tokens with -p or -n.")
    if min((*trials.prompts, *trials.replies, *trials.depths), default=0) < 0:
        raise ConfigError("Tokens are counted from 0; -p, -n and -d may not be negative.")
    longest = max((*trials.prompts, *trials.replies)) + max(trials.depths, default=0)
    if longest > window_tokens:
        message = (
            f"The largest test needs {longest:,} tokens and the window has {window_tokens:,}. "
            "Choose smaller -p, -n or -d."
        )
        raise ConfigError(message)


def measure_raw(session: Session, trials: Trials, *, vocabulary_tokens: int) -> Iterator[Timed]:
    """Yield one row a test, prompts before replies, at each depth.

    Raises:
        Aborted: the session's flag was raised.
    """
    chance = random.Random(trials.seed)

    def ids(count: int) -> list[int]:
        return [chance.randrange(vocabulary_tokens) for _ in range(count)]

    for depth in trials.depths or (0,):
        go_back = _deepen(session, ids(depth))
        for prompt in filter(None, trials.prompts):
            yield _prompt_row(session, go_back, ids(prompt), depth, trials.repetitions)
        for reply in filter(None, trials.replies):
            yield _reply_row(session, go_back, ids(reply), depth, trials.repetitions)


class _Deepened:
    """Brings a session back to one depth."""

    def __init__(self, session: Session) -> None:
        self._session, self._length = session, session.length
        self._state = session.save() if session.length else None

    def __call__(self) -> None:
        if self._state is None:
            self._session.clear()
        else:
            self._session.restore(self._state, length=self._length)


def _deepen(session: Session, ids: Sequence[int]) -> _Deepened:
    session.clear()
    if ids:
        session.evaluate(ids)
    return _Deepened(session)


def _prompt_row(
    session: Session, go_back: _Deepened, ids: Sequence[int], depth: int, repetitions: int
) -> Timed:
    speeds = []
    for round_ in range(-1, repetitions):  # the first is not counted: pages and clocks warm up
        go_back()
        seconds = _seconds(session, ids)
        if round_ >= 0:
            speeds.append(len(ids) / seconds)
    row = Row(
        test=row_name(prompt=len(ids), depth=depth),
        unit="t/s",
        samples=tuple(speeds),
        prompt_tokens=len(ids),
        depth_tokens=depth,
    )
    return Timed(row=row)


def _reply_row(
    session: Session, go_back: _Deepened, ids: Sequence[int], depth: int, repetitions: int
) -> Timed:
    go_back()
    for token in ids[:_WARM_UP_TOKENS]:
        _seconds(session, [token])
    speeds, tokens = [], []
    for _ in range(repetitions):
        go_back()
        one_run = [_seconds(session, [token]) for token in ids]
        speeds.append(len(ids) / sum(one_run))
        tokens += one_run
    row = Row(
        test=row_name(reply=len(ids), depth=depth),
        unit="t/s",
        samples=tuple(speeds),
        reply_tokens=len(ids),
        depth_tokens=depth,
    )
    return Timed(row=row, token_s=tuple(tokens))


def _seconds(session: Session, ids: Sequence[int]) -> float:
    started = time.perf_counter()
    session.evaluate(ids)
    session.logits()  # a device that works on its own has finished once they are here
    return time.perf_counter() - started
