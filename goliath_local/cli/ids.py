"""Names that sort by time: of traces and conversations. Pure: clock and chance are handed in."""

from __future__ import annotations

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RANDOM_BITS = 80
ID_CHARS = 26


def new_id(*, now_s: float, chance: int) -> str:
    """Return 26 characters: 48 bits of milliseconds, then 80 bits of chance.

    Source: the ULID form, Crockford's base 32.
    """
    number = (int(now_s * 1000) << RANDOM_BITS) | (chance & ((1 << RANDOM_BITS) - 1))
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def is_id(text: str) -> bool:
    """True for a whole name or the beginning of one."""
    return 0 < len(text) <= ID_CHARS and all(char in _ALPHABET for char in text.upper())
