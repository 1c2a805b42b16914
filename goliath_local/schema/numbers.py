"""Sets of numbers: an interval, whole or not, multiples of something, less a few values.

Pure. Values are exact decimals, as the schema spells them; binary fractions never come in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

_EXACT = Context(prec=2000)
_NOTHING_MORE: frozenset[Decimal] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSet:
    """Numbers of one interval; all of them, as long as nothing is said."""

    least: Decimal | None = None
    most: Decimal | None = None
    above: bool = False
    """`least` itself is left out."""

    below: bool = False
    """`most` itself is left out."""

    whole: bool | None = None
    """True: only integers; False: only numbers that are none."""

    multiples: frozenset[Decimal] = _NOTHING_MORE
    """Each number is a multiple of every one of these."""

    not_multiples: frozenset[Decimal] = _NOTHING_MORE
    """No number is a multiple of any of these."""

    left_out: frozenset[Decimal] = _NOTHING_MORE
    """Single values that do not belong to it."""

    dotless: bool = False
    """1.0 is no integer, as in draft 4."""

    @property
    def is_empty(self) -> bool:
        """True when no number can belong to it; false does not promise that one does."""
        if self.least is None or self.most is None:
            return False
        if self.least > self.most:
            return True
        if self.least < self.most:
            return False
        return self.above or self.below or not self.may_hold(self.least)

    @property
    def value(self) -> Decimal | None:
        """The only number in it; None when there may be several."""
        if self.least is not None and self.least == self.most and not self.is_empty:
            return self.least
        return None

    def may_hold(self, value: Decimal) -> bool:
        """Return whether the value belongs to the set."""
        if self.least is not None and (value < self.least or (self.above and value == self.least)):
            return False
        if self.most is not None and (value > self.most or (self.below and value == self.most)):
            return False
        if self.whole is not None and is_whole(value) != self.whole:
            return False
        if value in self.left_out:
            return False
        if any(_rest(value, step) for step in self.multiples):
            return False
        return all(_rest(value, step) for step in self.not_multiples)


def point(value: Decimal) -> NumberSet:
    """Return the set of one number."""
    return NumberSet(least=value, most=value)


def as_decimal(number: Any) -> Decimal | None:
    """Return a JSON number as the decimal it was written as; None when it is none."""
    if isinstance(number, bool):
        return None
    if isinstance(number, int):
        return Decimal(number)
    if isinstance(number, float):
        found = Decimal(repr(number))
        return found if found.is_finite() else None
    if isinstance(number, Decimal) and number.is_finite():
        return number
    return None


def is_whole(value: Decimal) -> bool:
    """Return whether the value is an integer, however it is spelled."""
    return value == value.to_integral_value()


def _rest(value: Decimal, step: Decimal) -> Decimal:
    return _EXACT.remainder(value, step) if abs(value.adjusted()) < 900 else Decimal(1)


def meet(left: NumberSet, right: NumberSet) -> NumberSet | None:
    """Return the numbers in both; None when there are none."""
    whole = left.whole
    if right.whole is not None:
        if whole is not None and whole != right.whole:
            return None
        whole = right.whole
    least, above = _tighter(left.least, left.above, right.least, right.above, higher=True)
    most, below = _tighter(left.most, left.below, right.most, right.below, higher=False)
    found = NumberSet(
        least=least,
        most=most,
        above=above,
        below=below,
        whole=whole,
        multiples=left.multiples | right.multiples,
        not_multiples=left.not_multiples | right.not_multiples,
        left_out=left.left_out | right.left_out,
        dotless=left.dotless or right.dotless,
    )
    if whole:
        found = _rounded(found)
    return None if found.is_empty else found


def _tighter(
    one: Decimal | None, is_open: bool, other: Decimal | None, other_open: bool, *, higher: bool
) -> tuple[Decimal | None, bool]:
    if one is None:
        return other, other_open
    if other is None or one == other:
        return one, is_open or (other is not None and other_open)
    return (one, is_open) if (one > other) == higher else (other, other_open)


def _rounded(found: NumberSet) -> NumberSet:
    """Return a set of integers with its bounds at integers, both inside."""
    least, most = found.least, found.most
    if least is not None:
        up = least.to_integral_value(ROUND_CEILING)
        least = up + 1 if found.above and up == least else up
    if most is not None:
        down = most.to_integral_value(ROUND_FLOOR)
        most = down - 1 if found.below and down == most else down
    return replace(found, least=least, most=most, above=False, below=False)
