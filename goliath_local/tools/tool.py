"""What a tool is, and what it is handed when it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.records import Json, OutputMode
    from goliath_local.schema import Declared

Execute: TypeAlias = "Callable[[Any, ToolContext], Awaitable[Any] | Any]"
FormatOutput: TypeAlias = Callable[[Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBudget:
    """How long the model-facing text of one result may be."""

    max_tokens: int
    count_tokens: Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may know of the turn it runs in."""

    conversation_id: str | None
    context: Any
    """The application's own data, by reference."""

    cancel: CancelToken
    result_budget: ResultBudget
    steps: tuple[Mapping[str, Json], ...]
    """Copies of this turn's earlier records, full outputs included, as JSON."""

    recent: tuple[Mapping[str, Json], ...]
    """Copies of the recalled exchanges, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something the agent can do. Made by `define_tool` or `@tool`, which check it."""

    name: str
    description: str
    """One sentence; the model reads it at every planning call."""

    parameters: Declared
    execute: Execute
    writes: bool = False
    """Changes something: asks first, and makes earlier reads stale."""

    requires_confirmation: bool = False
    """Without an explicit confirm handler the call is declined."""

    output_mode: OutputMode | None = None
    resolve_input: Execute | None = None
    to_model_output: FormatOutput | None = None
    requires: tuple[str, ...] = ()
    """Tools that must have succeeded earlier in the same turn."""

    idempotent: bool = True
    """False for a read whose answer changes by itself: a repeat runs again, it is not cached."""

    timeout_s: float | None = None
