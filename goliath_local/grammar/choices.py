"""Where a grammar leaves a choice between a few texts: which texts.

Pure. What a model's logits say about a choice (which enum value, which tool) can only be told when
the permitted values are known; a single state of the matcher knows only single bytes.

    {"size": ▮     "small"}   "large"}   "largest"}        three texts, meeting at the end
    {"kind": "▮    tool","tool":"   answer"}               two texts that do not meet again
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from goliath_local.grammar.match import Matcher

MAX_CHOICES = 64

_Leaf: TypeAlias = "tuple[bytes, Matcher | None]"
"""A text and the state after it, with all that is forced; None where the sentence ends there."""


def choices(matcher: Matcher, *, limit: int = MAX_CHOICES) -> tuple[bytes, ...]:
    """Return the texts between which the grammar leaves a choice here, in order of their bytes.

    Each goes on, over everything that is forced, to the place where all of them meet again; where
    they do not, or are too many by then, each goes to the next place that is open. None of them
    is the beginning of another one, unless the whole sentence may end with it.

    Args:
        matcher: where the choice is.
        limit: the most texts there may be.

    Returns:
        Two or more texts; none where the next byte is forced, where more than `limit` may follow,
        and where what is open is no choice between texts (inside a string, a number's digits).
    """
    if _ways(matcher) < 2 or _ways(matcher) > limit:
        return ()
    first = _open(b"", matcher)
    leaves = _meeting(list(first), limit)
    if leaves is None and matcher.is_text_only:
        leaves = first
    return tuple(sorted(text for text, _ in leaves or ()))


def _meeting(leaves: list[_Leaf], limit: int) -> list[_Leaf] | None:
    """Open leaves until all of them are in one state; None where that does not come about."""
    while len({state for _, state in leaves}) > 1:
        # The state from which the end is farthest is the one farthest from the meeting place.
        text, state = max(leaves, key=lambda leaf: leaf[1].distance if leaf[1] else -1)
        if state is None or not state.is_text_only or len(leaves) + _ways(state) - 1 > limit:
            return None
        leaves.remove((text, state))
        leaves.extend(_open(text, state))
    return leaves


def _open(text: bytes, state: Matcher) -> list[_Leaf]:
    """Return what may follow a text: one leaf a byte, and one for ending there."""
    leaves: list[_Leaf] = [(text, None)] if state.is_complete else []
    for byte in sorted(state.allowed_first_bytes()):
        after = state.step(byte)
        assert after is not None
        forced = after.forced()
        end = after.advance(forced)
        assert end is not None
        is_end = end.is_complete and not end.allowed_mask
        leaves.append((text + bytes([byte]) + forced, None if is_end else end))
    return leaves


def _ways(state: Matcher) -> int:
    return state.allowed_mask.bit_count() + state.is_complete
