"""One tool step, from a plan to a finished record.

Edge, by way of `tools` and `confirm`. The order is fixed: arguments, `before_tool`, resolving,
looking for the same call earlier, asking, running. Whatever settles the outcome early lets the
rest pass by.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

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
    Failed,
    Skipped,
    copied,
    patch_input,
    patch_result,
)
from goliath_local.harness import confirm, judge, worker
from goliath_local.harness.failures import model_error
from goliath_local.harness.generate import counted, loop_safe_count
from goliath_local.harness.outcome import Escalation
from goliath_local.prompts import render
from goliath_local.records import Reason, StepRecord, to_json
from goliath_local.tools import (
    NotJson,
    ResultBudget,
    ToolContext,
    call_tool,
    cap_result,
    check_arguments,
    format_result,
    json_copy,
    resolve_input,
)

if TYPE_CHECKING:
    from goliath_local.extensions import ToolOutcome
    from goliath_local.harness.outcome import Planned
    from goliath_local.harness.state import Turn
    from goliath_local.records import Json, Plan
    from goliath_local.tools import Tool


@dataclass(slots=True, kw_only=True)
class Call:
    """One call on its way; settled once it has an outcome."""

    tool: Tool
    plan: Plan
    context: ToolContext
    record: StepRecord
    """What is known of the step so far."""

    started_at: float
    arguments: Any = None
    """Validated, never handed out itself."""

    outcome: ToolOutcome | None = None
    result: str = ""


async def one_step(turn: Turn, planned: Planned) -> Escalation | Decided | None:
    """Carry out the plan; return what ends the turn, None when it goes on."""
    plan = planned.plan
    tool = turn.settings.tools[plan.tool or ""]
    unmet = judge.missing_prerequisite(tool, turn.steps)
    if unmet:
        return unmet
    call = Call(
        tool=tool,
        plan=plan,
        context=_context(turn),
        record=_first_record(turn, tool, planned),
        started_at=turn.settings.clock(),
    )
    for stage in (_fill, _before_tool, _resolve, _look_back, _ask, _run):
        ending = await stage(turn, call)
        if ending is not None:
            return ending
    return await _finish(turn, call) or judge.two_failures(turn.steps)


async def _fill(turn: Turn, call: Call) -> Escalation | None:
    found = await worker.fill(turn, call.tool, call.plan)
    if isinstance(found, Escalation):
        return found
    _take(call, found.value)
    if isinstance(found, worker.Missing):
        names = clip(found.names, MISSING_CHARACTERS)
        _skip(call, Skipped(reason="missing"), render("results.missing", names=names))
    return None


async def _before_tool(turn: Turn, call: Call) -> Decided | None:
    if call.outcome is not None:
        return None
    found = await turn.fold(
        "before_tool",
        call.arguments,
        show=lambda run, value: BeforeTool(
            run=run,
            tool=turn.tool_infos((call.tool.name,))[0],
            input=_shown(value),
            brief=call.plan.brief,
            steps=turn.shown_steps(),
        ),
        patch=patch_input(lambda value: check_arguments(call.tool, copied(value))),
    )
    if not isinstance(found, Decided):
        _take(call, found)
        return None
    if not isinstance(found.decision, Deny):
        return found
    reason = clip(found.decision.reason, ERROR_CHARACTERS)
    text = render("results.denied", extension=found.extension, reason=reason)
    _skip(call, Skipped(reason="policy", extension=found.extension), text)
    return None


async def _resolve(turn: Turn, call: Call) -> Escalation | None:
    if call.outcome is not None or call.tool.resolve_input is None:
        return None
    with turn.blame("tool"):
        resolved = await resolve_input(call.tool, call.arguments, call.context)
    if resolved.failed:
        return Escalation(reason=Reason.TOOL_ARGS_INVALID, error=resolved.message)
    try:
        _take(call, check_arguments(call.tool, resolved.output))
    except InvalidValue as error:
        return Escalation(reason=Reason.TOOL_ARGS_INVALID, error=str(error))
    return None


async def _look_back(turn: Turn, call: Call) -> Escalation | None:
    turn.cancel.raise_if_cancelled()
    if call.outcome is not None:
        return None
    found = judge.repeated_call(call.tool, _shown(call.arguments), turn.steps)
    if isinstance(found, judge.CachedFrom):
        earlier = found.step
        call.outcome = Cached(from_step=earlier.index)
        call.record = replace(
            call.record,
            cached=True,
            output=copied(earlier.output),
            has_output=earlier.has_output,
        )
        pointer = render("results.cached", number=earlier.index + 1)
        is_content = call.tool.output_mode == "content"
        call.result = (earlier.result or "") if is_content else pointer
        return None
    return found


async def _ask(turn: Turn, call: Call) -> None:
    if call.outcome is not None or not confirm.needs_yes(call.tool):
        return
    turn.cancel.raise_if_cancelled()
    said = await confirm.may_run(turn, call.tool, call.plan, _shown(call.arguments))
    if said.approved:
        return
    reason = f" ({clip(said.reason, ERROR_CHARACTERS)})" if said.reason else ""
    text = render("results.declined", reason=reason)
    _skip(call, Skipped(reason="confirmation"), text)


async def _run(turn: Turn, call: Call) -> None:
    turn.cancel.raise_if_cancelled()
    _note(turn, call, render("results.started"))
    if call.outcome is not None:
        return
    with turn.blame("tool"):
        done = await call_tool(call.tool, call.arguments, call.context)
    if done.error is not None:
        call.outcome = Failed(error=done.error)
        call.record = replace(call.record, failed=True)
        message = clip(done.message, ERROR_CHARACTERS)
        call.result = render("results.failed", message=message)
        return
    call.outcome = Executed(output=done.output)
    call.record = _with_output(call.record, done.output)
    _note(turn, call, render("results.ran"))
    turn.cancel.raise_if_cancelled()
    formatted = await format_result(
        call.tool,
        done.output,
        completed=render("results.unformatted"),
        cancel=turn.cancel,
    )
    call.result = formatted.text


async def _finish(turn: Turn, call: Call) -> Escalation | Decided | None:
    if call.outcome is None:
        message = "a tool step has to have an outcome by now"
        raise AssertionError(message)
    outcome = call.outcome
    _note(turn, call, call.result)
    found = await turn.fold(
        "after_tool",
        call.result,
        show=lambda run, text: AfterTool(
            run=run,
            tool=turn.tool_infos((call.tool.name,))[0],
            input=_shown(call.arguments),
            result=text,
            outcome=_outcome_copy(outcome),
            steps=turn.shown_steps()[:-1],
        ),
        patch=patch_result,
    )
    if isinstance(found, Decided):
        return found
    capped = await _capped(turn, call, found)
    if isinstance(capped, Escalation):
        return capped
    _note(turn, call, capped)
    is_cached = isinstance(outcome, Cached)
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


def _note(turn: Turn, call: Call, result: str) -> None:
    """Put the step on record as it stands, so that it survives whatever comes next."""
    call.record = replace(call.record, result=result)
    if len(turn.steps) == call.record.index:
        turn.steps.append(call.record)
    else:
        turn.steps[call.record.index] = call.record


def _take(call: Call, value: Any) -> None:
    call.arguments = value
    call.record = replace(call.record, input=_json_or_none(value))


def _skip(call: Call, outcome: Skipped, result: str) -> None:
    call.outcome, call.result = outcome, result
    call.record = replace(
        call.record, skipped=True, skip_reason=outcome.reason, extension=outcome.extension
    )


def _shown(value: Any) -> Json:
    """Return a copy of the arguments as JSON; what has no JSON form is copied as it is."""
    found = _json_or_none(value)
    return copied(value) if found is None else found


def _json_or_none(value: Any) -> Json:
    try:
        return json_copy(value)
    except NotJson:
        return None


def _with_output(record: StepRecord, output: Any) -> StepRecord:
    try:
        return replace(record, output=json_copy(output), has_output=True)
    except NotJson:
        return record


def _outcome_copy(outcome: ToolOutcome) -> ToolOutcome:
    if isinstance(outcome, Executed):
        return Executed(output=copied(outcome.output))
    return outcome


def _first_record(turn: Turn, tool: Tool, planned: Planned) -> StepRecord:
    return StepRecord(
        index=len(turn.steps),
        kind="tool",
        brief=planned.plan.brief,
        tool=tool.name,
        output_mode=tool.output_mode,
        writes=tool.writes,
        confidence=planned.confidence,
    )


def _context(turn: Turn) -> ToolContext:
    return ToolContext(
        conversation_id=turn.options.conversation_id,
        context=turn.options.context,
        cancel=turn.cancel,
        result_budget=ResultBudget(
            max_tokens=turn.budgets.tool_result_tokens,
            count_tokens=loop_safe_count(turn),
        ),
        steps=tuple(to_json(step) for step in turn.shown_steps()),
        recent=tuple(to_json(exchange) for exchange in copied(turn.view.recent)),
    )
