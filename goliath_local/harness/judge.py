"""Is the loop stuck? Plain rules over the step records, no model.

Pure. Each rule returns the escalation that follows, or None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.harness.outcome import Escalation
from goliath_local.prompts import entry_count
from goliath_local.records import Reason
from goliath_local.tools import canonical_equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goliath_local.model import Choice
    from goliath_local.records import Json, StepRecord
    from goliath_local.tools import Tool

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


def low_confidence(share: float | None, least: float | None) -> Escalation | None:
    """The plan's least certain choice is below what the application wants."""
    if least is None or share is None or share >= least:
        return None
    error = f"The plan's least certain choice has a share of {share:.2f}, below {least:.2f}."
    return Escalation(reason=Reason.LOW_CONFIDENCE, error=error)


def likely_wrong(chance: float | None, least: float | None) -> Escalation | None:
    """The turn is about to be answered, with less than the chance that the application wants."""
    if least is None or chance is None or chance >= least:
        return None
    error = f"The chance that this turn is right is put at {chance:.2f}, below {least:.2f}."
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


def failed_before(tool: Tool, arguments: Json, steps: Sequence[StepRecord]) -> StepRecord | None:
    """Return the step in which this very call failed, None when it did not."""
    earlier = _latest_equal(tool.name, arguments, steps)
    return earlier if earlier is not None and earlier.failed else None


def fruitless_before(
    tool: Tool, arguments: Json, steps: Sequence[StepRecord]
) -> StepRecord | None:
    """Return the step in which this very lookup found nothing, None when it was not made."""
    earlier = _latest_equal(tool.name, arguments, steps)
    if earlier is None or is_stale(earlier, steps):
        return None
    return earlier if earlier.status == "completed" and found_nothing(earlier) else None


def found_nothing(step: StepRecord) -> bool:
    """Return whether the step is a lookup with an empty list for a result."""
    return not step.writes and entry_count(step.result or "") == 0


def is_stale(read: StepRecord, steps: Iterable[StepRecord]) -> bool:
    """Return whether a write, even a failed one, was attempted after the read."""
    return any(s.writes and not s.skipped and s.index > read.index for s in steps)


def two_failures(steps: Sequence[StepRecord]) -> Escalation | None:
    """This step and the one directly before it both failed."""
    if len(steps) < 2 or not (steps[-1].failed and steps[-2].failed):
        return None
    return Escalation(reason=Reason.TOOL_ERROR, error=steps[-1].result)


def original_of(cached: StepRecord, steps: Iterable[StepRecord]) -> StepRecord | None:
    """Return the step that a cached one points to."""
    completed = [s for s in steps if s.status == "completed" and s.index < cached.index]
    return _latest_equal(cached.tool, cached.input, completed)


def _latest_equal(
    name: str | None, arguments: Json, steps: Sequence[StepRecord]
) -> StepRecord | None:
    for step in reversed(steps):
        is_same_tool = step.kind == "tool" and step.tool == name
        if is_same_tool and step.input is not None and canonical_equal(step.input, arguments):
            return step
    return None
