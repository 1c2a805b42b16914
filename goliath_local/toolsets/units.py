"""Units of measure and what one is in another: exact factors, as decimals.

Pure. Every unit is so many of its quantity's base unit; temperatures also have a zero of their
own. Names are matched without regard to plural, dots and, where it is clear, capitals.

Sources: the international yard and pound (1959), the SI brochure, IEC 80000-13 for data.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class UnknownUnit(ValueError):
    """There is no such unit, or the two measure different things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One unit."""

    quantity: str
    symbol: str
    """How it is written behind a number."""

    factor: Decimal
    """Base units in one of it."""

    zero: Decimal = Decimal(0)
    """Where its zero lies, in base units; only temperatures have one."""


# quantity → (symbol, factor, other names); the first unit of a row is its base.
_TABLE: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "length": (
        ("m", "1", "meter metre"),
        ("km", "1000", "kilometer kilometre"),
        ("cm", "0.01", "centimeter centimetre"),
        ("mm", "0.001", "millimeter millimetre"),
        ("µm", "0.000001", "um micrometer micrometre micron"),
        ("in", "0.0254", 'inch inches "'),
        ("ft", "0.3048", "foot feet '"),
        ("yd", "0.9144", "yard"),
        ("mi", "1609.344", "mile"),
        ("nmi", "1852", "nautical-mile sea-mile"),
    ),
    "mass": (
        ("kg", "1", "kilogram kilogramme kilo"),
        ("g", "0.001", "gram gramme"),
        ("mg", "0.000001", "milligram"),
        ("t", "1000", "tonne metric-ton"),
        ("lb", "0.45359237", "pound lbs"),
        ("oz", "0.028349523125", "ounce"),
        ("st", "6.35029318", "stone"),
        ("short ton", "907.18474", "us-ton ton"),
    ),
    "volume": (
        ("l", "1", "liter litre"),
        ("ml", "0.001", "milliliter millilitre"),
        ("cl", "0.01", "centiliter centilitre"),
        ("dl", "0.1", "deciliter decilitre"),
        ("m³", "1000", "m3 cubic-meter cubic-metre"),
        ("cm³", "0.001", "cm3 cc cubic-centimeter cubic-centimetre"),
        ("gal", "3.785411784", "gallon us-gallon"),
        ("qt", "0.946352946", "quart"),
        ("pt", "0.473176473", "pint"),
        ("cup", "0.2365882365", "us-cup"),
        ("fl oz", "0.0295735295625", "fluid-ounce floz"),
        ("tbsp", "0.01478676478125", "tablespoon"),
        ("tsp", "0.00492892159375", "teaspoon"),
        ("imp gal", "4.54609", "imperial-gallon uk-gallon"),
        ("imp pt", "0.56826125", "imperial-pint uk-pint"),
    ),
    "area": (
        ("m²", "1", "m2 square-meter square-metre sqm"),
        ("km²", "1000000", "km2 square-kilometer square-kilometre"),
        ("cm²", "0.0001", "cm2 square-centimeter square-centimetre"),
        ("ha", "10000", "hectare"),
        ("acre", "4046.8564224", "ac"),
        ("ft²", "0.09290304", "ft2 square-foot square-feet sqft"),
        ("mi²", "2589988.110336", "mi2 square-mile"),
    ),
    "time": (
        ("s", "1", "second sec"),
        ("ms", "0.001", "millisecond"),
        ("min", "60", "minute"),
        ("h", "3600", "hour hr"),
        ("d", "86400", "day"),
        ("weeks", "604800", "week wk"),
    ),
    "speed": (
        ("m/s", "1", "mps meter-per-second metre-per-second"),
        ("mph", "0.44704", "mi/h mile-per-hour"),
        ("kn", "1852/3600", "knot kt"),
        ("km/h", "1/3.6", "kmh kph kilometer-per-hour kilometre-per-hour"),
    ),
    "temperature": (
        ("K", "1", "kelvin"),
        ("°C", "1", "c celsius degc degree-c degree-celsius centigrade"),
        ("°F", "5/9", "f fahrenheit degf degree-f degree-fahrenheit"),
    ),
    "data": (
        ("B", "1", "byte"),
        ("bit", "0.125", "bits"),
        ("kB", "1000", "kilobyte"),
        ("MB", "1000000", "megabyte"),
        ("GB", "1000000000", "gigabyte"),
        ("TB", "1000000000000", "terabyte"),
        ("KiB", "1024", "kibibyte"),
        ("MiB", "1048576", "mebibyte"),
        ("GiB", "1073741824", "gibibyte"),
        ("TiB", "1099511627776", "tebibyte"),
        ("Mbit", "125000", "megabit"),
        ("Gbit", "125000000", "gigabit"),
    ),
    "energy": (
        ("J", "1", "joule"),
        ("kJ", "1000", "kilojoule"),
        ("cal", "4.184", "calorie"),
        ("kcal", "4184", "kilocalorie food-calorie"),
        ("Wh", "3600", "watt-hour"),
        ("kWh", "3600000", "kilowatt-hour"),
    ),
    "power": (
        ("W", "1", "watt"),
        ("kW", "1000", "kilowatt"),
        ("hp", "745.69987158227022", "horsepower"),
        ("PS", "735.49875", "metric-horsepower"),
    ),
    "pressure": (
        ("Pa", "1", "pascal"),
        ("hPa", "100", "hectopascal mbar millibar"),
        ("kPa", "1000", "kilopascal"),
        ("bar", "100000", ""),
        ("atm", "101325", "atmosphere"),
        ("psi", "44482216152605/6451600000", "pound-per-square-inch"),
    ),
}
_ZEROS = {"°C": Decimal("273.15"), "°F": Decimal("459.67") * 5 / 9}
MAX_AMOUNT = Decimal("1e100")


def convert(amount: Decimal, source: str, target: str) -> tuple[Decimal, Unit, Unit]:
    """Return the amount in the target unit, and both units.

    Raises:
        UnknownUnit: a unit is not known, or the two measure different things.
        ValueError: the amount is beyond use.
    """
    here, there = read_unit(source), read_unit(target)
    if here.quantity != there.quantity:
        msg = (
            f"{here.symbol} measures {here.quantity} and {there.symbol} {there.quantity}; "
            "one cannot be turned into the other."
        )
        raise UnknownUnit(msg)
    if not amount.is_finite() or abs(amount) > MAX_AMOUNT:
        raise ValueError("The amount is no number up to 1e100.")
    with localcontext(prec=40):
        base = amount * here.factor + here.zero
        if here.quantity == "temperature" and base < 0:
            msg = f"{amount}{here.symbol} is below absolute zero."
            raise ValueError(msg)
        return (base - there.zero) / there.factor, here, there


def read_unit(name: str) -> Unit:
    """Return the unit of that name or symbol.

    Raises:
        UnknownUnit: there is none; names the nearest ones.
    """
    exact, loose = _units()
    plain = " ".join(name.strip().rstrip(".").split())
    found = exact.get(plain) or next(
        (loose[form] for form in _forms(plain) if form in loose), None
    )
    if found is None:
        near = difflib.get_close_matches(plain.casefold(), loose, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        msg = f'There is no unit "{plain}" here.{hint} Currencies have no fixed rate.'
        raise UnknownUnit(msg)
    return found


def _forms(name: str) -> tuple[str, ...]:
    """Return spellings to try, the likeliest first: as it is, joined, without the plural's s."""
    joined = "-".join(name.casefold().replace("-", " ").split())
    first, _, rest = joined.partition("-")
    leading = f"{first.removesuffix('s')}-{rest}"
    return (name.casefold(), joined, joined.removesuffix("s"), leading, leading.removesuffix("s"))


@cache
def _units() -> tuple[dict[str, Unit], dict[str, Unit]]:
    """Return all units by exact symbol, and by every name in small letters."""
    exact: dict[str, Unit] = {}
    loose: dict[str, Unit] = {}
    for quantity, rows in _TABLE.items():
        for symbol, factor, names in rows:
            unit = Unit(
                quantity=quantity,
                symbol=symbol,
                factor=_fraction(factor),
                zero=_ZEROS.get(symbol, Decimal(0)),
            )
            exact[symbol] = unit
            for name in (symbol.casefold(), *names.split()):
                # Where capitals tell units apart (Mbit, mbit), the first in the table is meant.
                loose.setdefault(name, unit)
    return exact, loose


def _fraction(text: str) -> Decimal:
    top, _, bottom = text.partition("/")
    with localcontext(prec=40):
        return Decimal(top) / Decimal(bottom or 1)
