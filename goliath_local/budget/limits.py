"""The limits of a model call, by stage, and the other fixed sizes: the tables of the policy.

Pure. Source: behaviour spec 4.2, 4.5 and 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.model import Stage, WindowSource

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICY_VERSION = 1
"""Goes up whenever the same draft may get another plan."""

DEFAULT_WINDOW = 4096
DEFAULT_MAX_STEPS = 5
EXCHANGES_KEPT = 3
"""Exchanges remembered word for word."""

RESULT_CHARACTERS = 600
OLDER_RESULT_CHARACTERS = 100
LOG_ARGUMENT_CHARACTERS = 120
MISSING_CHARACTERS = 120
ERROR_CHARACTERS = 160
INVALID_ARGUMENT_CHARACTERS = 200
BRIEF_WORDS = 60

OUTPUT_CAPS: Mapping[Stage, int] = {
    Stage.CONDUCTOR: 256,
    Stage.WORKER: 512,
    Stage.ANSWER: 384,
    Stage.SCRIBE: 192,
}
"""Most tokens of a reply, before the window has its say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How many tokens prompt and reply may have together, and who said so."""

    tokens: int = DEFAULT_WINDOW
    source: WindowSource = WindowSource.ESTIMATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call may use of the window, in tokens."""

    requested_output: int
    output_cap: int
    reserve: int
    limit: int
    """Most tokens of the prompt; not positive when the window is too small for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBudgets:
    """How much tools in content mode may show, in tokens."""

    tool_result_tokens: int
    retrieved_context_tokens: int


def limits(stage: Stage, window_tokens: int, *, output_tokens: int | None = None) -> Limits:
    """Return what a call of the stage may use.

    Args:
        stage: who asks.
        window_tokens: the whole window, ≥ 1.
        output_tokens: most tokens of the reply, if not the stage's own cap.
    """
    requested = OUTPUT_CAPS[stage] if output_tokens is None else output_tokens
    cap = max(1, min(requested, window_tokens // 2))
    reserve = max(128, -(-window_tokens // 10))
    limit = min(window_tokens * 7 // 10, window_tokens - cap - reserve)
    return Limits(requested_output=requested, output_cap=cap, reserve=reserve, limit=limit)


def conversation_tokens(window_tokens: int) -> int:
    """Return the allowance of the brief, and likewise of the recent conversation."""
    return window_tokens // 8


def result_budgets(window_tokens: int, options: Mapping[str, Any] | None = None) -> ResultBudgets:
    """Return the budgets of content results: the window's own, or what the options say.

    Raises:
        ConfigError: an unknown name, not a positive integer, or one result above the total.
    """
    given = dict(options or {})
    defaults = {
        "tool_result_tokens": max(1, min(800, window_tokens // 8)),
        "retrieved_context_tokens": max(1, min(2000, window_tokens // 4)),
    }
    for name, value in given.items():
        _verify_budget(name, value, known=defaults)
    merged = ResultBudgets(**{**defaults, **given})
    if merged.tool_result_tokens > merged.retrieved_context_tokens:
        message = (
            f"budgets: tool_result_tokens {merged.tool_result_tokens} is above "
            f"retrieved_context_tokens {merged.retrieved_context_tokens}. "
            "Lower the first or raise the second."
        )
        raise ConfigError(message)
    return merged


def _verify_budget(name: str, value: Any, *, known: Mapping[str, int]) -> None:
    if name not in known:
        message = f"budgets: there is no {name!r}. Use one of: {', '.join(known)}."
        raise ConfigError(message)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        message = f"budgets: {name} is {value!r}. Write a positive whole number."
        raise ConfigError(message)
