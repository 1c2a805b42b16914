"""What a tool is, and what it is handed when it runs.

Pure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.records import Json, OutputMode
    from goliath_local.schema import Declared

Execute: TypeAlias = "Callable[[Any, ToolContext], Awaitable[Any] | Any]"
FormatOutput: TypeAlias = Callable[[Any], Awaitable[str] | str]
Preview: TypeAlias = Callable[[Any], Awaitable[str] | str]


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
    preview: Preview | None = None
    """Arguments → what the call would change, in lines that begin with + or - where something
    comes or goes. Asked for while a person decides; changes nothing itself."""

    requires: tuple[str, ...] = ()
    """Tools that must have succeeded earlier in the same turn."""

    idempotent: bool = True
    """False for a read whose answer changes by itself: a repeat runs again, it is not cached."""

    timeout_s: float | None = None
    """A call that takes longer counts as failed; None waits for ever."""


def tools_by_name(tools: Mapping[str, Tool] | Iterable[Tool] | None) -> dict[str, Tool]:
    """Return the tools keyed by their own names, in the order given.

    Raises:
        ConfigError: two share a name, one is no `Tool`, or one requires a tool that is not there.
    """
    listed = list(tools.values() if isinstance(tools, Mapping) else tools or ())
    found: dict[str, Tool] = {}
    for tool in listed:
        if not isinstance(tool, Tool):
            message = f"{tool!r} is no tool. Decorate the function with @tool, or use define_tool."
            raise ConfigError(message)
        if tool.name in found:
            message = f"Two tools are called {tool.name!r}. Rename one of them."
            raise ConfigError(message)
        found[tool.name] = tool
    for tool in found.values():
        _verify_requires(tool, found)
    return found


def _verify_requires(tool: Tool, known: Mapping[str, Tool]) -> None:
    for name in tool.requires:
        if name not in known:
            message = (
                f"{tool.name} requires {name!r}, and there is no such tool. Register it, or "
                f"correct the name; there are: {', '.join(known)}."
            )
            raise ConfigError(message)
