"""What a turn reports while it runs, one frozen class an event.

Pure. `type` is the event's name in JSON (`records.to_json` writes the rest); a handler gets
copies, so nothing it does to an event reaches the trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.model import Choice, Usage

if TYPE_CHECKING:
    from goliath_local.records import Json, PlanKind, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallEvent:
    """Memory was loaded, and hooks had their say."""

    summary: str
    recent: int
    """How many exchanges."""

    type: Literal["recall"] = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetEvent:
    """A model call is about to be made, or was refused for its size."""

    label: str
    """The stage."""

    tokens: int
    limit: int
    source: Literal["tokenizer", "estimate"]
    window: int
    output_cap: int
    trimmed: tuple[str, ...] = ()
    """What was shortened, in order."""

    report: Json = None
    """The whole budget report of the call (`budget.Report`, as JSON)."""

    type: Literal["budget"] = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEvent:
    """A valid plan was accepted."""

    index: int
    kind: PlanKind
    brief: str
    tool: str | None = None
    why: str | None = None
    confidence: float | None = None
    """Smallest probability share among the plan's choices, if the model gave any."""

    choices: tuple[Choice, ...] = ()
    fit: float | None = None
    """By how much the ask is likelier for the tool of a first plan than for any, in nats, where
    that was weighed."""

    type: Literal["plan"] = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryEvent:
    """A reply was rejected, and the one guided retry follows."""

    stage: str
    attempt: int
    reason: str
    type: Literal["retry"] = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmEvent:
    """Somebody, or the default, said yes or no to a call."""

    tool: str
    approved: bool
    reason: str | None = None
    type: Literal["confirm"] = "confirm"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent:
    """A tool step is finished: executed, cached, skipped or failed."""

    tool: str
    input: dict[str, Json] | None
    result: str
    ms: float
    status: str = "completed"
    type: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvent:
    """A model call came back; what it cost."""

    stage: str
    usage: Usage = field(default_factory=Usage)
    finish: str = "stop"
    choices: tuple[Choice, ...] = ()
    """Probability shares of what was chosen, if the model gave any."""

    type: Literal["model"] = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEvent:
    """The final text is known."""

    text: str
    confidence: float | None = None
    """Chance, 0 to 1, that the turn is right, by what was fitted for the model; None without."""

    type: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalateEvent:
    """The turn leaves the normal path."""

    reason: Reason
    error: str | None = None
    type: Literal["escalate"] = "escalate"


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberEvent:
    """Memory was saved."""

    summary: str
    type: Literal["remember"] = "remember"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryErrorEvent:
    """The scribe or the save failed; the answer stands."""

    error: str
    type: Literal["memory-error"] = "memory-error"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEvent:
    """A piece of the answer as it is written; only in a stream, never in a trace.

    A `RetryEvent` of the answer stage says that the pieces so far do not count.
    """

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEvent:
    """One field of a structured answer is finished; only in a stream, never in a trace."""

    name: str
    value: Json
    """As JSON, not yet validated."""

    type: Literal["field"] = "field"


Event: TypeAlias = (
    RecallEvent
    | BudgetEvent
    | PlanEvent
    | RetryEvent
    | ConfirmEvent
    | ToolEvent
    | ModelEvent
    | AnswerEvent
    | EscalateEvent
    | RememberEvent
    | MemoryErrorEvent
)
