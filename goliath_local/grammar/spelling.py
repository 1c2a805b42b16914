"""How JSON spells the characters of a string.

Pure. Each character has one spelling to be generated: itself, or its shortest escape where it must
have one. Where a set holds all that is not ASCII, those may be escaped too; and a set of all
characters takes every spelling JSON has. Source: RFC 8259 section 7, strings.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Chars, Expr, Repeat, Seq, Text
from goliath_local.grammar.simplify import alt, seq
from goliath_local.schema.regular import ANYTHING, CharSet, chars, common, holds, united, without

if TYPE_CHECKING:
    from goliath_local.grammar.book import Book

_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_MUST_ESCAPE: CharSet = united([(0, 0x1F), *chars('"\\')])
_CONTROLS: CharSet = ((0, 0x1F),)
_BEYOND_ASCII: CharSet = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))
_IN_PLACE: CharSet = ((0x80, 0xD7FF), (0xE000, 0xFFFF))
_LAST = 0x10FFFF

HEX: Expr = Chars(((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)))


class Spelling:
    """Writes characters of strings, into one book."""

    def __init__(self, book: Book, *, by_letter: bool) -> None:
        self.book = book
        self.by_letter = by_letter
        """Take an escape for every character that is not ASCII."""

        self._known: dict[CharSet, Expr] = {}

    def any_char(self) -> Expr:
        """Return the rule of any character of a string, however it is spelled."""
        plain = Chars(_MUST_ESCAPE, negated=True)
        short = Chars(chars('"\\/bfnrt'))
        escape = Seq((Text("\\"), Alt((short, Seq((Text("u"), self._unit()))))))
        return self.book.share("char", Alt((plain, escape)))

    def _unit(self) -> Expr:
        r"""Return four hexadecimal digits, or the two times four of a pair of surrogates."""
        three = Repeat(HEX, 3, 3)
        two = Repeat(HEX, 2, 2)
        first = Chars(united([(0x30, 0x39), *chars("ABCEFabcef")]))
        d = Chars(chars("Dd"))
        low = Seq((Text("\\u"), d, Chars(chars("CDEFcdef")), two))
        high = Seq((Chars(chars("89ABab")), two, low))
        below = Seq((Chars(chars("01234567")), two))
        return self.book.share("hex", Alt((Seq((first, three)), Seq((d, Alt((below, high)))))))

    def _beyond_ascii(self) -> Expr:
        r"""Return what follows `\u` for the characters that are not ASCII."""
        rest = Repeat(HEX, 2, 2)
        low = Seq((Text("00"), Chars(chars("89ABCDEFabcdef")), HEX))
        second = Seq(
            (Text("0"), Chars(united([*chars("123456789"), *chars("ABCDEFabcdef")])), rest)
        )
        first = Chars(united([*chars("123456789"), *chars("ABCEFabcef")]))
        d = Chars(chars("Dd"))
        pair = Seq((Text("\\u"), d, Chars(chars("CDEFcdef")), rest))
        below = Seq((Chars(chars("01234567")), rest))
        high = Seq((Chars(chars("89ABab")), rest, pair))
        return self.book.share(
            "hex-wide",
            Alt((low, second, Seq((first, Repeat(HEX, 3, 3))), Seq((d, Alt((below, high)))))),
        )

    def of(self, held: CharSet) -> Expr:
        """Return the spellings of one character out of a set."""
        found = self._known.get(held)
        if found is None:
            found = self.any_char() if held == ANYTHING else self._some(held)
            self._known[held] = found
        return found

    def _some(self, held: CharSet) -> Expr:
        plain, parts, is_wide = _spelled(held, self.by_letter)
        escapes = [*parts, seq(Text("u"), self._beyond_ascii())] if is_wide else parts
        options = [] if plain is None else [plain]
        if escapes:
            escape = seq(Text("\\"), alt(escapes))
            options.append(self.book.share("escape", escape) if len(escapes) > 2 else escape)
        return self.book.share("char", alt(options)) if len(options) > 1 else options[0]


@lru_cache(maxsize=4096)
def _spelled(held: CharSet, by_letter: bool) -> tuple[Expr | None, tuple[Expr, ...], bool]:
    """Return characters as themselves, what may follow a backslash, and whether any code may."""
    plain = without(held, _MUST_ESCAPE)
    is_wide = common(held, _BEYOND_ASCII) == _BEYOND_ASCII
    found: list[Expr] = []
    short = "".join(letter for char, letter in _SHORT.items() if holds(held, ord(char)))
    if holds(held, 0x2F) and (is_wide or by_letter):
        short += "/"
    if short:
        found.append(as_class(chars(short)))
    controls = common(held, _CONTROLS)
    if not is_wide:
        controls = without(controls, chars("".join(_SHORT)))
    if controls:
        found.append(_control(controls))
    if by_letter and not is_wide:
        found += _hexadecimal(common(held, _IN_PLACE))
        found += _pairs(common(held, ((0x10000, _LAST),)))
    return (as_class(plain) if plain else None), tuple(found), is_wide


def as_class(held: CharSet) -> Expr:
    """Return a set as a class of characters, negated where that is shorter."""
    if held and held[-1][1] == _LAST:
        gaps: list[tuple[int, int]] = []
        start = 0
        for low, high in held:
            if low > start:
                gaps.append((start, low - 1))
            start = high + 1
        # The surrogates lie between two ranges of most sets, and are no characters.
        outside = [gap for gap in gaps if gap != (0xD800, 0xDFFF)]
        if len(outside) <= len(held):
            return Chars(tuple(outside), negated=True)
    if len(held) == 1 and held[0][0] == held[0][1]:
        return Text(chr(held[0][0]))
    return Chars(held)


def _control(held: CharSet) -> Expr:
    options: list[Expr] = []
    for first in (0, 1):
        codes = [code for code in range(16) if holds(held, first * 16 + code)]
        if codes:
            digits = "".join(f"{code:x}{code:X}" for code in codes)
            options.append(Seq((Text(f"u00{first}"), as_class(chars(digits)))))
    return options[0] if len(options) == 1 else Alt(tuple(options))


def _hexadecimal(held: CharSet, lead: str = "u") -> list[Expr]:
    """Return code units as a lead and four hexadecimal digits."""
    found: list[Expr] = []
    for low, high in held:
        for digits in _digit_ranges(low, high, 4):
            parts = [Text(lead), *(_digit_class(first, last) for first, last in digits)]
            found.append(Seq(tuple(parts)))
    return found


def _pairs(held: CharSet) -> list[Expr]:
    r"""Return characters beyond the first plane as pairs of `\u`."""
    found: list[Expr] = []
    for low, high in held:
        first, last = (low - 0x10000) >> 10, (high - 0x10000) >> 10
        for unit in range(first, last + 1):
            start = (low - 0x10000) & 0x3FF if unit == first else 0
            end = (high - 0x10000) & 0x3FF if unit == last else 0x3FF
            lead = _hexadecimal(((0xD800 + unit, 0xD800 + unit),))[0]
            rest = _hexadecimal(((0xDC00 + start, 0xDC00 + end),), "\\u")
            found += [Seq((lead, part)) for part in rest]
            if len(found) > 64:
                return []  # too many to be worth it: such a character is written as itself
    return found


def _digit_ranges(low: int, high: int, size: int) -> list[list[tuple[int, int]]]:
    """Return an interval of numbers as rows of ranges, one range a hexadecimal digit."""
    if size == 0:
        return [[]]
    step = 16 ** (size - 1)
    first, last = low // step, high // step
    if first == last:
        rest = _digit_ranges(low % step, high % step, size - 1)
        return [[(first, first), *row] for row in rest]
    found: list[list[tuple[int, int]]] = []
    if low % step:
        rest = _digit_ranges(low % step, step - 1, size - 1)
        found += [[(first, first), *row] for row in rest]
        first += 1
    whole_end = last if (high + 1) % step == 0 else last - 1
    if first <= whole_end:
        found.append([(first, whole_end), *[(0, 15)] * (size - 1)])
    if whole_end < last:
        rest = _digit_ranges(0, high % step, size - 1)
        found += [[(last, last), *row] for row in rest]
    return found


def _digit_class(first: int, last: int) -> Expr:
    return as_class(chars("".join(f"{code:x}{code:X}" for code in range(first, last + 1))))
