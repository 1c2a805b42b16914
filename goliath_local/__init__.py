"""A harness that lets a small local model finish real tasks by itself.

The front door: the public names, each fetched from its room when it is first used, so that
`import goliath_local` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.agent import Agent, create_agent
    from goliath_local.budget import (
        DEFAULT_MAX_STEPS,
        DEFAULT_WINDOW,
        clip_tokens,
        estimate_tokens,
        fit_within,
        summarize_tool_result,
        transcript_tokens,
    )
    from goliath_local.cancel import CancelToken
    from goliath_local.engine import OpenAICompatibleModel
    from goliath_local.errors import (
        BudgetError,
        ConfigError,
        ExtensionError,
        GoliathError,
        RunCancelled,
        ToolError,
    )
    from goliath_local.extensions import Deny, Extension, Skip, Stop
    from goliath_local.fallback import chat_fallback, http_fallback
    from goliath_local.filesystem import create_filesystem
    from goliath_local.harness import (
        SESSION_FALLBACK_AFTER,
        ConfirmRequest,
        RunResult,
        plan_schema,
        plan_schema_for,
    )
    from goliath_local.mcp import mcp_tools
    from goliath_local.memory import (
        Memory,
        empty_memory,
        in_memory,
        key_value_memory,
        sqlite_memory,
    )
    from goliath_local.model import Model, Reply, Request
    from goliath_local.records import (
        Exchange,
        FallbackRequest,
        MemoryState,
        Plan,
        Reason,
        StepRecord,
    )
    from goliath_local.tools import Tool, ToolContext, define_tool, tool

__version__ = "0.1.0"

_ROOMS: dict[str, tuple[str, ...]] = {
    "agent": ("Agent", "create_agent"),
    "budget": (
        "DEFAULT_MAX_STEPS",
        "DEFAULT_WINDOW",
        "clip_tokens",
        "estimate_tokens",
        "fit_within",
        "summarize_tool_result",
        "transcript_tokens",
    ),
    "cancel": ("CancelToken",),
    "engine": ("OpenAICompatibleModel",),
    "errors": (
        "BudgetError",
        "ConfigError",
        "ExtensionError",
        "GoliathError",
        "RunCancelled",
        "ToolError",
    ),
    "extensions": ("Deny", "Extension", "Skip", "Stop"),
    "fallback": ("chat_fallback", "http_fallback"),
    "filesystem": ("create_filesystem",),
    "harness": (
        "SESSION_FALLBACK_AFTER",
        "ConfirmRequest",
        "RunResult",
        "plan_schema",
        "plan_schema_for",
    ),
    "mcp": ("mcp_tools",),
    "memory": ("Memory", "empty_memory", "in_memory", "key_value_memory", "sqlite_memory"),
    "model": ("Model", "Reply", "Request"),
    "records": ("Exchange", "FallbackRequest", "MemoryState", "Plan", "Reason", "StepRecord"),
    "tools": ("Tool", "ToolContext", "define_tool", "tool"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "DEFAULT_MAX_STEPS",
    "DEFAULT_WINDOW",
    "SESSION_FALLBACK_AFTER",
    "Agent",
    "BudgetError",
    "CancelToken",
    "ConfigError",
    "ConfirmRequest",
    "Deny",
    "Exchange",
    "Extension",
    "ExtensionError",
    "FallbackRequest",
    "GoliathError",
    "Memory",
    "MemoryState",
    "Model",
    "OpenAICompatibleModel",
    "Plan",
    "Reason",
    "Reply",
    "Request",
    "RunCancelled",
    "RunResult",
    "Skip",
    "StepRecord",
    "Stop",
    "Tool",
    "ToolContext",
    "ToolError",
    "__version__",
    "chat_fallback",
    "clip_tokens",
    "create_agent",
    "create_filesystem",
    "define_tool",
    "empty_memory",
    "estimate_tokens",
    "fit_within",
    "http_fallback",
    "in_memory",
    "key_value_memory",
    "mcp_tools",
    "plan_schema",
    "plan_schema_for",
    "sqlite_memory",
    "summarize_tool_result",
    "tool",
    "transcript_tokens",
]


def __getattr__(name: str) -> Any:
    room = _HOME.get(name)
    if room is None:
        message = f"goliath_local has no {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"goliath_local.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
