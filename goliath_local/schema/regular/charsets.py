"""Sets of characters, as ranges of code points.

Pure. A set is a sorted tuple of inclusive ranges that do not touch; the surrogates belong to none,
since no JSON text that is UTF-8 can hold one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

CharSet: TypeAlias = tuple[tuple[int, int], ...]

NOTHING: CharSet = ()
ANYTHING: CharSet = ((0, 0xD7FF), (0xE000, 0x10FFFF))
_LAST = 0x10FFFF


def chars(text: str) -> CharSet:
    """Return the characters of the text as a set."""
    if len(text) == 1 and not "\ud800" <= text <= "\udfff":
        return ((ord(text), ord(text)),)
    return united([(ord(char), ord(char)) for char in text])


def united(ranges: Iterable[tuple[int, int]]) -> CharSet:
    """Return the union of ranges in any order, without surrogates."""
    merged: list[tuple[int, int]] = []
    ordered = sorted(ranges)
    if len(ordered) == 1 and (ordered[0][1] < 0xD800 or ordered[0][0] > 0xDFFF):
        return (ordered[0],)
    for low, high in ordered:
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    found = tuple(merged)
    # Only a range that reaches the surrogates needs cutting.
    if any(low <= 0xDFFF and high >= 0xD800 for low, high in found):
        return common(found, ANYTHING)
    return found


def common(left: CharSet, right: CharSet) -> CharSet:
    """Return what both hold."""
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def others(held: CharSet) -> CharSet:
    """Return every character the set does not hold."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in held:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        gaps.append((start, _LAST))
    return common(tuple(gaps), ANYTHING)


def without(held: CharSet, taken: CharSet) -> CharSet:
    """Return the first set less the second."""
    return common(held, others(taken)) if taken else held


def holds(held: CharSet, code: int) -> bool:
    """Return whether the set holds the code point."""
    at = bisect_right(held, (code, _LAST)) - 1
    return at >= 0 and held[at][0] <= code <= held[at][1]


@lru_cache(maxsize=4096)
def parts(sets: tuple[CharSet, ...]) -> tuple[CharSet, ...]:
    """Return the coarsest partition of all characters that every given set is a union of.

    The characters in none of the sets are a part too, unless there are none.
    """
    edges: dict[int, int] = defaultdict(int)
    for number, held in enumerate(sets):
        for low, high in held:
            edges[low] ^= 1 << number
            edges[high + 1] ^= 1 << number
    edges.setdefault(0, 0)
    by_mask: dict[int, list[tuple[int, int]]] = defaultdict(list)
    points = sorted(edges)
    mask = 0
    for at, following in zip(points, [*points[1:], _LAST + 1], strict=True):
        mask ^= edges[at]
        if at < following:
            by_mask[mask].append((at, following - 1))
    return tuple([found for ranges in by_mask.values() if (found := united(ranges))])
