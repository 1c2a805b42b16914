"""Sets of numbers, and how their numbers are written."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.schema import NumberSet, number_automaton
from goliath_local.schema.numbers import as_decimal, meet, point

if TYPE_CHECKING:
    from goliath_local.schema.regular import Automaton

decimals = st.one_of(
    st.integers(-20, 20).map(Decimal),
    st.integers(-3000, 3000).map(lambda n: Decimal(n).scaleb(-2)),
    st.integers(-(10**9), 10**9).map(lambda n: Decimal(n).scaleb(-4)),
    st.integers(-(10**17), 10**17).map(Decimal),
)


@st.composite
def sets(draw: st.DrawFn) -> NumberSet:
    bounds = sorted([draw(decimals), draw(decimals)])
    return NumberSet(
        least=draw(st.sampled_from([bounds[0], None])),
        most=draw(st.sampled_from([bounds[1], None])),
        above=draw(st.booleans()),
        below=draw(st.booleans()),
        whole=draw(st.sampled_from([None, None, True, False])),
        multiples=frozenset(draw(st.sampled_from([[], [], [Decimal(3)], [Decimal("0.25")]]))),
        left_out=frozenset(draw(st.sampled_from([[], [], [Decimal(0)], [bounds[0]]]))),
    )


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


@settings(max_examples=20, deadline=None)
@given(held=sets(), by_letter=st.booleans(), seed=st.integers(0, 2**16))
def test_what_is_written_for_a_set_belongs_to_it(
    held: NumberSet, by_letter: bool, seed: int
) -> None:
    assert_all_belong(held, by_letter, seed)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(held=sets(), by_letter=st.booleans(), seed=st.integers(0, 2**16))
def test_what_is_written_for_a_set_belongs_to_it_very_often(
    held: NumberSet, by_letter: bool, seed: int
) -> None:
    assert_all_belong(held, by_letter, seed)


def assert_all_belong(held: NumberSet, by_letter: bool, seed: int) -> None:
    automaton = number_automaton((held,), by_letter=by_letter)
    chance = Random(seed)
    for _ in range(30):
        text = walked(automaton, chance)
        if automaton.accepts(text):
            assert held.may_hold(Decimal(text)), text
            # Read as a binary fraction it must still be inside.
            value = float(text)
            assert held.least is None or value >= float(held.least)
            assert held.most is None or value <= float(held.most)


@settings(max_examples=20, deadline=None)
@given(held=sets(), value=decimals)
def test_a_number_is_written_exactly_when_it_belongs_to_the_set(
    held: NumberSet, value: Decimal
) -> None:
    assert_written_if_held(held, value)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(held=sets(), value=decimals)
def test_a_number_is_written_exactly_when_it_belongs_to_the_set_very_often(
    held: NumberSet, value: Decimal
) -> None:
    assert_written_if_held(held, value)


def assert_written_if_held(held: NumberSet, value: Decimal) -> None:
    automaton = number_automaton((held,), by_letter=False)
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    whole, _, fraction = text.partition(".")
    if held.may_hold(value):
        # Beside a bound that is left out a fraction may have only as many digits as a float keeps,
        # and multiples have fifteen at most.
        is_long = bool(held.multiples) and len(whole.lstrip("-")) > 15
        assert automaton.accepts("0" if value == 0 else text) or fraction or is_long
    else:
        assert not automaton.accepts(text)


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
