"""Plays fixtures of the dev set on our engine and keeps what the harness asked.

Edge: drives the evals. Which fixtures is decided by rule, so that nobody picks: the one-turn
fixtures of the largest tool sets, evenly spaced, tool set after tool set, as one user has one
set of tools.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from bench.recorded import RecordedTurn, plain
from goliath_local.bench import Listener
from goliath_local.evals import run_evals
from goliath_local.evals.sets import read_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goliath_local.engine import LocalModel
    from goliath_local.evals import Fixture
    from goliath_local.evals.sets import EvalSet

TOOLSETS = 6


def choose_fixtures(dev: EvalSet, count: int) -> tuple[Fixture, ...]:
    """Return so many fixtures, evenly spaced over the largest tool sets."""
    single = [fixture for fixture in dev.fixtures if len(fixture.turns) == 1]
    sizes = Counter(fixture.toolset for fixture in single)
    largest = sorted(sizes, key=lambda name: (-sizes[name], name or ""))[:TOOLSETS]
    here = sorted(
        (fixture for fixture in single if fixture.toolset in largest),
        key=lambda fixture: largest.index(fixture.toolset),
    )
    if count >= len(here):
        return tuple(here)
    return tuple(here[at * len(here) // count] for at in range(count))


def record(model: LocalModel, fixtures: Sequence[Fixture], dev: EvalSet) -> Iterator[RecordedTurn]:
    """Yield each fixture's turn, played by the whole harness."""
    for fixture in fixtures:
        listener = Listener(model)
        report = asyncio.run(run_evals(listener, [fixture], toolsets=dev.toolsets))
        (attempt,) = report.attempts
        heard = listener.taken()
        yield RecordedTurn(
            fixture=fixture.id,
            steps=attempt.steps,
            requests=tuple(plain(one.request) for one in heard),
            replies=tuple(one.reply.text for one in heard),
            seconds=attempt.ms / 1000,
            evaluated_tokens=sum(one.reply.usage.evaluated_tokens for one in heard),
            completion_tokens=sum(one.reply.usage.completion_tokens for one in heard),
            prompt_s=sum(one.reply.usage.prefill_s for one in heard),
            decode_s=sum(one.reply.usage.decode_s for one in heard),
        )


def dev_set() -> EvalSet:
    """Return the dev set."""
    return read_set("dev")
