"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goliath_local.model import Finish, Usage

if TYPE_CHECKING:
    from goliath_local.events import Event
    from goliath_local.records import Diagnostic, Place, Reason, StepRecord, Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One finished turn."""

    text: str
    """Final text; empty when nothing could be said."""

    output: Any = None
    """The validated structured answer of the device, if one was asked for and given."""

    handled_by: Place = "device"
    best_effort: bool = False
    """True when the answer was written after a stall without a fallback."""

    steps: tuple[StepRecord, ...] = ()
    trace: tuple[Event, ...] = ()
    stopped: Stopped | None = None
    """Which extension stopped the run, if one did."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """Failures of observer hooks."""

    confidence: float | None = None
    """Chance, 0 to 1, that the turn is right, by what was fitted for the model; None without."""

    reason: Reason | None = None
    """Why the turn left the normal path last, if it did."""

    usage: Usage = field(default_factory=Usage)
    """Sum over all model calls of the turn; `first_token_s` is that of the first call."""

    finish_reason: Finish = "stop"
    """How the last answer ended; `length` when it was cut."""

    seed: int | None = None
    run_id: str = ""
