"""Sets of numbers as automata over the way JSON spells them.

Pure. A bound is exact; where a number has an upper bound or must be a multiple, an exponent is not
written. Numbers never run on: digits before and after the point are limited.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from goliath_local.schema.regular import Algebra, Decimals, Language, chars, determinise

if TYPE_CHECKING:
    from goliath_local.schema.numbers import NumberSet
    from goliath_local.schema.regular import Automaton

_DIGITS, _DIGITS_BY_LETTER, _DIGITS_OF_MULTIPLES = 20, 64, 15
"""Digits before the point, and after it, where nothing else limits them."""

# 15 digits survive the way to a binary fraction and back; with more, 0.9999999999999999999 would
# be read as 1, which matters where 1 itself is left out. Source: IEEE 754, binary64.
_SAFE_DIGITS = 15
_LARGEST_EXPONENT = 307
_ZERO = Decimal(0)


@lru_cache(maxsize=512)
def number_automaton(sets: tuple[NumberSet, ...], *, by_letter: bool) -> Automaton:
    """Return the automaton of the numbers in any of the sets.

    Args:
        sets: what is allowed.
        by_letter: allow every spelling JSON Schema does, such as 1.0 for an integer.

    Raises:
        TooManyStates: it is too large, by way of multiples.
    """
    algebra = Algebra()
    writer = _Writer(Decimals(algebra), by_letter)
    return determinise(algebra, algebra.either([writer.numbers(found) for found in sets]))


@dataclass(frozen=True, slots=True)
class _Writer:
    decimals: Decimals
    by_letter: bool

    def numbers(self, held: NumberSet) -> Language:
        """Return how the numbers of a set are written."""
        a = self.decimals.algebra
        if held.value is not None:
            return self.exactly(held.value)
        most_digits = _DIGITS_BY_LETTER if self.by_letter else _DIGITS
        if any(step != 1 for step in held.multiples | held.not_multiples):
            most_digits = _DIGITS_OF_MULTIPLES  # each digit more costs a state a remainder
        up = self.upward(held.least, held.above, held.most, held.below, most_digits)
        # The negative ones, seen in a mirror; zero is written without a sign.
        least, above = (None, False) if held.most is None else (-held.most, held.below)
        most, below = (None, False) if held.least is None else (-held.least, held.above)
        if least is None or least < 0:
            least, above = _ZERO, bool(held.whole)
        elif least == 0:
            above = above or bool(held.whole)
        down = self.upward(least, above, most, below, most_digits)
        found = a.either([up, a.then(a.text("-"), down)])
        return a.both([found, *self.conditions(held)])

    def upward(
        self,
        least: Decimal | None,
        above: bool,
        most: Decimal | None,
        below: bool,
        most_digits: int,
    ) -> Language:
        """Return the magnitudes between two bounds, and their spellings with an exponent."""
        a, d = self.decimals.algebra, self.decimals
        if most is not None and (most < 0 or (most == 0 and below)):
            return a.nothing
        if least is None or least < 0:
            least, above = _ZERO, False
        bounds = [least] if most is None else [least, most]
        whole = max(_places(bound)[0] for bound in bounds)
        pieces = [d.at_least(least, above=above)] if least > 0 or above else []
        if most is None:
            whole = max(whole + 1, most_digits)
        else:
            pieces.append(d.at_most(most, below=below))
        left_out = [least] * above + [bounds[-1]] * (below and most is not None)
        places = min(
            [most_digits, *(_SAFE_DIGITS - _places(bound)[0] for bound in left_out if bound)]
        )
        places = max(1, places, *(_places(bound)[1] + bool(left_out) for bound in bounds))
        plain = a.both([d.magnitude(whole_digits=whole, fraction_digits=places), *pieces])
        if most is not None and not self.by_letter:
            return plain
        return a.either([plain, *self.exponents(least, most)])

    def exponents(self, least: Decimal, most: Decimal | None) -> list[Language]:
        """Return spellings with an exponent that surely lie between the bounds."""
        a, d = self.decimals.algebra, self.decimals
        end = a.then(d.point, a.loop(d.digit, 1, _DIGITS))
        mark = a.chars(chars("eE"))
        mantissa = a.then(d.nonzero, a.then(a.either([a.empty, end]), mark))
        found = []
        if least <= 0 and (most is None or most > 0):
            # 9.99e-k lies below 10^(1-k), and so below `most` as soon as that is as small.
            first = 1 if most is None or most >= 1 else 1 - most.adjusted()
            found.append(a.then(mantissa, a.then(a.text("-"), self.exponent(first))))
        if most is None:
            first = _places(least)[0] if least >= 1 else 0
            sign = a.either([a.empty, a.text("+")])
            found.append(a.then(mantissa, a.then(sign, self.exponent(first))))
        return found

    def exponent(self, least: int) -> Language:
        """Return exponents from `least` on, of one to three digits."""
        a, d = self.decimals.algebra, self.decimals
        bounds = [d.at_least(Decimal(least), above=False)] if least else []
        largest = d.at_most(Decimal(_LARGEST_EXPONENT), below=False)
        short = a.then(a.text("0"), a.both([d.digit, *bounds]))
        return a.either([a.both([d.whole(3), *bounds, largest]), short])

    def conditions(self, held: NumberSet) -> list[Language]:
        """Return what holds for every number of the set, sign or not."""
        a, d = self.decimals.algebra, self.decimals
        sign = a.either([a.empty, a.text("-")])
        found = []
        if held.whole is True:
            zeros = a.then(d.point, a.loop(a.text("0"), 1, _DIGITS))
            end = a.either([a.empty, zeros]) if self.by_letter and not held.dotless else a.empty
            found.append(a.then(sign, a.then(d.digits, end)))
        if held.whole is False:
            found.append(a.then(sign, a.then(d.digits, d.positive_end)))
        for step in sorted(held.multiples):
            found.append(a.then(sign, d.multiples(step)))
        for step in sorted(held.not_multiples):
            found.append(a.then(sign, a.both([self.no_exponent(), a.but(d.multiples(step))])))
        for value in sorted(held.left_out):
            number = d.exactly(abs(value))
            if value:
                number = a.then(a.text("-"), number) if value < 0 else number
            else:
                number = a.then(sign, number)
            found += [a.but(number), a.then(sign, self.no_exponent())]
        return found

    def no_exponent(self) -> Language:
        d = self.decimals
        return d.algebra.then(d.digits, d.any_end)

    def exactly(self, value: Decimal) -> Language:
        """Return how one number is written."""
        a, d = self.decimals.algebra, self.decimals
        if abs(value.adjusted()) > _SAFE_DIGITS + 5:
            return a.either([a.text(text) for text in {_scientific(value), f"{value:f}"}])
        magnitude = d.exactly(abs(value))
        if not self.by_letter:
            shortest = f"{abs(value).normalize():f}"
            spellings = {shortest, f"{abs(value):f}"}
            magnitude = a.either([a.text(text) for text in sorted(spellings)])
        limited = d.magnitude(whole_digits=_DIGITS, fraction_digits=_DIGITS)
        found = a.both([magnitude, limited])
        return a.then(a.text("-"), found) if value < 0 else found


def _places(value: Decimal) -> tuple[int, int]:
    """Return how many digits stand before the point and after it."""
    whole, _, fraction = f"{abs(value):f}".partition(".")
    return len(whole), len(fraction.rstrip("0"))


def _scientific(value: Decimal) -> str:
    return str(float(value)) if abs(value.adjusted()) < _LARGEST_EXPONENT else f"{value:E}"
