"""What plain code sees better in a result than a small model: which entry, and more or less.

Pure. A 1.5B model was seen to say that 17 is below 10 and to act on it, and to read the value of
one entry from the next. So a prompt says how the numbers stand to each other, and shows the
entries that the ask names once more.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from goliath_local.prompts.render import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_NUMBERS = 3
"""An ask with more numbers than this is compared with nothing."""

LEAST_ROWS = 3
"""A shorter list is taken in without help."""

MOST_NAMED = 2
"""More entries than this are not shown again."""

MOST_FIELDS = 12
"""Most fields compared; a longer result is left to the model."""

_IN_ASK = re.compile(r"(?<![\w:.,/-])\d+(?:\.\d+)?(?![\d:/-]|[.,]\d)")
_FIELD = re.compile(r"(\w+): (-?\d+(?:\.\d+)?)(?=,|$)")
_TEXT_FIELD = re.compile(r"\w+: ([^,\d-][^,]*)(?=,|$)")
_NUMBER_OF_ROW = re.compile(r"^(\d+)\. ", re.MULTILINE)
_UNLESS = re.compile(
    r"(?i)\b(unless|except if|außer|es sei denn|sauf si|à moins|salvo|a menos)\b|除非"
)
_NUMBERED = re.compile(r"^\d+\. ")


def comparisons(ask: str, results: Iterable[str]) -> str:
    """Return a line for each number of the ask, empty when there is nothing to compare."""
    numbers = list(dict.fromkeys(_IN_ASK.findall(ask)))
    rows = [_NUMBERED.sub("", row) for result in results for row in result.splitlines()]
    meant = [row for row in rows if _is_named(row, ask)] or rows
    fields = [
        (label, *field) for row in meant for label in [_label(row)] for field in _fields(row)
    ]
    if not numbers or len(numbers) > MOST_NUMBERS or not 0 < len(fields) <= MOST_FIELDS:
        return ""
    return "\n".join(_line(number, fields) for number in numbers)


def entry_count(result: str) -> int | None:
    """Return how many entries a list has that was made into a result, None when it is no list."""
    if result.strip() == "none":
        return 0
    numbers = _NUMBER_OF_ROW.findall(result)
    if not numbers or numbers[0] != "1":
        return None
    return int(numbers[-1])


def named_rows(ask: str, result: str) -> str:
    """Return the entries that share a word with the ask, empty unless they are some of many."""
    rows = [_NUMBERED.sub("", row) for row in result.splitlines() if _NUMBERED.match(row)]
    named = [row for row in rows if _is_named(row, ask)]
    if len(rows) < LEAST_ROWS or not 0 < len(named) <= MOST_NAMED:
        return ""
    return render("guided.named", rows="\n".join(named))


def exception_rule(ask: str) -> str:
    """Return the sentence that says what `unless` means, empty for an ask without it."""
    return render("guided.unless") if _UNLESS.search(ask) else ""


def _line(number: str, fields: Sequence[tuple[str, str, str]]) -> str:
    told = ", ".join(
        f"{label}{name} {value} is {_relation(Decimal(value), Decimal(number))}"
        for label, name, value in fields
    )
    return render("guided.compared", number=number, told=told)


def _relation(value: Decimal, number: Decimal) -> str:
    if value == number:
        return "equal"
    return "more" if value > number else "less"


def _fields(row: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in _FIELD.findall(row) if name != "id"]


def _label(row: str) -> str:
    found = _TEXT_FIELD.match(row)
    return f"{found[1]} " if found else ""


def _is_named(row: str, ask: str) -> bool:
    words = {word.casefold() for word in re.findall(r"\w+", ask)}
    named = (value.casefold() for value in _TEXT_FIELD.findall(row))
    return any(set(re.findall(r"\w+", value)) & words for value in named)
