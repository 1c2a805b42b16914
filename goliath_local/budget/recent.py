"""How much of the recent conversation is shown.

Pure. Source: behaviour spec 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.budget.cut import clip_tokens
from goliath_local.budget.estimate import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goliath_local.budget.draft import Block

_BLOCK_OVERHEAD = 2
_CLIP_OVERHEAD = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentShown:
    """The conversation as it goes into a prompt."""

    text: str
    """Heading and blocks; empty when nothing is shown."""

    kept: int
    """Exchanges shown, a contiguous newest suffix."""

    dropped: int
    clipped: bool = False
    """True when the newest exchange did not fit and is shown shortened."""


def select_recent(
    heading: str,
    blocks: Sequence[Block],
    budget: int,
    *,
    count: Callable[[str], int] = estimate_tokens,
) -> RecentShown:
    """Return the newest exchanges that fit the budget, oldest first, heading included.

    Args:
        heading: stands before the first block, with its own separator.
        blocks: one an exchange, oldest first.
        budget: most tokens of the text, ≥ 0.
        count: tokens of a text.
    """
    remaining = budget - count(heading)
    if not blocks or remaining < 0:
        return RecentShown(text="", kept=0, dropped=len(blocks))
    kept: list[str] = []
    for block in reversed(blocks):
        cost = count(block.text) + _BLOCK_OVERHEAD
        if cost > remaining:
            break
        kept.insert(0, block.text)
        remaining -= cost
    clipped = not kept
    if clipped:
        kept = [text] if (text := _clip_block(blocks[-1], remaining, count=count)) else []
    if not kept:
        return RecentShown(text="", kept=0, dropped=len(blocks))
    whole = heading + "\n\n".join(kept)
    text = clip_tokens(whole, budget, count=count)
    return RecentShown(
        text=text,
        kept=len(kept),
        dropped=len(blocks) - len(kept),
        clipped=clipped or text != whole,
    )


def _clip_block(block: Block, remaining: int, *, count: Callable[[str], int]) -> str:
    """Give each line of the block the same share, so that a long ask cannot hide the answer."""
    share = max(0, remaining - _CLIP_OVERHEAD) // max(1, len(block.lines))
    lines = [clip_tokens(line, share, count=count) for line in block.lines]
    return "\n".join(line for line in lines if line)
