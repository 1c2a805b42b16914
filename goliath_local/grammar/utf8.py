"""Classes of characters as small automata over the bytes of UTF-8.

Pure. Only well-formed UTF-8 comes out: no surrogates, no overlong spellings, no byte above F4. NUL
is never a character of a text, since llama.cpp ends a text there.
Source: RFC 3629 section 4, the syntax of UTF-8 byte sequences.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from goliath_local.grammar.rules import Chars

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Inclusive code point ranges, sorted, neither touching nor overlapping."""

TOP = 0x10FFFF
_CHARACTERS: Ranges = ((0x01, 0xD7FF), (0xE000, TOP))
# First and last code point of each length, and how many bytes follow the lead byte.
_LENGTHS = ((0x00, 0x7F, 0), (0x80, 0x7FF, 1), (0x800, 0xFFFF, 2), (0x10000, TOP, 3))
_LEADS = (0x00, 0xC0, 0xE0, 0xF0)


@dataclass(frozen=True, slots=True)
class Shape:
    """One step of a class: which byte leads where."""

    table: bytes
    """256 entries: 0 where the byte is refused, else an index into `kids`."""

    kids: tuple[Shape | None, ...]
    """What follows, by index (0 is unused); None where the character is complete."""

    shortest: int
    """Bytes of the shortest character, 1 to 4."""


def normalize(ranges: list[tuple[int, int]]) -> Ranges:
    """Return the same code points as sorted ranges that do not touch."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def characters(chars: Chars) -> Ranges:
    """Return the characters of a class, as ranges; empty when there are none."""
    ranges = normalize(list(chars.ranges))
    if chars.negated:
        ranges = _complement(ranges)
    return _intersect(ranges, _CHARACTERS)


@lru_cache(maxsize=1024)
def shape_of(ranges: Ranges) -> Shape | None:
    """Return the automaton of these characters, None when there are none."""
    leads: dict[int, Shape | None] = {}
    for low, high, more in _LENGTHS:
        inside = _intersect(ranges, ((low, high),))
        if inside:
            leads.update(_block(inside, more, _LEADS[more]))
    return _shape(tuple(leads.items())) if leads else None


def _block(ranges: Ranges, more: int, lead: int) -> dict[int, Shape | None]:
    """Return byte → what follows, for code points that take `more` bytes after this one."""
    size = 1 << (6 * more)
    out: dict[int, Shape | None] = {}
    for low, high in ranges:
        for value in range(low // size, high // size + 1):
            if lead + value in out:
                continue
            start = value * size
            inside = _intersect(ranges, ((start, start + size - 1),))
            out[lead + value] = _tail(_shift(inside, start), more) if more else None
    return out


@lru_cache(maxsize=4096)
def _tail(ranges: Ranges, more: int) -> Shape:
    """Return the continuation bytes for offsets in a block of 64 ** more."""
    return _shape(tuple(_block(ranges, more - 1, 0x80).items()))


@lru_cache(maxsize=4096)
def _shape(steps: tuple[tuple[int, Shape | None], ...]) -> Shape:
    table = bytearray(256)
    kids: list[Shape | None] = [None]
    index: dict[Shape | None, int] = {}
    for byte, kid in steps:
        if kid not in index:
            index[kid] = len(kids)
            kids.append(kid)
        table[byte] = index[kid]
    shortest = 1 + min(kid.shortest if kid else 0 for kid in index)
    return Shape(bytes(table), tuple(kids), shortest)


def _complement(ranges: Ranges) -> Ranges:
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            out.append((start, low - 1))
        start = high + 1
    if start <= TOP:
        out.append((start, TOP))
    return tuple(out)


def _intersect(ranges: Ranges, window: Ranges) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in window:
        first = max(0, bisect_left(ranges, (low,)) - 1)
        for start, end in ranges[first:]:
            if start > high:
                break
            if end >= low:
                out.append((max(low, start), min(high, end)))
    return tuple(out)


def _shift(ranges: Ranges, by: int) -> Ranges:
    return tuple((low - by, high - by) for low, high in ranges)
