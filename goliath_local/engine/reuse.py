"""What a session keeps of its last prompt, and which states are worth saving.

Pure. A part's key names the whole chain up to it, so two prompts share exactly the parts whose
keys are equal.

    held    A B C d e          keys of the parts in the KV cache
    saved   A, AB              states kept in memory, and places that they can be cut back to
    wanted  A B X y            keep A B (nothing to restore), evaluate X, y
"""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from goliath_local.engine.prompt import PromptPart

LASTING: Final = "facts"
"""The part behind the head that stays the same for a day, or for as long as a program runs."""

WORTH_SAVING_TOKENS: Final = 24
"""A state is saved when it reaches this many tokens further than the saved one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """The place behind a part."""

    key: str
    """sha256 over the ids of all parts up to here, 64 hex digits."""

    length: int
    """Tokens up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reuse:
    """How to reach a wanted prompt."""

    parts: int
    """Leading parts that need not be evaluated; always less than all."""

    is_held: bool
    """They are in the KV cache: truncate. Otherwise restore the saved state."""


def boundaries(parts: Sequence[PromptPart]) -> tuple[Boundary, ...]:
    """Return the place behind each part."""
    chain = hashlib.sha256()
    found = []
    lengths = accumulate(len(part.ids) for part in parts)
    for part, length in zip(parts, lengths, strict=True):
        # The count before the ids keeps [1][2 3] apart from [1 2][3].
        chain.update(len(part.ids).to_bytes(4, "little"))
        chain.update(array("i", part.ids).tobytes())
        found.append(Boundary(key=chain.copy().hexdigest(), length=length))
    return tuple(found)


def plan_reuse(
    held: Sequence[Boundary], wanted: Sequence[Boundary], *, saved: Container[str]
) -> Reuse:
    """Return how many leading parts of the wanted prompt need not be evaluated.

    The last part is always evaluated: the logits behind it are what we came for, and no saved
    state holds logits.
    """
    most = len(wanted) - 1
    kept = 0
    while kept < min(most, len(held)) and held[kept].key == wanted[kept].key:
        kept += 1
    for count in range(most, kept, -1):
        if wanted[count - 1].key in saved:
            return Reuse(parts=count, is_held=False)
    return Reuse(parts=kept, is_held=True)


def head_end(parts: Sequence[PromptPart]) -> int | None:
    """Return the index of the last part of the static head, None when there is no head."""
    count = sum(part.is_head for part in parts)
    return count - 1 if count else None


def lasting_end(parts: Sequence[PromptPart]) -> int | None:
    """Return the index of the facts right behind the head, None where there are none to save."""
    end = head_end(parts)
    if end is None or end + 2 >= len(parts) or parts[end + 1].name != LASTING:
        return None
    return end + 1 if len(parts[end + 1].ids) >= WORTH_SAVING_TOKENS else None


def standing_end(parts: Sequence[PromptPart], *, goes_on: bool) -> int | None:
    """Return the index of the last part that the next prompt with this head may begin with, too.

    Args:
        parts: the prompt.
        goes_on: the next prompt is likely to say more of the same: the log of a turn grows. Then
            it is the last part but one, since the last is always evaluated; otherwise the facts.
    """
    if not goes_on:
        return lasting_end(parts)
    last_kept = len(parts) - 2
    end = head_end(parts)
    return last_kept if last_kept > (-1 if end is None else end) else None
