"""One tool call on its way: what is known of it, and its record.

Pure, but for the turn's list of records, which a call keeps up to date.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.extensions import Cached, Executed, Failed, Skipped, copied
from goliath_local.harness.generate import loop_safe_count
from goliath_local.records import StepRecord, to_json
from goliath_local.tools import NotJson, ResultBudget, ToolContext, json_copy

if TYPE_CHECKING:
    from goliath_local.extensions import ToolOutcome
    from goliath_local.harness.outcome import Planned
    from goliath_local.harness.state import Turn
    from goliath_local.records import Json, Plan
    from goliath_local.tools import Tool


@dataclass(slots=True, kw_only=True)
class Call:
    """One call; settled once it has an outcome."""

    tool: Tool
    plan: Plan
    context: ToolContext
    """What the tool may know; taken before the worker is asked."""

    record: StepRecord
    started_at: float
    arguments: Any = None
    """Validated, and never handed out itself."""

    outcome: ToolOutcome | None = None
    result: str = ""

    @property
    def is_settled(self) -> bool:
        """True when nothing is left to run."""
        return self.outcome is not None

    def take(self, arguments: Any) -> None:
        """Go on with these arguments."""
        self.arguments = arguments
        self.record = replace(self.record, input=_json_or_none(arguments))

    def shown(self) -> Json:
        """Return a copy of the arguments as JSON; what has no JSON form is copied as it is."""
        found = _json_or_none(self.arguments)
        return copied(self.arguments) if found is None else found

    def skip(self, outcome: Skipped, result: str) -> None:
        """Settle it: nothing runs, for this reason."""
        self.outcome, self.result = outcome, result
        self.record = replace(
            self.record, skipped=True, skip_reason=outcome.reason, extension=outcome.extension
        )

    def cache(self, earlier: StepRecord, result: str) -> None:
        """Settle it: the earlier step has answered it."""
        self.outcome, self.result = Cached(from_step=earlier.index), result
        self.record = replace(
            self.record,
            cached=True,
            output=copied(earlier.output),
            has_output=earlier.has_output,
        )

    def fail(self, error: BaseException, result: str) -> None:
        """Settle it: the tool raised."""
        self.outcome, self.result = Failed(error=error), result
        self.record = replace(self.record, failed=True)

    def succeed(self, output: Any) -> None:
        """Settle it: the tool returned; an output without a JSON form is not recorded."""
        self.outcome = Executed(output=output)
        try:
            self.record = replace(self.record, output=json_copy(output), has_output=True)
        except NotJson:
            return

    def note(self, turn: Turn, result: str) -> None:
        """Put the step on record as it stands, so that it survives whatever comes next."""
        self.record = replace(self.record, result=result)
        if len(turn.steps) == self.record.index:
            turn.steps.append(self.record)
        else:
            turn.steps[self.record.index] = self.record


def open_call(turn: Turn, tool: Tool, planned: Planned) -> Call:
    """Return the call that the plan asks for, before it has arguments."""
    plan = planned.plan
    record = StepRecord(
        index=len(turn.steps),
        kind="tool",
        brief=plan.brief,
        tool=tool.name,
        output_mode=tool.output_mode,
        writes=tool.writes,
        confidence=planned.confidence,
    )
    return Call(
        tool=tool,
        plan=plan,
        context=_context(turn),
        record=record,
        started_at=turn.settings.clock(),
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


def _json_or_none(value: Any) -> Json:
    try:
        return json_copy(value)
    except NotJson:
        return None
