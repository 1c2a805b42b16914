"""One turn, from ask to answer: the story that the other files of this room are chapters of."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from goliath_local.errors import RunCancelled
from goliath_local.extensions import Decided, OnError, OnFinish, Raised, Returned, copied
from goliath_local.harness import answer, conductor, journal, judge
from goliath_local.harness.act import one_step
from goliath_local.harness.begin import begin
from goliath_local.harness.escalate import escalate
from goliath_local.harness.finish import finish, stopped
from goliath_local.harness.outcome import Escalation, Final, Planned
from goliath_local.records import Reason

if TYPE_CHECKING:
    from goliath_local.extensions import Origin
    from goliath_local.harness.outcome import Ending
    from goliath_local.harness.result import RunResult
    from goliath_local.harness.state import Turn


async def run_turn(turn: Turn) -> RunResult:
    """Return the result of the turn, or raise what ended it; observers hear of it either way."""
    try:
        result = await _from_ask_to_answer(turn)
        await journal.take_back(turn)
    except (Exception, asyncio.CancelledError) as error:
        await journal.take_back(turn)
        await tell_failure(turn, error)
        raise
    return await _tell_result(turn, result)


async def _from_ask_to_answer(turn: Turn) -> RunResult:
    ending = await begin(turn) or await _steps(turn)
    if isinstance(ending, Escalation):
        ending = await escalate(turn, ending)
    result = await finish(turn, ending) if isinstance(ending, Final) else ending
    if isinstance(result, Decided):
        result = stopped(turn, result)
    return result


async def _steps(turn: Turn) -> Ending:
    while True:
        turn.cancel.raise_if_cancelled()
        stuck = judge.too_many_steps(turn.steps, turn.settings.max_steps)
        if stuck:
            return stuck
        planned = await conductor.plan(turn)
        if not isinstance(planned, Planned):
            return planned
        ending = await _carry_out(turn, planned)
        if ending is not None:
            return ending


async def _carry_out(turn: Turn, planned: Planned) -> Ending | None:
    match planned.plan.kind:
        case "escalate":
            return Escalation(reason=Reason.CONDUCTOR_ASKED)
        case "answer":
            return await answer.close(turn, planned.plan)
        case "tool":
            return await one_step(turn, planned)
        case kind:
            assert_never(kind)


async def tell_failure(turn: Turn, error: BaseException) -> None:
    """Tell the observers that the run ended in an error, or was cancelled."""
    origin = _origin(turn, error)
    aborted = isinstance(error, RunCancelled | asyncio.CancelledError)
    outcome = Raised(
        status="aborted" if aborted else "error",
        error=error,
        origin=origin,
        steps=turn.shown_steps(),
        trace=tuple(copy.deepcopy(turn.trace)),
    )
    diagnostics = await turn.chain.on_error(
        lambda run: OnError(
            run=run,
            error=error,
            origin=origin,
            steps=turn.shown_steps(),
            trace=tuple(copy.deepcopy(turn.trace)),
        )
    )
    await turn.chain.on_finish(
        lambda run, seen: OnFinish(run=run, outcome=outcome, diagnostics=(*diagnostics, *seen))
    )


async def _tell_result(turn: Turn, result: RunResult) -> RunResult:
    def shown() -> Returned:
        mine = replace(
            result,
            output=copied(result.output),
            steps=copied(result.steps),
            trace=tuple(copy.deepcopy(result.trace)),
        )
        return Returned(status="stopped" if result.stopped else "completed", result=mine)

    diagnostics = await turn.chain.on_finish(
        lambda run, seen: OnFinish(run=run, outcome=shown(), diagnostics=seen)
    )
    return replace(result, diagnostics=diagnostics)


def _origin(turn: Turn, error: BaseException) -> Origin:
    if turn.blamed is not None and turn.blamed[0] is error:
        return turn.blamed[1]
    return "harness"
