"""Is the loop stuck? Plain rules over the step records, no model.

Pure. Each rule returns the escalation that follows, or None.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.harness.outcome import Escalation
from goliath_local.records import Reason
from goliath_local.tools import canonical_equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goliath_local.model import Choice
    from goliath_local.records import Json, StepRecord, Want
    from goliath_local.tools import Tool

_SEVERAL = re.compile(r"(?i)\b(and|then|also|und|dann|et|puis|y|e|luego|और|फिर)\b|[;&和跟还]")
"""What stands between two wishes, in the languages of the evals; an ask without it has one."""

_CONDITION = re.compile(
    r"(?i)\b(if|unless|in case|wenn|falls|sofern|si|sauf si|s'il|agar)\b|अगर|यदि|如果|要是|除非"
)
"""What makes a wish depend on something, in the languages of the evals."""

_FINISH_SHARE = 0.8
"""From this share of the steps on, the conductor is told to finish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedFrom:
    """An earlier step already answered this read."""

    step: StepRecord


def too_many_steps(steps: Sequence[StepRecord], max_steps: int) -> Escalation | None:
    """The cap is reached without an answer."""
    if len(steps) < max_steps:
        return None
    return Escalation(reason=Reason.TOO_MANY_STEPS)


def should_finish(used: int, max_steps: int) -> bool:
    """Return whether the conductor is told to finish; also with caps of 1 to 4."""
    return used >= min(math.ceil(_FINISH_SHARE * max_steps), max_steps - 1)


def low_confidence(confidence: float | None, least: float | None) -> Escalation | None:
    """The plan's least certain choice is below what the application wants."""
    if least is None or confidence is None or confidence >= least:
        return None
    error = f"The plan's least certain choice has a share of {confidence:.2f}, below {least:.2f}."
    return Escalation(reason=Reason.LOW_CONFIDENCE, error=error)


def confidence(choices: Iterable[Choice]) -> float | None:
    """Return the smallest share among the choices, None when the model gave none."""
    return min((choice.share for choice in choices), default=None)


def unmet(tool: Tool, steps: Iterable[StepRecord]) -> tuple[str, ...]:
    """Return the prerequisites that no step of this turn has fulfilled; a cached step does."""
    done = {step.tool for step in steps if not (step.failed or step.skipped)}
    return tuple(name for name in tool.requires if name not in done)


def missing_prerequisite(tool: Tool, steps: Iterable[StepRecord]) -> Escalation | None:
    """The tool was planned before a tool that it needs."""
    names = unmet(tool, steps)
    if not names:
        return None
    error = f"{tool.name} was planned before {', '.join(names)} had succeeded."
    return Escalation(reason=Reason.TOOL_PREREQUISITE_MISSING, error=error)


def repeated_call(
    tool: Tool, arguments: Json, steps: Sequence[StepRecord]
) -> CachedFrom | Escalation | None:
    """The same call again: a read is answered once from its earlier step, then it is a loop."""
    earlier = _latest_equal(tool.name, arguments, steps)
    if earlier is None or not (tool.writes or tool.idempotent):
        return None
    error = f"{tool.name} was called again with the arguments of step {earlier.index + 1}."
    escalation = Escalation(reason=Reason.REPEATED_TOOL_CALL, error=error)
    if tool.writes:
        return escalation
    if is_stale(earlier, steps):
        return None
    if earlier.status == "completed":
        return CachedFrom(step=earlier)
    return escalation


def is_stale(read: StepRecord, steps: Iterable[StepRecord]) -> bool:
    """Return whether a write, even a failed one, was attempted after the read."""
    return any(s.writes and not s.skipped and s.index > read.index for s in steps)


def two_failures(steps: Sequence[StepRecord]) -> Escalation | None:
    """This step and the one directly before it both failed."""
    if len(steps) < 2 or not (steps[-1].failed and steps[-2].failed):
        return None
    return Escalation(reason=Reason.TOOL_ERROR, error=steps[-1].result)


def worth_offering(
    names: Sequence[str],
    tools: Mapping[str, Tool],
    steps: Sequence[StepRecord],
    *,
    ask: str,
    want: Want | None = None,
) -> tuple[str, ...]:
    """Return the tools that can help now, in menu order.

    Left out are tools with an unmet prerequisite and parameterless reads that are done and not
    stale. Once a change is made, an ask that holds one wish is done: then none can help. Only
    the enum of a constrained reply is narrowed by this: a plan that names one of them
    nevertheless meets the rules above.
    """
    is_done = any(step.writes and step.status == "completed" for step in steps)
    if is_done and (want == "change-if" or not _SEVERAL.search(ask)):
        return ()
    useful = (name for name in names if _can_help(tools[name], steps))
    return tuple(name for name in useful if want != "question" or not tools[name].writes)


def is_conditional(ask: str) -> bool:
    """Return whether the ask says that something has to hold first."""
    return _CONDITION.search(ask) is not None


def original_of(cached: StepRecord, steps: Iterable[StepRecord]) -> StepRecord | None:
    """Return the step that a cached one points to."""
    completed = [s for s in steps if s.status == "completed" and s.index < cached.index]
    return _latest_equal(cached.tool, cached.input, completed)


def _can_help(tool: Tool, steps: Sequence[StepRecord]) -> bool:
    if unmet(tool, steps) or _was_answered_again(tool, steps) or _lacks_a_value(tool, steps):
        return False
    if tool.writes or not tool.idempotent or tool.parameters.properties:
        return True
    return not any(
        step.tool == tool.name
        and step.status in {"completed", "cached"}
        and not is_stale(step, steps)
        for step in steps
    )


def _was_answered_again(tool: Tool, steps: Sequence[StepRecord]) -> bool:
    """Return whether the same read was asked for a second time: a third would end the turn."""
    return any(
        step.tool == tool.name and step.status == "cached" and not is_stale(step, steps)
        for step in steps
    )


def _lacks_a_value(tool: Tool, steps: Sequence[StepRecord]) -> bool:
    """Return whether the last step was a call of this tool that could not be filled in."""
    return bool(steps) and steps[-1].tool == tool.name and steps[-1].skip_reason == "missing"


def _latest_equal(
    name: str | None, arguments: Json, steps: Sequence[StepRecord]
) -> StepRecord | None:
    for step in reversed(steps):
        is_same_tool = step.kind == "tool" and step.tool == name
        if is_same_tool and step.input is not None and canonical_equal(step.input, arguments):
            return step
    return None
