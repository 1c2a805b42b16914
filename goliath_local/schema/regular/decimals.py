"""Decimal numbers as texts: bounds, multiples, and the ways JSON spells a number.

Pure. A magnitude is digits, with or without a fraction, without a sign; an exponent, where there
is one, is added by who uses this. Source: RFC 8259 section 6, numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.schema.regular.automaton import Automaton
from goliath_local.schema.regular.charsets import chars

if TYPE_CHECKING:
    from decimal import Decimal

    from goliath_local.schema.regular.algebra import Algebra, Language

_DIGITS = "0123456789"
MAX_REMAINDERS = 1000
"""States of the automaton of multiples, about."""


class Decimals:
    """The pieces that numbers are put together from, in one algebra."""

    def __init__(self, algebra: Algebra) -> None:
        a = self.algebra = algebra
        self.digit = a.chars(chars(_DIGITS))
        self.nonzero = a.chars(chars(_DIGITS[1:]))
        self.point = a.text(".")
        self.digits = a.loop(self.digit, 0, None)
        self.zeros = a.loop(a.text("0"), 0, None)
        self.fraction = a.then(self.point, a.loop(self.digit, 1, None))
        """A point and what follows."""
        self.any_end = a.either([a.empty, self.fraction])
        self.positive_end = a.then(
            self.point, a.then(self.zeros, a.then(self.nonzero, self.digits))
        )
        """A fraction that is more than nothing."""
        self.zero_end = a.either([a.empty, a.then(self.point, a.loop(a.text("0"), 1, None))])
        """No fraction, or one of zeros."""

    def whole(self, most_digits: int) -> Language:
        """Return the digits of integers from 0 on."""
        a = self.algebra
        return a.either(
            [a.text("0"), a.then(self.nonzero, a.loop(self.digit, 0, most_digits - 1))]
        )

    def magnitude(self, *, whole_digits: int, fraction_digits: int) -> Language:
        """Return digits with a fraction or without, of limited length."""
        a = self.algebra
        end = a.then(self.point, a.loop(self.digit, 1, fraction_digits))
        return a.then(self.whole(whole_digits), a.either([a.empty, end]))

    def at_least(self, bound: Decimal, *, above: bool) -> Language:
        """Return the magnitudes from the bound on; `above` leaves the bound itself out."""
        a = self.algebra
        whole, fraction = _split(bound)
        options = [
            a.then(self.nonzero, a.then(a.loop(self.digit, len(whole), None), self.any_end)),
            *self._beside(whole, self.any_end, higher=True),
        ]
        equal = self.positive_end if above else self.any_end
        if fraction:
            last = a.then(self.zeros, a.then(self.nonzero, self.digits)) if above else self.digits
            equal = a.then(
                self.point,
                a.either(
                    [
                        *self._beside(fraction, self.digits, higher=True, lead=True),
                        a.then(a.text(fraction), last),
                    ]
                ),
            )
        return a.either([*options, a.then(a.text(whole), equal)])

    def at_most(self, bound: Decimal, *, below: bool) -> Language:
        """Return the magnitudes up to the bound; `below` leaves the bound itself out."""
        a = self.algebra
        whole, fraction = _split(bound)
        options = [*self._beside(whole, self.any_end, higher=False)]
        if len(whole) > 1:
            options.append(a.then(self.whole(len(whole) - 1), self.any_end))
        equal = a.nothing if below else self.zero_end
        if fraction:
            inside = [
                *self._beside(fraction, self.digits, higher=False, lead=True),
                *(a.text(fraction[:size]) for size in range(1, len(fraction))),
            ]
            if not below:
                inside.append(a.then(a.text(fraction), self.zeros))
            equal = a.either([a.empty, a.then(self.point, a.either(inside))])
        return a.either([*options, a.then(a.text(whole), equal)])

    def _beside(
        self, digits: str, rest: Language, *, higher: bool, lead: bool = False
    ) -> list[Language]:
        """Return what first differs from the digits by a higher or lower one, place by place.

        `lead`: the digits are a fraction: a zero may come first, and any number of digits follow.
        """
        a = self.algebra
        found: list[Language] = []
        for at, digit in enumerate(digits):
            allowed = _DIGITS[int(digit) + 1 :] if higher else _DIGITS[: int(digit)]
            if at == 0 and not lead and len(digits) > 1:
                allowed = allowed.replace("0", "")
            if not allowed:
                continue
            after = rest
            if not lead:
                size = len(digits) - at - 1
                after = a.then(a.loop(self.digit, size, size), rest)
            found.append(a.then(a.text(digits[:at]), a.then(a.chars(chars(allowed)), after)))
        return found

    def exactly(self, value: Decimal) -> Language:
        """Return the ways to write one magnitude without an exponent."""
        return self.algebra.both(
            [self.at_least(value, above=False), self.at_most(value, below=False)]
        )

    def multiples(self, step: Decimal) -> Language:
        """Return the magnitudes that are multiples of the step, which must be a manageable one."""
        return self.algebra.automaton(_remainders(*_size_and_places(step)))


def is_manageable(step: Decimal) -> bool:
    """Return whether the automaton of the multiples of a step is of reasonable size."""
    if step.adjusted() > 5 or step.as_tuple().exponent in ("n", "N", "F"):
        return False
    size, places = _size_and_places(step)
    return size * (places + 1) <= MAX_REMAINDERS


def _size_and_places(step: Decimal) -> tuple[int, int]:
    places = max(-int(step.normalize().as_tuple().exponent), 0)
    return int(step.scaleb(places)), places


def _split(value: Decimal) -> tuple[str, str]:
    """Return the digits before and after the point, without zeros at the end."""
    whole, _, fraction = f"{value:f}".partition(".")
    return whole, fraction.rstrip("0")


def _remainders(size: int, places: int) -> Automaton:
    """Return the automaton that divides by `size` / 10^`places` while it reads.

    State 0 has read nothing; then come the remainders before the point, then those after each
    further digit, at last a state in which only zeros may follow.
    """
    after = [1 + size * (1 + place) for place in range(places + 1)]
    zeros = after[-1] + size
    rows: list[dict[int, str]] = [_divided(0, size, 1)]
    accepting = [False]
    for rest in range(size):
        rows.append({**_divided(rest, size, 1), after[0] + rest: "."})
        accepting.append(rest * 10**places % size == 0)
    for place in range(places + 1):
        for rest in range(size):
            if place < places:
                rows.append(_divided(rest, size, after[place + 1]))
            else:
                rows.append({zeros: "0"} if rest == 0 else {})
            # A point alone ends no number.
            accepting.append(place > 0 and rest * 10 ** (places - place) % size == 0)
    rows.append({zeros: "0"})
    accepting.append(True)
    steps = tuple(tuple((chars(held), to) for to, held in row.items()) for row in rows)
    return Automaton(steps, tuple(accepting), (None,) * len(steps))


def _divided(rest: int, size: int, first: int) -> dict[int, str]:
    """Return which digits lead from a remainder to which state, counted from `first`."""
    row: dict[int, str] = {}
    for digit in range(10):
        to = first + (rest * 10 + digit) % size
        row[to] = row.get(to, "") + str(digit)
    return row
