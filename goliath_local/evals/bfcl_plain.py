"""Plays function-calling cases with one plain prompt: what the stages may not fall behind.

Edge: asks the model once a case. All tools stand in the prompt, the reply is one JSON object
under one schema: a call, an answer, or a hand-over. The last two are no call.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ModelError, SchemaError
from goliath_local.evals.bfcl import call_problems
from goliath_local.evals.bfcl_run import bfcl_fault, bfcl_tools
from goliath_local.evals.plain_forms import JsonForm
from goliath_local.evals.report import Attempt, FixtureReport
from goliath_local.evals.scene import misfits
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict
from goliath_local.records import StepRecord

if TYPE_CHECKING:
    from goliath_local.evals.bfcl import BfclCase
    from goliath_local.evals.plain_forms import Said
    from goliath_local.model import Model


async def run_bfcl_plain(model: Model, case: BfclCase) -> FixtureReport:
    """Return how one case went."""
    form, tools = JsonForm(), bfcl_tools(case)
    start = time.perf_counter()
    tokens = 0
    try:
        reply = await model.generate(form.request(tools, {}, history=(), user=case.ask))
        tokens = reply.usage.evaluated_tokens
        attempt = _judged(case, form.read(reply))
    except (ModelError, SchemaError) as error:
        problem = Problem(fault=Fault.ERROR, text=f"{type(error).__name__}: {error}")
        attempt = {"outcomes": (), "problems": (problem,), "verdict": Verdict.ERROR}
    ms = (time.perf_counter() - start) * 1000
    return FixtureReport(
        id=case.id,
        kind=case.kind,
        attempts=(Attempt(run=1, ms=ms, evaluated_tokens=tokens, **attempt),),
    )


def _judged(case: BfclCase, said: Said) -> dict[str, Any]:
    calls = [(wish.tool, wish.arguments) for wish in said.calls]
    fault = bfcl_fault(case, calls)
    problems = tuple(Problem(fault=fault, text=text) for text in call_problems(case, calls))
    outcome = TurnOutcome(
        text=said.answer,
        handled_by="cloud" if said.hands_over else "device",
        steps=tuple(
            StepRecord(index=n, kind="tool", brief="", tool=tool, input=dict(args))
            for n, (tool, args) in enumerate(calls)
        ),
    )
    wrong = Verdict.GAVE_UP if said.hands_over else Verdict.WRONG_BUT_CONFIDENT
    by_name = {tool.name: tool for tool in case.tools}
    return {
        "outcomes": (outcome,),
        "problems": problems,
        "verdict": wrong if problems else Verdict.RIGHT_ON_DEVICE,
        "invalid_calls": tuple(
            f"{name}{misfit}"
            for name, args in calls
            for misfit in misfits(by_name[name].parameters, args)
        ),
    }
