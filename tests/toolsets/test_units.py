"""Units: exact factors, names as people write them, no silent nonsense."""

from __future__ import annotations

from decimal import Decimal

import pytest

from goliath_local.toolsets.numbers import calculate, convert_unit
from goliath_local.toolsets.units import _TABLE, UnknownUnit, convert, read_unit


@pytest.mark.parametrize(
    ("amount", "source", "target", "expected"),
    [
        ("5", "miles", "km", "8.04672"),
        ("1", "inch", "cm", "2.54"),
        ("1", "lbs", "g", "453.59237"),
        ("1", "US gallon", "l", "3.785411784"),
        ("100", "°C", "°F", "212"),
        ("32", "F", "C", "0"),
        ("-40", "degrees F", "degrees Celsius", "-40"),
        ("0", "K", "°C", "-273.15"),
        ("90", "minutes", "h", "1.5"),
        ("2", "weeks", "days", "14"),
        ("1", "GiB", "MiB", "1024"),
        ("1", "MB", "Mbit", "8"),
        ("36", "km/h", "m/s", "10"),
        ("60", "miles per hour", "mph", "60"),
        ("3", "fluid ounces", "fl oz", "3"),
        ("9", "square feet", "ft2", "9"),
        ("1", "kWh", "kJ", "3600"),
        ("1", "square metre", "cm2", "10000"),
        ("1", "cubic meter", "liters", "1000"),
        ("1", "ATM", "hPa", "1013.25"),
        ("1", "hectares", "m²", "10000"),
    ],
)
def test_an_amount_is_converted(amount: str, source: str, target: str, expected: str) -> None:
    value, _, _ = convert(Decimal(amount), source, target)
    assert round(value, 12) == Decimal(expected)


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("USD", "EUR", 'no unit "USD" here.*no fixed rate'),
        ("kilometr", "m", "Did you mean kilomet.* or kilomet"),
        ("kg", "m", "kg measures mass and m length"),
        ("", "m", 'no unit ""'),
        ("x" * 5000, "m", "no unit"),
    ],
)
def test_a_unit_nobody_knows_is_refused(source: str, target: str, words: str) -> None:
    with pytest.raises(UnknownUnit, match=words):
        convert(Decimal(1), source, target)


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "1e101"])
def test_an_amount_beyond_use_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match="no number up to"):
        convert(Decimal(amount), "m", "km")


def test_nothing_is_colder_than_absolute_zero() -> None:
    with pytest.raises(ValueError, match="below absolute zero"):
        convert(Decimal(-300), "C", "K")


def test_every_unit_is_found_by_each_of_its_names_and_comes_back_as_it_was() -> None:
    for quantity, rows in _TABLE.items():
        for symbol, _, names in rows:
            for name in (symbol, *names.split()):
                assert (read_unit(name).quantity, read_unit(name).symbol) == (quantity, symbol), (
                    name
                )
            base = rows[0][0]
            there, _, _ = convert(Decimal("12.5"), symbol, base)
            back, _, _ = convert(there, base, symbol)
            assert round(back, 20) == Decimal("12.5")


def test_the_tools_answer_in_one_line() -> None:
    assert calculate.execute({"expression": " 15%  of 80 "}, None) == "15% of 80 = 12"
    assert calculate.execute({"expression": "10/3"}, None) == "10/3 ≈ 3.33333333333"
    given = {"amount": 0.1, "from_unit": "mile", "to_unit": "kilometers"}
    assert convert_unit.execute(given, None) == "0.1 mi = 0.1609344 km"
    given = {"amount": 72, "from_unit": "f", "to_unit": "c"}
    assert convert_unit.execute(given, None) == "72 °F ≈ 22.222222 °C"
