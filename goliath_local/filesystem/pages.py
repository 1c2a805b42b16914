"""How much of a result fits, and the text a model sees of it.

Pure. A search is one line of compact JSON; a read is one line of JSON about the excerpt, then
the excerpt as it stands in the file. Source: behaviour spec, section 8.4.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.budget import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goliath_local.records import Json
    from goliath_local.tools import ToolContext

DEFAULT_RESULT_TOKENS = 512
SPARE_TOKENS = 16
"""Kept free in a page of a search, for a handle that costs more tokens than another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How long a text may be."""

    max_tokens: int
    count_tokens: Callable[[str], int]

    def holds(self, text: str, *, spare_tokens: int = 0) -> bool:
        """Return whether the text fits, with some tokens to spare."""
        return self.count_tokens(text) <= self.max_tokens - spare_tokens


def room_of(context: ToolContext | None) -> Room:
    """Return the room that the context of a tool call leaves; 512 estimated tokens without one."""
    budget = getattr(context, "result_budget", None)
    if budget is None:
        return Room(max_tokens=DEFAULT_RESULT_TOKENS, count_tokens=estimate_tokens)
    return Room(max_tokens=budget.max_tokens, count_tokens=budget.count_tokens)


def render_search(output: Mapping[str, Json]) -> str:
    """Return a page of a search as the model sees it."""
    return _line(output)


def render_read(output: Mapping[str, Json]) -> str:
    """Return a page of a file as the model sees it."""
    about = {name: value for name, value in output.items() if name != "content"}
    return f"{_line(about)}\n{output['content']}"


def longest(upper: int, fits: Callable[[int], bool]) -> int:
    """Return the largest length up to `upper` that fits, 0 if none does.

    Lengths are taken to fit up to some point and not beyond it; the length returned was tried.
    """
    low, high = 0, upper
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
