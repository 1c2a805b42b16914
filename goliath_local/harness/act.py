"""One tool step, from a plan to a finished record.

Edge, by way of `tools` and `confirm`. The order is fixed: arguments, `before_tool`, resolving,
looking for the same call earlier, asking, running. Whatever settles the call early lets the rest
pass by.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from goliath_local.budget import ERROR_CHARACTERS, MISSING_CHARACTERS, clip
from goliath_local.errors import InvalidValue, ModelError
from goliath_local.events import ToolEvent
from goliath_local.extensions import (
    AfterTool,
    BeforeTool,
    Cached,
    Decided,
    Deny,
    Executed,
    Skipped,
    copied,
    patch_input,
    patch_result,
)
from goliath_local.harness import confirm, journal, judge, parts, worker
from goliath_local.harness.ambiguous import fits_several, names_of
from goliath_local.harness.call import open_call
from goliath_local.harness.failures import model_error
from goliath_local.harness.generate import counted
from goliath_local.harness.outcome import Escalation
from goliath_local.prompts import render
from goliath_local.records import Reason
from goliath_local.tools import (
    ResultBudget,
    call_tool,
    cap_result,
    check_arguments,
    format_result,
    resolve_input,
)

if TYPE_CHECKING:
    from goliath_local.extensions import ToolOutcome
    from goliath_local.harness.call import Call
    from goliath_local.harness.outcome import Planned
    from goliath_local.harness.state import Turn


async def one_step(turn: Turn, planned: Planned) -> Escalation | Decided | None:
    """Carry out the plan; return what ends the turn, None when it goes on."""
    tool = turn.settings.tools[planned.plan.tool or ""]
    unmet = judge.missing_prerequisite(tool, turn.steps)
    if unmet:
        return unmet
    call = open_call(turn, tool, planned)
    for stage in (_fill, _before_tool, _resolve, _look_back, _ask, _run, _record):
        ending = await stage(turn, call)
        if ending is not None:
            return ending
    return judge.two_failures(turn.steps)


async def _fill(turn: Turn, call: Call) -> Escalation | None:
    turn.alike = ()
    found = await worker.fill(turn, call.tool, call.plan)
    if isinstance(found, Escalation):
        return found
    call.take(found.value)
    if isinstance(found, worker.Missing):
        names = clip(found.names, MISSING_CHARACTERS)
        call.skip(Skipped(reason="missing"), render("results.missing", names=names))
    elif call.tool.writes and parts.is_constrained(turn):
        entries = fits_several(call.record.input, turn.steps, ask=turn.ask)
        if entries:
            turn.alike = names_of(entries)
            text = render("results.several", entries="; ".join(entries))
            call.skip(Skipped(reason="missing"), text)
    return None


async def _before_tool(turn: Turn, call: Call) -> Decided | None:
    if call.is_settled:
        return None

    def read(value: object) -> object:
        # The hook may keep what it returned and change it later.
        call.take(check_arguments(call.tool, copied(value)))
        return call.arguments

    found = await turn.fold(
        "before_tool",
        call.arguments,
        show=lambda run, _: BeforeTool(
            run=run,
            tool=turn.tool_infos((call.tool.name,))[0],
            input=call.shown(),
            brief=call.plan.brief,
            steps=turn.shown_steps(),
        ),
        patch=patch_input(read),
    )
    if not isinstance(found, Decided):
        return None
    if not isinstance(found.decision, Deny):
        return found
    reason = clip(found.decision.reason, ERROR_CHARACTERS)
    text = render("results.denied", extension=found.extension, reason=reason)
    call.skip(Skipped(reason="policy", extension=found.extension), text)
    return None


async def _resolve(turn: Turn, call: Call) -> Escalation | None:
    if call.is_settled or call.tool.resolve_input is None:
        return None
    with turn.blame("tool"):
        resolved = await resolve_input(call.tool, call.arguments, call.context)
    if resolved.failed:
        return Escalation(reason=Reason.TOOL_ARGS_INVALID, error=resolved.message)
    try:
        call.take(check_arguments(call.tool, resolved.output))
    except InvalidValue as error:
        return Escalation(reason=Reason.TOOL_ARGS_INVALID, error=str(error))
    return None


async def _look_back(turn: Turn, call: Call) -> Escalation | None:
    turn.cancel.raise_if_cancelled()
    if call.is_settled:
        return None
    found = judge.repeated_call(call.tool, call.shown(), turn.steps)
    if not isinstance(found, judge.CachedFrom):
        return found
    earlier = found.step
    pointer = render("results.cached", number=earlier.index + 1)
    is_content = call.tool.output_mode == "content"
    call.cache(earlier, (earlier.result or "") if is_content else pointer)
    return None


async def _ask(turn: Turn, call: Call) -> None:
    if call.is_settled or not confirm.needs_yes(call.tool):
        return
    turn.cancel.raise_if_cancelled()
    said = await confirm.may_run(turn, call.tool, call.plan, call.shown())
    if said.approved:
        return
    reason = f" ({clip(said.reason, ERROR_CHARACTERS)})" if said.reason else ""
    call.skip(Skipped(reason="confirmation"), render("results.declined", reason=reason))


async def _run(turn: Turn, call: Call) -> None:
    turn.cancel.raise_if_cancelled()
    if call.is_settled:
        return
    call.note(turn, render("results.started"))
    await journal.note_call(turn)
    turn.cancel.raise_if_cancelled()
    with turn.blame("tool"):
        done = await call_tool(call.tool, call.arguments, call.context)
    if done.error is not None:
        message = clip(done.message, ERROR_CHARACTERS).rstrip(".")
        call.fail(done.error, render("results.failed", message=message))
        return
    call.succeed(done.output)
    call.note(turn, render("results.ran"))
    turn.cancel.raise_if_cancelled()
    formatted = await format_result(
        call.tool,
        done.output,
        completed=render("results.unformatted"),
        cancel=turn.cancel,
    )
    call.result = formatted.text


async def _record(turn: Turn, call: Call) -> Escalation | Decided | None:
    call.note(turn, call.result)
    result = await turn.fold(
        "after_tool",
        call.result,
        show=lambda run, text: AfterTool(
            run=run,
            tool=turn.tool_infos((call.tool.name,))[0],
            input=call.shown(),
            result=text,
            outcome=_outcome(call),
            steps=turn.shown_steps()[:-1],
        ),
        patch=patch_result,
    )
    if isinstance(result, Decided):
        return result
    capped = await _capped(turn, call, result)
    if isinstance(capped, Escalation):
        return capped
    call.note(turn, capped)
    is_cached = isinstance(call.outcome, Cached)
    await turn.emit(
        ToolEvent(
            tool=call.tool.name,
            input=copied(call.record.input),
            result=capped,
            ms=0 if is_cached else turn.milliseconds_since(call.started_at),
            status=call.record.status,
        )
    )
    return None


async def _capped(turn: Turn, call: Call, text: str) -> str | Escalation:
    budget = ResultBudget(
        max_tokens=turn.budgets.tool_result_tokens, count_tokens=turn.counter.text
    )
    try:
        with turn.blame("config"):
            return await counted(turn, partial(cap_result, call.tool, text, budget))
    except ModelError as error:
        return model_error(error)


def _outcome(call: Call) -> ToolOutcome:
    if call.outcome is None:
        message = "a call has to be settled before it is recorded"
        raise AssertionError(message)
    if isinstance(call.outcome, Executed):
        return Executed(output=copied(call.outcome.output))
    return call.outcome
