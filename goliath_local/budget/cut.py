"""Cutting text to a length: in characters, in tokens, in words.

Pure. Nothing here is ever longer than it was told to be, whatever the counter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.budget.estimate import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

ELLIPSIS = "…"


def clip(text: str, most_characters: int) -> str:
    """Return the text, or its beginning and an ellipsis, at most that many characters."""
    if len(text) <= most_characters:
        return text
    if most_characters < 1:
        return ""
    return text[: most_characters - 1].rstrip() + ELLIPSIS


def whole(text: str) -> str:
    """Return the text with U+FFFD for each half of a surrogate pair, which no tokenizer takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clip_tokens(text: str, budget: int, *, count: Callable[[str], int] = estimate_tokens) -> str:
    """Return the text, or its longest beginning that fits with an ellipsis behind it.

    Empty when the budget does not even hold the ellipsis. Cuts between code points only.
    """
    if count(text) <= budget:
        return text
    if count(ELLIPSIS) > budget:
        return ""
    length = longest_length(
        lambda length: count(text[:length] + ELLIPSIS) <= budget,
        most=len(text) - 1,
        guess=4 * budget,
    )
    return text[:length] + ELLIPSIS


def clip_words(brief: str, most_words: int) -> str:
    """Return the brief with at most that many words, cutting from the end of its longest line."""
    lines = [line.split() for line in brief.splitlines()]
    excess = sum(len(words) for words in lines) - most_words
    if excess <= 0:
        return brief
    for _ in range(excess):
        max(lines, key=len).pop()
    return "\n".join(" ".join(words) for words in lines if words)


def longest_length(fits: Callable[[int], bool], *, most: int, guess: int) -> int:
    """Return the largest length from 0 to `most` that fits; 0 is taken to fit.

    A tokenizer is not strictly monotonic: where it is not, the answer still fits but may not be
    the largest. Texts far above the guess are never tried whole.
    """
    low, high = 0, max(1, min(guess, most))
    while high < most and fits(high):
        low, high = high, min(2 * high, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
