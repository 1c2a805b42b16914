"""Arithmetic in decimal numbers: a text in, a number out; nothing is ever executed.

Pure. Numbers, `+ - * / ^`, brackets, per cents and a few functions. `80 + 19%` is 80 and 19 per
cent of it, as people mean it; `15% of 80` works too. Sizes are bounded, so no text takes long.
"""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_CHARACTERS = 200
MAX_DEPTH = 40
DIGITS = 34
"""As many as decimal128 has; what is shown is rounded further."""

_CONTEXT = decimal.Context(
    prec=DIGITS,
    Emax=300,
    Emin=-300,
    traps=[
        decimal.InvalidOperation,
        decimal.DivisionByZero,
        decimal.Overflow,
        decimal.Underflow,
    ],
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,4})?)"
    r"|(?P<word>[a-z]+)|(?P<sign>\*\*|[-+*/^%(),×÷·−])|(?P<end>$))",  # noqa: RUF001 - as people type
    re.IGNORECASE,
)
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
"""1,234,567: read as one number where no function is called, since there a comma parts numbers."""

_CALL = re.compile(r"[a-z]\s*\(", re.IGNORECASE)
_SAME = {"**": "^", "×": "*", "·": "*", "÷": "/", "−": "-"}  # noqa: RUF001 - as people type
_CONSTANTS = {
    "pi": Decimal("3.14159265358979323846264338327950288"),
    "e": Decimal("2.71828182845904523536028747135266250"),
}


class BadExpression(ValueError):
    """The text is no arithmetic, or has no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A number on its way; `is_share` while it is per cents of something to come."""

    number: Decimal
    is_share: bool = False


def calculate(text: str) -> Decimal:
    """Return the value of the expression, to 34 digits.

    Raises:
        BadExpression: it is no arithmetic, has no result, or is too large; says where.
    """
    if len(text) > MAX_CHARACTERS:
        msg = f"The expression has {len(text)} characters. At most {MAX_CHARACTERS} can be used."
        raise BadExpression(msg)
    if _CALL.search(text) is None:
        text = _GROUPED.sub(lambda found: found.group().replace(",", ""), text)
    try:
        value = _Reader(tuple(_tokens(text))).whole().number
    except decimal.DivisionByZero as error:
        raise BadExpression("A division by zero has no result.") from error
    except decimal.Overflow as error:
        raise BadExpression("A result is larger than 10^300, more than can be used.") from error
    except decimal.Underflow as error:
        raise BadExpression("A result is smaller than 10^-300, too small to use.") from error
    except decimal.InvalidOperation as error:
        raise BadExpression("This has no result among the numbers, such as sqrt(-1).") from error
    if not value.is_finite():
        raise BadExpression("This has no result among the numbers, such as ln(0).")
    return value


def spelled(number: Decimal, *, digits: int = 12) -> str:
    """Return the number in plain notation, rounded to that many significant digits."""
    rounded = +number.normalize(decimal.Context(prec=digits))
    if not rounded:
        return "0"
    exponent = rounded.adjusted()
    if -digits < exponent < 2 * digits:
        return f"{rounded:f}"
    return f"{rounded:E}".replace("E+", "e")


def is_rounded(number: Decimal, *, digits: int = 12) -> bool:
    """True when `spelled` does not show the whole number."""
    return number.normalize(decimal.Context(prec=digits)) != number or bool(
        len(number.as_tuple().digits) >= DIGITS
    )


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            left = text[at:].strip()
            msg = f'"{left[:12]}" at character {at + 1} is no number and no sign of arithmetic.'
            raise BadExpression(msg)
        kind = match.lastgroup or "end"
        found = match.group(kind).casefold()
        yield _Token(kind=kind, text=_SAME.get(found, found), at=match.start(kind))
        if kind == "end":
            return
        at = match.end()


class _Reader:
    """Reads tokens from left to right: sums of products of signed powers."""

    def __init__(self, tokens: tuple[_Token, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> _Value:
        value = self._sum()
        if self._token.kind != "end":
            raise self._unexpected()
        return value

    @property
    def _token(self) -> _Token:
        return self._tokens[self._at]

    def _takes(self, *signs: str) -> str | None:
        token = self._token
        if token.text not in signs or token.kind in {"number", "end"}:
            return None
        self._at += 1
        return token.text

    def _unexpected(self) -> BadExpression:
        token = self._token
        what = f'"{token.text}" at character {token.at + 1}' if token.text else "The end"
        return BadExpression(f"{what} was not expected there. Write for example (2 + 3) * 4.")

    def _sum(self) -> _Value:
        left = self._product()
        while sign := self._takes("+", "-"):
            right = self._product()
            # 80 + 19% adds 19 per cent of the 80.
            share = right.is_share and not left.is_share
            amount = _CONTEXT.multiply(left.number, right.number) if share else right.number
            change = _CONTEXT.add if sign == "+" else _CONTEXT.subtract
            left = _Value(
                number=change(left.number, amount), is_share=left.is_share and right.is_share
            )
        return left

    def _product(self) -> _Value:
        left = self._signed()
        while sign := self._takes("*", "/", "of"):
            right = self._signed()
            change = _CONTEXT.divide if sign == "/" else _CONTEXT.multiply
            left = _Value(number=change(left.number, right.number))
        return left

    def _signed(self) -> _Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            msg = f"The expression is nested more than {MAX_DEPTH} deep."
            raise BadExpression(msg)
        try:
            if sign := self._takes("+", "-"):
                value = self._signed()
                number = -value.number if sign == "-" else value.number
                return _Value(number=number, is_share=value.is_share)
            return self._power()
        finally:
            self._depth -= 1

    def _power(self) -> _Value:
        base = self._percent()
        if not self._takes("^"):
            return base
        exponent = self._signed().number
        return _Value(number=_CONTEXT.power(base.number, exponent))

    def _percent(self) -> _Value:
        value = self._single()
        while self._takes("%", "percent"):
            value = _Value(number=_CONTEXT.divide(value.number, Decimal(100)), is_share=True)
        return value

    def _single(self) -> _Value:
        token = self._token
        if token.kind == "number":
            self._at += 1
            return _Value(number=_CONTEXT.create_decimal(token.text))
        if token.kind == "word" and token.text in _CONSTANTS:
            self._at += 1
            return _Value(number=_CONSTANTS[token.text])
        if token.kind == "word" and token.text in _FUNCTIONS:
            self._at += 1
            return _Value(number=_FUNCTIONS[token.text](self._arguments(token.text)))
        if self._takes("("):
            value = self._sum()
            self._closing()
            return _Value(number=value.number, is_share=value.is_share)
        if token.kind == "word" and token.text not in {"of", "percent"}:
            known = ", ".join([*_FUNCTIONS, *_CONSTANTS])
            msg = f'"{token.text}" is not known here. Known are: {known}.'
            raise BadExpression(msg)
        raise self._unexpected()

    def _arguments(self, name: str) -> list[Decimal]:
        if not self._takes("("):
            msg = f"{name} needs brackets: {name}(2)."
            raise BadExpression(msg)
        found = [self._sum().number]
        while self._takes(","):
            found.append(self._sum().number)
        self._closing()
        return found

    def _closing(self) -> None:
        if not self._takes(")"):
            raise self._unexpected()


def _one(name: str, change: Callable[[Decimal], Decimal]) -> Callable[[list[Decimal]], Decimal]:
    def apply(values: list[Decimal]) -> Decimal:
        if len(values) != 1:
            msg = f"{name} takes one number, {len(values)} were given."
            raise BadExpression(msg)
        return change(values[0])

    return apply


def _total(values: list[Decimal]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = _CONTEXT.add(total, value)
    return total


def _mean(values: list[Decimal]) -> Decimal:
    return _CONTEXT.divide(_total(values), Decimal(len(values)))


def _rounded(values: list[Decimal]) -> Decimal:
    if len(values) > 2 or (len(values) == 2 and not _is_place(values[1])):
        raise BadExpression("round takes a number and, if you like, 0 to 20 decimal places.")
    places = int(values[1]) if len(values) == 2 else 0
    step = Decimal(1).scaleb(-places)
    # Halves go up, as at school and in shops.
    return values[0].quantize(step, rounding=decimal.ROUND_HALF_UP, context=_CONTEXT)


def _is_place(value: Decimal) -> bool:
    return value == value.to_integral_value() and 0 <= value <= 20


_FUNCTIONS: Mapping[str, Callable[[list[Decimal]], Decimal]] = {
    "sqrt": _one("sqrt", _CONTEXT.sqrt),
    "abs": _one("abs", abs),
    "ln": _one("ln", _CONTEXT.ln),
    "log": _one("log", _CONTEXT.log10),
    "round": _rounded,
    "min": min,
    "max": max,
    "sum": _total,
    "mean": _mean,
}
