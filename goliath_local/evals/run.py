"""Plays fixtures: a new agent, memory and store for every attempt.

Edge: drives the agent. What is right or wrong is decided in `score`.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.agent import create_agent
from goliath_local.confidence import turn_signals
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.evals.report import Attempt, FixtureReport, Report
from goliath_local.evals.scene import open_scene
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict, turn_problems, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goliath_local.agent import Agent
    from goliath_local.cancel import CancelToken
    from goliath_local.evals.fixture import ExpectedTurn, Fixture
    from goliath_local.harness import RunResult
    from goliath_local.model import Model
    from goliath_local.tools import Tool

HANDED_OVER = "Somebody else takes care of this."
"""What the default fallback answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """What every attempt of an eval shares."""

    options: Mapping[str, Any]
    toolsets: Mapping[str, Any]
    tools: Sequence[Tool] | None
    cancel: CancelToken | None


async def run_evals(
    model: Any,
    fixtures: Sequence[Fixture],
    *,
    runs: int = 1,
    toolsets: Mapping[str, Any] | None = None,
    tools: Sequence[Tool] | None = None,
    cancel: CancelToken | None = None,
    metadata: Mapping[str, Any] | None = None,
    on_attempt: Callable[[Fixture, Attempt], None] | None = None,
    **options: Any,
) -> Report:
    """Play every fixture `runs` times and report.

    Args:
        model: a model, or a callable `(fixture) -> model or factory`, called once an attempt.
        fixtures: what to play; those without a tool set run on the sample tools.
        runs: attempts of each fixture; real models need at least 3.
        toolsets: tool sets by name, for fixtures that name one.
        tools: an application's own, for fixtures that name no tool set; those that write only
            pretend to. Default: the sample tools.
        cancel: stops the whole eval.
        metadata: copied into the report.
        on_attempt: called after each attempt.
        **options: options of `create_agent`, for example `window`, `max_steps`, `fallback`.

    Raises:
        ConfigError: `runs` is not a positive integer, or a tool set is not there.
        RunCancelled: `cancel` was cancelled.
    """
    if type(runs) is not int or runs < 1:
        msg = f"runs is {runs!r}; it has to be a whole number, 1 or more."
        raise ConfigError(msg)
    setup = _Setup(
        options={"fallback": _hand_over} | options,
        toolsets={} if toolsets is None else toolsets,
        tools=tools,
        cancel=cancel,
    )
    reports = []
    for fixture in fixtures:
        attempts = []
        for run in range(1, runs + 1):
            attempt = await _attempt(model, fixture, run=run, setup=setup)
            attempts.append(attempt)
            if on_attempt is not None:
                on_attempt(fixture, attempt)
        reports.append(FixtureReport(id=fixture.id, kind=fixture.kind, attempts=tuple(attempts)))
    return Report(fixtures=tuple(reports), metadata=copy.deepcopy(dict(metadata or {})))


async def _attempt(model: Any, fixture: Fixture, *, run: int, setup: _Setup) -> Attempt:
    scene = open_scene(fixture, setup.toolsets, own=setup.tools)
    outcomes: list[TurnOutcome] = []
    problems: list[Problem] = []
    results: list[RunResult] = []
    start = time.perf_counter()
    try:
        agent = create_agent(
            model=_model_for(model, fixture),
            tools=scene.tools,
            facts=fixture.facts,
            confirm=_approve,
            **setup.options,
        )
        for number, turn in enumerate(fixture.turns):
            before = scene.state()
            result = await _ask(agent, turn, setup.cancel)
            results.append(result)
            outcome = _outcome(turn.ask, result)
            outcomes.append(replace(outcome, state_before=before, state_after=scene.state()))
            problems += [replace(p, turn=number) for p in turn_problems(turn, outcomes[-1])]
    except RunCancelled:
        raise
    except Exception as error:  # noqa: BLE001 - whatever an attempt raises is that attempt's fault
        problems = [
            Problem(fault=Fault.ERROR, text=f"{type(error).__name__}: {error}", turn=len(outcomes))
        ]
    return Attempt(
        run=run,
        outcomes=tuple(outcomes),
        problems=tuple(problems),
        verdict=verdict(fixture.turns, outcomes, problems) if problems else _right(outcomes),
        ms=(time.perf_counter() - start) * 1000,
        evaluated_tokens=sum(result.usage.evaluated_tokens for result in results),
        invalid_calls=tuple(scene.invalid),
    )


def _right(outcomes: Sequence[TurnOutcome]) -> Verdict:
    handed_over = any(outcome.handled_by == "cloud" for outcome in outcomes)
    return Verdict.RIGHT_HAND_OVER if handed_over else Verdict.RIGHT_ON_DEVICE


async def _ask(agent: Agent, turn: ExpectedTurn, cancel: CancelToken | None) -> RunResult:
    if cancel is not None:
        cancel.raise_if_cancelled()
    return await agent.run(turn.ask, cancel=cancel)


def _outcome(ask: str, result: RunResult) -> TurnOutcome:
    return TurnOutcome(
        text=result.text,
        handled_by=result.handled_by,
        steps=tuple(result.steps),
        reasons=tuple(e.reason.value for e in result.trace if e.type == "escalate"),
        best_effort=result.best_effort,
        is_cut=result.handled_by == "device" and result.finish_reason == "length",
        signals=turn_signals(ask, trace=result.trace, steps=result.steps),
    )


def _model_for(model: Any, fixture: Fixture) -> Model | Callable[[], Model]:
    if model is None or hasattr(model, "generate"):
        return model  # type: ignore[no-any-return]  # the harness checks what it is given
    return model(fixture)  # type: ignore[no-any-return]  # the caller's own callable


def _hand_over(_request: Any, **_more: Any) -> dict[str, str]:
    return {"text": HANDED_OVER}


def _approve(_request: Any) -> bool:
    return True
