"""Arithmetic from a text: exact, bounded, never executed."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.toolsets.expression import BadExpression, calculate, is_rounded, spelled
from tests.levers import many


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("0.1 + 0.2", "0.3"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2**-1", "0.5"),
        ("10 - 4 - 3", "3"),
        ("3 × 4 ÷ 2", "6"),
        ("1,234.5 * 2", "2469"),
        ("1,234,567 + 1", "1234568"),
        ("max(1,234)", "234"),
        ("sum(1,200, 5)", "206"),
        ("mean(3, 5, 10)", "6"),
        ("sqrt(16) + abs(-3)", "7"),
        ("round(2.345, 2)", "2.35"),
        ("round(-2.5)", "-3"),
        ("round(1234.5, 0)", "1235"),
        ("1e3 + .5", "1000.5"),
        ("19.90 * 3", "59.7"),
    ],
)
def test_arithmetic_is_exact(text: str, value: str) -> None:
    assert calculate(text) == Decimal(value)
    assert spelled(calculate(text)) == spelled(Decimal(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("15% of 80", "12"),
        ("80 + 19%", "95.2"),
        ("200 - 25%", "150"),
        ("50 * 10%", "5"),
        ("10% + 5%", "0.15"),
        ("50%", "0.5"),
        ("5 percent of 20", "1"),
        ("100 * (1 + 5%)^2", "110.25"),
    ],
)
def test_per_cents_are_meant_as_people_say_them(text: str, value: str) -> None:
    assert calculate(text) == Decimal(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The end was not expected"),
        ("2 +", "The end"),
        ("2 3", '"3" at character 3'),
        ("(1", "The end"),
        ("1)", r'"\)" at character 2'),
        ("__import__('os')", '"__import__" at character 1|is no number'),
        ("open(1)", '"open" is not known here. Known are: sqrt'),
        ("2 $ 3", r'"\$ 3" at character 2'),
        ("sqrt 4", "needs brackets"),
        ("sqrt(1, 2)", "takes one number, 2 were given"),
        ("round(1, 99)", "0 to 20 decimal places"),
        ("1/0", "division by zero"),
        ("sqrt(-1)", "no result"),
        ("ln(0-1)", "no result"),
        ("9^9^9^9", "larger than"),
        ("10^-400", "smaller than"),
        ("1e9999", "larger than"),
        ("(" * 60 + "1" + ")" * 60, "nested more than 40"),
        ("-" * 60 + "1", "nested more than 40"),
        ("1+" * 100 + "1", "characters. At most 200"),
        ("ln(0)", "no result"),
        ("0/0", "division|no result"),
        ("0^0", "no result"),
    ],
)
def test_what_is_no_arithmetic_is_refused_with_its_reason(text: str, words: str) -> None:
    with pytest.raises(BadExpression, match=words):
        calculate(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1024", "1024"),
        ("100000", "100000"),
        ("1E+5", "100000"),
        ("0.1250", "0.125"),
        ("3.333333333333333333", "3.33333333333"),
        ("1E+30", "1e30"),
        ("-0.0", "0"),
        ("2.5E-20", "2.5E-20"),
    ],
)
def test_a_number_is_spelled_plainly(value: str, text: str) -> None:
    assert spelled(Decimal(value)) == text


def test_a_rounded_result_says_so() -> None:
    assert is_rounded(calculate("10/3"))
    assert is_rounded(calculate("sqrt(2)"))
    assert not is_rounded(calculate("10/4"))


@settings(max_examples=many(100), deadline=None)
@given(st.text(alphabet="0123456789.,+-*/^%() eo fsqrtlnmax", max_size=60))
def test_any_text_gives_a_number_or_is_refused_and_soon(text: str) -> None:
    started = time.process_time()
    try:
        value = calculate(text)
    except BadExpression:
        value = Decimal(0)
    assert value.is_finite()
    assert time.process_time() - started < 20  # a hang, not a speed


@settings(max_examples=many(20), deadline=None)
@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_whole_numbers_agree_with_python(left: int, right: int) -> None:
    for sign, value in (("+", left + right), ("-", left - right), ("*", left * right)):
        assert calculate(f"({left}) {sign} ({right})") == value
