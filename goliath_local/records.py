"""What a turn decided and did, as values: plans, steps, exchanges, memory, hand-offs.

Pure. In Python the fields are snake_case; `to_json` writes the camelCase that saved memories and
fallback servers use, and `memory` reads it back.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict of these."""


class Reason(StrEnum):
    """Why a turn left the normal path; the closed list."""

    NO_MODEL = "no-model"
    MODEL_UNAVAILABLE = "model-unavailable"
    TOO_MANY_STEPS = "too-many-steps"
    REPEATED_TOOL_CALL = "repeated-tool-call"
    EMPTY_ANSWER = "empty-answer"
    ANSWER_INVALID = "answer-invalid"
    PLAN_INVALID = "plan-invalid"
    CONDUCTOR_ASKED = "conductor-asked"
    TOOL_ARGS_INVALID = "tool-args-invalid"
    TOOL_ERROR = "tool-error"
    GUARDRAIL = "guardrail"
    CONTEXT_BUDGET = "context-budget"
    TOOL_PREREQUISITE_MISSING = "tool-prerequisite-missing"
    MODEL_ERROR = "model-error"
    LOW_CONFIDENCE = "low-confidence"


PlanKind: TypeAlias = Literal["tool", "answer", "escalate"]
SkipReason: TypeAlias = Literal["policy", "confirmation", "missing"]
OutputMode: TypeAlias = Literal["summary", "content"]
Place: TypeAlias = Literal["device", "cloud"]


Want: TypeAlias = Literal["question", "change-if", "change", "talk", "impossible"]
"""What an ask wants: to be told something, a look and then perhaps a change, a change, nothing
that needs a tool, or what no tool here can do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One decision of the conductor."""

    kind: PlanKind
    brief: str
    tool: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One step that was carried out. Absent values are None and stay out of the JSON."""

    index: int
    kind: Literal["tool", "answer"]
    brief: str
    tool: str | None = None
    input: dict[str, Json] | None = None
    result: str | None = None
    output: Json = None
    has_output: bool = False
    """True when `output` is there, also when it is None."""

    output_mode: OutputMode | None = None
    writes: bool = False
    skipped: bool = False
    skip_reason: SkipReason | None = None
    extension: str | None = None
    cached: bool = False
    failed: bool = False
    interrupted: bool = False
    """The process ended between the call and its result; set when memory is read back."""

    text: str | None = None
    confidence: float | None = None
    """Smallest probability share among the choices of the step's plan, if the model gave any."""

    @property
    def status(self) -> str:
        """One of `completed`, `failed`, `skipped`, `cached`, `interrupted`."""
        for status in ("interrupted", "skipped", "cached", "failed"):
            if getattr(self, status):
                return status
        return "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One finished turn as it is remembered."""

    ask: str
    answer: str
    at: int | float
    """Epoch milliseconds."""

    best_effort: bool = False
    steps: tuple[StepRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryState:
    """What is kept of one conversation: the rolling brief and the newest exchanges."""

    summary: str = ""
    recent: tuple[Exchange, ...] = ()
    """Newest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackRequest:
    """What a fallback is given; never a prompt."""

    ask: str
    reason: Reason
    summary: str = ""
    recent: tuple[Exchange, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Who ended a run, where, and why."""

    extension: str
    phase: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A failure of an observer hook; it never changes the result."""

    extension: str
    phase: str
    error: BaseException = field(compare=False)


_ALWAYS = {"index", "kind", "brief", "ask", "answer", "at", "summary", "recent", "reason", "tool"}
_HIDDEN = {"has_output"}


def to_json(value: object) -> Json:
    """Return the value as JSON with camelCase keys; absent and default fields stay out.

    `StepRecord.output` and `input` are copied as they are: their keys are the application's.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            _camel(f.name): _plain(value, f.name)
            for f in dataclasses.fields(value)
            if _is_written(value, f.name, f.default)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    return value


def _is_written(value: object, name: str, default: object) -> bool:
    if name in _HIDDEN:
        return False
    if name == "output" and isinstance(value, StepRecord):
        return value.has_output
    field_value = getattr(value, name)
    if name == "steps":
        return bool(field_value) or isinstance(value, FallbackRequest)
    return (name in _ALWAYS and field_value is not None) or field_value != default


def _plain(value: object, name: str) -> Json:
    field_value = getattr(value, name)
    return field_value if name in {"output", "input"} else to_json(field_value)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
