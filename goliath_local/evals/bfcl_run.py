"""Plays function-calling cases through conductor and worker.

Edge: drives the agent. The tools only note that they were called, and the turn is over after
the first call: what the answer says is not judged here.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.agent import create_agent
from goliath_local.confidence import turn_signals
from goliath_local.evals.bfcl import call_problems
from goliath_local.evals.report import Attempt, FixtureReport
from goliath_local.evals.scene import misfits
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict
from goliath_local.extensions import Extension, Stop
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.evals.bfcl import BfclCase, BfclTool
    from goliath_local.harness import RunResult
    from goliath_local.model import Model
    from goliath_local.tools import Tool

_OVER = "noted"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noted:
    """A call that the agent was about to make."""

    tool: str
    args: Mapping[str, Any]


async def run_bfcl(model: Model, case: BfclCase, **options: Any) -> FixtureReport:
    """Return how one case went; a call that was about to run counts as made."""
    calls: list[_Noted] = []

    def note(data: Any) -> Stop:
        calls.append(_Noted(tool=data.tool.name, args=data.input))
        return Stop(text=_OVER, reason="the call is known")

    def enough(data: Any) -> Stop | None:
        return None if data.plan.kind == "tool" else Stop(text=_OVER, reason="no call is wanted")

    agent = create_agent(
        model=model,
        tools=bfcl_tools(case),
        confirm=lambda _request: True,
        fallback=lambda _request, **_more: {"text": "handed over"},
        extensions=[Extension(name="note", after_plan=enough, before_tool=note)],
        **options,
    )
    start = time.perf_counter()
    result: RunResult | None = None
    try:
        result = await agent.run(case.ask)
        problems = _problems(case, calls, result)
    except Exception as error:  # noqa: BLE001 - a case that raises is that case's fault
        problems = [Problem(fault=Fault.ERROR, text=f"{type(error).__name__}: {error}")]
    return FixtureReport(
        id=case.id,
        kind=case.kind,
        attempts=(
            replace(
                _attempt(case.ask, result, problems, ms=(time.perf_counter() - start) * 1000),
                invalid_calls=_invalid(case, calls),
            ),
        ),
    )


def bfcl_tools(case: BfclCase) -> list[Tool]:
    """Return the case's tools; they do nothing."""
    return [_tool(tool) for tool in case.tools]


def bfcl_fault(case: BfclCase, made: Sequence[tuple[str, Mapping[str, Any]]]) -> Fault:
    """Return what kind of wrong these calls are, if they are wrong."""
    if case.is_irrelevance:
        return Fault.NEEDLESS_CALL
    names = {tool.name: tool.original_name for tool in case.tools}
    is_right_tool = len(made) == 1 and names[made[0][0]] in case.answer[0]
    return Fault.ARGUMENT if is_right_tool else Fault.WRONG_CALL


def _problems(case: BfclCase, calls: Sequence[_Noted], result: RunResult) -> list[Problem]:
    made = [(call.tool, call.args) for call in calls]
    fault = bfcl_fault(case, made)
    skipped = [step.tool for step in result.steps if step.skip_reason == "missing"]
    if skipped and not made and not case.is_irrelevance:
        return [Problem(fault=Fault.ARGUMENT, text=f"{skipped[0]} was skipped: a value missing")]
    detail = json.dumps(made, ensure_ascii=False)[:200] if made else ""
    return [
        Problem(fault=fault, text=f"{text} {detail}".strip()) for text in call_problems(case, made)
    ]


def _invalid(case: BfclCase, calls: Sequence[_Noted]) -> tuple[str, ...]:
    schemas = {tool.name: tool.parameters for tool in case.tools}
    return tuple(
        f"{call.tool}{misfit}"
        for call in calls
        for misfit in misfits(schemas[call.tool], call.args)
    )


def _attempt(
    ask: str, result: RunResult | None, problems: Sequence[Problem], *, ms: float
) -> Attempt:
    if result is None:
        return Attempt(run=1, outcomes=(), problems=tuple(problems), verdict=Verdict.ERROR, ms=ms)
    outcome = TurnOutcome(
        text=result.text,
        handled_by=result.handled_by,
        steps=tuple(result.steps),
        reasons=tuple(e.reason.value for e in result.trace if e.type == "escalate"),
        signals=turn_signals(ask, trace=result.trace, steps=result.steps),
    )
    wrong = Verdict.GAVE_UP if result.handled_by == "cloud" else Verdict.WRONG_BUT_CONFIDENT
    return Attempt(
        run=1,
        outcomes=(outcome,),
        problems=tuple(problems),
        verdict=wrong if problems else Verdict.RIGHT_ON_DEVICE,
        ms=ms,
        evaluated_tokens=result.usage.evaluated_tokens,
    )


def _tool(tool: BfclTool) -> Tool:
    return define_tool(
        name=tool.name,
        description=tool.description,
        parameters=dict(tool.parameters),
        execute=lambda _args, _context: _OVER,
    )
