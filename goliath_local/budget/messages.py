"""Keeping a chat transcript within a budget; for applications, the loop does not use it.

Pure. Source: behaviour spec 4.7.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from goliath_local.budget.estimate import estimate_tokens
from goliath_local.budget.plain import plain

Message: TypeAlias = Mapping[str, Any]
"""`role` and `content`: a text, or a list of parts, those with a `text` being text."""

_MESSAGE_OVERHEAD = 4


def fit_within(messages: Sequence[Message], budget: int) -> list[Message]:
    """Return the messages without the oldest ones, so that they fit the budget.

    A leading system message and the last message always stay, whatever they cost.
    """
    kept = list(messages)
    first = 1 if kept and kept[0].get("role") == "system" else 0
    total = transcript_tokens(kept)
    while total > budget and len(kept) - first > 1:
        total -= _cost(kept.pop(first))
    return kept


def transcript_tokens(messages: Sequence[Message]) -> int:
    """Return the estimate of all messages, four tokens added for each."""
    return sum(_cost(message) for message in messages)


def _cost(message: Message) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else [content]
    text = "".join(_part_text(part) for part in parts)
    calls = message.get("tool_calls")
    return estimate_tokens(text + (_json(calls) if calls else "")) + _MESSAGE_OVERHEAD


def _part_text(part: Any) -> str:
    if part is None:
        return ""
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and isinstance(part.get("text"), str):
        return str(part["text"])
    return _json(part)


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
