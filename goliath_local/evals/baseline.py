"""Plays fixtures with the plain loop, scored by the same rules as the harness.

Edge: drives the loop.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goliath_local.errors import RunCancelled
from goliath_local.evals.plain_forms import JsonForm
from goliath_local.evals.plain_loop import PlainLoop
from goliath_local.evals.report import Attempt, FixtureReport, Report
from goliath_local.evals.scene import open_scene
from goliath_local.evals.score import Fault, Problem, TurnOutcome, turn_problems, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goliath_local.evals.fixture import Fixture
    from goliath_local.evals.plain_forms import Form
    from goliath_local.model import Model


async def run_baseline(
    model: Model,
    fixtures: Sequence[Fixture],
    *,
    runs: int = 1,
    toolsets: Mapping[str, Any],
    form: Form | None = None,
    on_attempt: Callable[[Fixture, Attempt], None] | None = None,
) -> Report:
    """Play the fixtures with the plain loop and report, as `run_evals` does for the harness.

    Args:
        model: any model.
        fixtures: what to play.
        runs: attempts of each.
        toolsets: tool sets by name.
        form: how tools are spoken of; default: one JSON object under a schema.
        on_attempt: called after each attempt.
    """
    form = form or JsonForm()
    reports = []
    for fixture in fixtures:
        attempts = []
        for run in range(1, runs + 1):
            attempts.append(await _attempt(model, fixture, form, run=run, toolsets=toolsets))
            if on_attempt is not None:
                on_attempt(fixture, attempts[-1])
        reports.append(FixtureReport(id=fixture.id, kind=fixture.kind, attempts=tuple(attempts)))
    return Report(fixtures=tuple(reports))


async def _attempt(
    model: Model, fixture: Fixture, form: Form, *, run: int, toolsets: Mapping[str, Any]
) -> Attempt:
    scene = open_scene(fixture, toolsets)
    loop = PlainLoop(model=model, tools=scene.tools, facts=fixture.facts or {}, form=form)
    outcomes: list[TurnOutcome] = []
    problems: list[Problem] = []
    start = time.perf_counter()
    try:
        for number, turn in enumerate(fixture.turns):
            before = scene.state()
            outcome, loop = await loop.run(turn.ask)
            outcomes.append(replace(outcome, state_before=before, state_after=scene.state()))
            problems += [replace(p, turn=number) for p in turn_problems(turn, outcomes[-1])]
    except RunCancelled:
        raise
    except Exception as error:  # noqa: BLE001 - whatever an attempt raises is that attempt's fault
        text = f"{type(error).__name__}: {error}"
        problems = [Problem(fault=Fault.ERROR, text=text, turn=len(outcomes))]
    return Attempt(
        run=run,
        outcomes=tuple(outcomes),
        problems=tuple(problems),
        verdict=verdict(fixture.turns, outcomes, problems),
        ms=(time.perf_counter() - start) * 1000,
        evaluated_tokens=loop.evaluated_tokens,
        invalid_calls=tuple(scene.invalid),
    )
