"""The tool set `numbers`: arithmetic and units, in decimals.

Pure.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from goliath_local.tools import tool
from goliath_local.toolsets.expression import calculate as value_of
from goliath_local.toolsets.expression import is_rounded, spelled
from goliath_local.toolsets.units import convert

if TYPE_CHECKING:
    from goliath_local.tools import Tool


def number_tools() -> tuple[Tool, ...]:
    """Return `calculate` and `convert_unit`."""
    return (calculate, convert_unit)


@tool
def calculate(expression: str) -> str:
    """Work out an arithmetic expression exactly.

    Args:
        expression: such as (19.90 + 5) * 3, 15% of 80, sqrt(2), mean(3, 5, 10)
    """
    value = value_of(expression)
    sign = "≈" if is_rounded(value) else "="
    return f"{' '.join(expression.split())} {sign} {spelled(value)}"


@tool
def convert_unit(amount: float, from_unit: str, to_unit: str) -> str:
    """Convert an amount from one unit of measure to another.

    Args:
        amount: the number
        from_unit: such as mi, kg, cup, °F, GB, km/h
        to_unit: the unit that is wanted
    """
    # The shortest spelling of the float is what was written: 0.1 is a tenth.
    given = Decimal(repr(amount))
    value, here, there = convert(given, from_unit, to_unit)
    sign = "≈" if is_rounded(value, digits=8) else "="
    return f"{spelled(given)} {here.symbol} {sign} {spelled(value, digits=8)} {there.symbol}"
