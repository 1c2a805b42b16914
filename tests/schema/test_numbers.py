"""Sets of numbers, and how their numbers are written."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

import pytest

from goliath_local.schema import NumberSet, number_automaton
from goliath_local.schema.numbers import as_decimal, meet, point

if TYPE_CHECKING:
    from goliath_local.schema.regular import Automaton

DECIMALS = ((20, 0), (3000, -2), (10**9, -4), (10**17, 0))
"""How large a number is before its point is moved, and how far that is."""


def decimal(chance: Random) -> Decimal:
    most, exponent = chance.choice(DECIMALS)
    return Decimal(chance.randint(-most, most)).scaleb(exponent)


def number_set(chance: Random) -> NumberSet:
    bounds = sorted([decimal(chance), decimal(chance)])
    multiples: list[list[Decimal]] = [[], [], [Decimal(3)], [Decimal("0.25")]]
    left_out: list[list[Decimal]] = [[], [], [Decimal(0)], [bounds[0]]]
    return NumberSet(
        least=chance.choice([bounds[0], None]),
        most=chance.choice([bounds[1], None]),
        above=chance.random() < 0.5,
        below=chance.random() < 0.5,
        whole=chance.choice([None, None, True, False]),
        multiples=frozenset(chance.choice(multiples)),
        left_out=frozenset(chance.choice(left_out)),
    )


def near(held: NumberSet, chance: Random) -> Decimal:
    """A number, often one that stands out in the set."""
    notable = [n for n in (held.least, held.most, *held.left_out) if n is not None]
    return chance.choice(notable) if notable and chance.random() < 0.3 else decimal(chance)


def walked(automaton: Automaton, chance: Random) -> str:
    text, state = "", 0
    for _ in range(chance.randint(1, 24)):
        tail = automaton.tails[state]
        if tail is not None:
            size = chance.randint(tail.least, tail.least + 3 if tail.most is None else tail.most)
            return text + "".join(chr(chance.choice(tail.chars)[0]) for _ in range(size))
        if not automaton.steps[state]:
            break
        held, state = chance.choice(automaton.steps[state])
        low, high = chance.choice(held)
        text += chr(chance.randint(low, high))
    return text


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_for_a_set_belongs_to_it(seed: int) -> None:
    assert_all_belong(seed)


@pytest.mark.slow
def test_what_is_written_for_a_set_belongs_to_it_very_often() -> None:
    for seed in range(100, 400):
        assert_all_belong(seed)


def assert_all_belong(seed: int) -> None:
    chance = Random(seed)
    held = number_set(chance)
    automaton = number_automaton((held,), by_letter=chance.random() < 0.5)
    for _ in range(30):
        text = walked(automaton, chance)
        if automaton.accepts(text):
            assert held.may_hold(Decimal(text)), (held, text)
            # Read as a binary fraction it must still be inside.
            value = float(text)
            assert held.least is None or value >= float(held.least)
            assert held.most is None or value <= float(held.most)


@pytest.mark.parametrize("seed", range(20))
def test_a_number_is_written_exactly_when_it_belongs_to_the_set(seed: int) -> None:
    assert_written_if_held(seed)


@pytest.mark.slow
def test_a_number_is_written_exactly_when_it_belongs_to_the_set_very_often() -> None:
    for seed in range(100, 400):
        assert_written_if_held(seed)


def assert_written_if_held(seed: int) -> None:
    chance = Random(seed)
    held = number_set(chance)
    value = near(held, chance)
    automaton = number_automaton((held,), by_letter=False)
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    whole, _, fraction = text.partition(".")
    if held.may_hold(value):
        # Beside a bound that is left out a fraction may have only as many digits as a float keeps,
        # and multiples have fifteen at most.
        is_long = bool(held.multiples) and len(whole.lstrip("-")) > 15
        assert automaton.accepts("0" if value == 0 else text) or fraction or is_long, (held, text)
    else:
        assert not automaton.accepts(text), (held, text)


def test_a_bound_is_the_decimal_that_was_written() -> None:
    assert as_decimal(0.1) == Decimal("0.1")
    assert as_decimal(True) is None
    assert as_decimal(float("nan")) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NumberSet(least=Decimal(5)), NumberSet(most=Decimal(3))),
        (NumberSet(least=Decimal(5), above=True), NumberSet(most=Decimal(5))),
        (NumberSet(whole=True), NumberSet(least=Decimal("0.1"), most=Decimal("0.9"))),
        (NumberSet(whole=True), NumberSet(whole=False)),
        (point(Decimal(4)), NumberSet(multiples=frozenset([Decimal(3)]))),
        (point(Decimal(4)), NumberSet(left_out=frozenset([Decimal("4.0")]))),
    ],
)
def test_sets_without_a_common_number_do_not_meet(one: NumberSet, other: NumberSet) -> None:
    assert meet(one, other) is None
    assert meet(other, one) is None


def test_a_number_has_an_end() -> None:
    automaton = number_automaton((NumberSet(),), by_letter=False)
    assert automaton.accepts("-1.5e-7")
    assert automaton.accepts("12345678901234567890")
    assert not automaton.accepts("1" * 100)
    assert not automaton.accepts("0." + "3" * 100)
    assert not automaton.accepts("1e400")


def test_by_the_letter_an_integer_may_have_a_point_but_not_in_draft_4() -> None:
    assert number_automaton((NumberSet(whole=True),), by_letter=True).accepts("3.0")
    dotless = NumberSet(whole=True, dotless=True)
    assert not number_automaton((dotless,), by_letter=True).accepts("3.0")
    assert not number_automaton((NumberSet(whole=True),), by_letter=False).accepts("3.0")
