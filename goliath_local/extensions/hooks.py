"""The eleven hooks, and what each of them is shown.

Pure. A hook gets one value: the data of its phase, whose `run` says which run it is in. All of it
is a copy; only opaque objects of the application are handed on by reference.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.events import Event
    from goliath_local.model import Choice
    from goliath_local.records import (
        Diagnostic,
        Exchange,
        FallbackRequest,
        MemoryState,
        Place,
        Plan,
        SkipReason,
        StepRecord,
    )

HOOKS = (
    "before_run",
    "after_recall",
    "before_plan",
    "after_plan",
    "before_tool",
    "after_tool",
    "before_fallback",
    "after_answer",
    "before_remember",
    "on_error",
    "on_finish",
)
"""In the order of a turn."""

Origin: TypeAlias = Literal[
    "extension",
    "model",
    "memory",
    "confirm",
    "fallback",
    "formatter",
    "event",
    "config",
    "budget",
    "tool",
    "harness",
]
"""Whose code an error came from."""


class Named(Protocol):
    """An extension: anything with a name and any of the hooks as methods, sync or async."""

    @property
    def name(self) -> str:
        """Unique among the agent's extensions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Which run a hook is in."""

    run_id: str
    conversation_id: str | None
    context: Any
    """The application's own data, by reference."""

    cancel: CancelToken
    state: MutableMapping[str, Any]
    """Private to this extension and this run; starts empty and is never kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """What a hook may know of a tool."""

    name: str
    description: str
    writes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeRun:
    """First of all, before memory is loaded. May return `{ask?, instructions?, facts?}`, Stop."""

    run: RunInfo
    ask: str
    instructions: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterRecall:
    """Memory was loaded. May return `{memory}`: the view of this run only."""

    run: RunInfo
    memory: MemoryState


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforePlan:
    """Before every planning attempt. May return `{tools?, context_text?}`."""

    run: RunInfo
    ask: str
    tools: tuple[ToolInfo, ...]
    context_text: str
    steps: tuple[StepRecord, ...]
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterPlan:
    """A valid plan is there. May return `{plan}`, Stop."""

    run: RunInfo
    plan: Plan
    tools: tuple[ToolInfo, ...]
    steps: tuple[StepRecord, ...]
    attempt: int
    confidence: float | None = None
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeTool:
    """Arguments are ready and valid. May return `{input}`, Deny, Stop."""

    run: RunInfo
    tool: ToolInfo
    input: Any
    brief: str
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """The tool ran."""

    output: Any
    """What it returned, as it returned it."""

    status: Literal["executed"] = "executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cached:
    """An earlier step answered the call."""

    from_step: int
    """Index of that step."""

    status: Literal["cached"] = "cached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The tool did not run."""

    reason: SkipReason
    extension: str | None = None
    status: Literal["skipped"] = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The tool raised."""

    error: BaseException
    status: Literal["failed"] = "failed"


ToolOutcome: TypeAlias = Executed | Cached | Skipped | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTool:
    """A tool step has its result. May return `{result}`."""

    run: RunInfo
    tool: ToolInfo
    input: Any
    result: str
    outcome: ToolOutcome
    steps: tuple[StepRecord, ...]
    """Earlier steps only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeFallback:
    """The fallback is about to be called. May return `{request}`, Stop."""

    run: RunInfo
    request: FallbackRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterAnswer:
    """A text that is not blank is about to be final. May return `{text}`, Stop."""

    run: RunInfo
    text: str
    handled_by: Place
    best_effort: bool
    steps: tuple[StepRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeRemember:
    """What would be saved is ready. May return `{memory}`, Skip."""

    run: RunInfo
    memory: MemoryState
    exchange: Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class OnError:
    """The run failed or was cancelled. What it returns is ignored."""

    run: RunInfo
    error: BaseException
    origin: Origin
    steps: tuple[StepRecord, ...]
    trace: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The run returned a result: completed, or stopped by an extension."""

    status: Literal["completed", "stopped"]
    result: Any
    """The `RunResult`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The run rejected: with an error, or aborted because it was cancelled."""

    status: Literal["error", "aborted"]
    error: BaseException
    origin: Origin
    steps: tuple[StepRecord, ...]
    trace: tuple[Event, ...]


RunOutcome: TypeAlias = Returned | Raised


@dataclass(frozen=True, slots=True, kw_only=True)
class OnFinish:
    """Always, last. What it returns is ignored."""

    run: RunInfo
    outcome: RunOutcome
    diagnostics: tuple[Diagnostic, ...]


Hook: TypeAlias = Callable[[Any], Awaitable[Any] | Any]


@dataclass(frozen=True, kw_only=True)
class Extension:
    """An extension made of functions; any object with a name and hook methods will do as well."""

    name: str
    before_run: Hook | None = None
    after_recall: Hook | None = None
    before_plan: Hook | None = None
    after_plan: Hook | None = None
    before_tool: Hook | None = None
    after_tool: Hook | None = None
    before_fallback: Hook | None = None
    after_answer: Hook | None = None
    before_remember: Hook | None = None
    on_error: Hook | None = None
    on_finish: Hook | None = None
