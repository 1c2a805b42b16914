"""Literal excerpts of results in content mode: one by one, and all of a turn together.

Pure. An excerpt that was cut keeps head and tail around a line with the number of tokens left
out, and that line is counted. Source: behaviour spec 4.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.budget.cut import clip, longest_length
from goliath_local.budget.estimate import estimate_tokens
from goliath_local.budget.limits import OLDER_RESULT_CHARACTERS
from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TAIL_SHARE = 4
"""One token in four goes to the tail."""

_TAIL_FROM_TOKENS = 64
"""Below this budget a tail would be a few words, so the head gets everything."""


def excerpt(text: str, budget: int, *, count: Callable[[str], int] = estimate_tokens) -> str:
    """Return the text, or its head and tail around a marker line, within the budget.

    Raises:
        ConfigError: the budget does not even hold the marker.
    """
    whole = count(text)
    if whole <= budget:
        return text
    tail = _tail(text, budget // _TAIL_SHARE, count=count) if budget >= _TAIL_FROM_TOKENS else ""
    tail_tokens = count(tail) if tail else 0

    def cut(length: int) -> str:
        head = text[:length]
        left_out = max(1, whole - count(head) - tail_tokens)
        lines = [head.rstrip("\n"), f"[… {left_out} tokens left out …]", tail]
        return "\n".join(line for line in lines if line)

    if count(cut(0)) > budget:
        message = (
            f"A result budget of {budget} tokens does not hold even the marker that "
            "something was left out. Raise budgets.tool_result_tokens."
        )
        raise ConfigError(message)
    length = longest_length(
        lambda length: count(cut(length)) <= budget, most=len(text) - len(tail), guess=4 * budget
    )
    return cut(length)


def omitted_excerpts(
    excerpts: Sequence[str | None],
    budget: int,
    *,
    count: Callable[[str], int] = estimate_tokens,
) -> frozenset[int]:
    """Return which of a turn's excerpts, oldest first, no longer fit the retrieval allowance.

    The newest has the first claim; a smaller older one may still fit after a larger one did
    not. None stands for a step that costs nothing here.
    """
    remaining = budget
    left_out: set[int] = set()
    for index in range(len(excerpts) - 1, -1, -1):
        text = excerpts[index]
        if text is None:
            continue
        cost = count(text)
        if cost <= remaining:
            remaining -= cost
        else:
            left_out.add(index)
    return frozenset(left_out)


def compact_result(result: str) -> str:
    """Return an older result as it is shown when room is short: its first line, clipped."""
    lines = result.strip().splitlines()
    return clip(lines[0], OLDER_RESULT_CHARACTERS) if lines else ""


def _tail(text: str, budget: int, *, count: Callable[[str], int]) -> str:
    length = longest_length(
        lambda length: count(text[len(text) - length :]) <= budget,
        most=len(text) - 1,
        guess=4 * budget,
    )
    tail = text[len(text) - length :]
    newline = tail.find("\n")
    # A tail that starts at a line start reads better; half of it is not too much to pay.
    return tail[newline + 1 :] if 0 <= newline < len(tail) // 2 else tail
