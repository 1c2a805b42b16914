"""The named sets of characters in patterns.

Pure. ECMA-262 and Python disagree about some of them, and a text should pass both. So there is a
narrow reading (what both call a digit) and a wide one (what either does): a pattern that has to
match is read narrowly, one that must not match is read widely.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from goliath_local.schema.regular.charsets import CharSet, chars, others, united

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DIGITS: CharSet = ((0x30, 0x39),)
WORD: CharSet = united([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
_SPACE: CharSet = united(
    [
        *[(0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)],
        *[(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)],
    ]
)
# Spaces by one of the two, but not by both.
_ODD_SPACE: CharSet = united([(0x1C, 0x1F), (0x85, 0x85), (0xFEFF, 0xFEFF)])

# Where signs that are no letters are looked for. All of Unicode would be 700 ranges long.
_SIGNS = ((0, 0x24F), (0x2000, 0x2BFF), (0x2E00, 0x303F), (0xFE10, 0xFF65), (0x1F000, 0x1FAFF))

# The zeros of the decimal digits; nine more follow each. Source: Unicode 15.0, category Nd.
_ZEROS = """
30 660 6F0 7C0 966 9E6 A66 AE6 B66 BE6 C66 CE6 D66 DE6 E50 ED0 F20 1040 1090 17E0 1810
1946 19D0 1A80 1A90 1B50 1BB0 1C40 1C50 A620 A8D0 A900 A9D0 A9F0 AA50 ABF0 FF10 104A0
10D30 11066 110F0 11136 111D0 112F0 11450 114D0 11650 116C0 11730 118E0 11950 11C50
11D50 11DA0 16A60 16AC0 16B50 1D7CE 1D7D8 1D7E2 1D7EC 1D7F6 1E140 1E2F0 1E950 1FBF0
"""

_LONG_NAMES = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Punctuation": "P",
    "punct": "P",
    "Symbol": "S",
    "Currency_Symbol": "Sc",
    "Math_Symbol": "Sm",
    "Separator": "Z",
    "Space_Separator": "Zs",
}
_ONE_LETTER = frozenset("LMNPSZC")


def named(letter: str, *, wide: bool) -> CharSet:
    r"""Return the set of `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, or of `.`."""
    if not wide:
        return _narrow(letter)
    return others(_narrow(_COMPLEMENTS[letter])) if letter in _COMPLEMENTS else others(chars("\n"))


_COMPLEMENTS = {"d": "D", "D": "d", "w": "W", "W": "w", "s": "S", "S": "s"}


@cache
def _narrow(letter: str) -> CharSet:  # noqa: PLR0911  # one a letter
    match letter:
        case "d":
            return _DIGITS
        case "w":
            return WORD
        case "s":
            return _SPACE
        case "S":
            return others(united([*_SPACE, *_ODD_SPACE]))
        case "D":
            zeros = [int(zero, 16) for zero in _ZEROS.split()]
            return others(united((zero, zero + 9) for zero in zeros))
        case "W":
            return _where(
                lambda char: not (char.isalnum() or char == "_"),
                (code for low, high in _SIGNS for code in range(low, high + 1)),
            )
        case _:
            return others(chars("\n\r\u2028\u2029"))


@cache
def category(name: str) -> CharSet | None:
    """Return the characters of a Unicode general category; None when there is none so named."""
    _, _, value = name.rpartition("=")
    short = _LONG_NAMES.get(value, value)
    if short[:1] not in _ONE_LETTER or len(short) > 2:
        return None
    held = _where(
        lambda char: unicodedata.category(char).startswith(short), range(sys.maxunicode + 1)
    )
    return held or None


def _where(test: Callable[[str], bool], codes: Iterable[int]) -> CharSet:
    """Return the characters, out of codes in ascending order, for which the test holds."""
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if not test(chr(code)):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return united(ranges)
