"""What plain code sees better in a result than a small model: which entry, and more or less.

Pure. A 1.5B model was seen to say that 17 is below 10 and to act on it, and to read the value of
one entry from the next. So a prompt says how the numbers stand to each other, shows the entries
that the ask names once more, and tells which ones stand out.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from goliath_local.prompts.conditions import is_exception
from goliath_local.prompts.render import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_NUMBERS = 3
"""An ask with more numbers than this is compared with nothing."""

LEAST_ROWS = 3
"""A shorter list is taken in without help."""

MOST_NAMED = 2
"""More entries than this are not shown again."""

MOST_TOLD = 6
"""More entries that stand out than this, and none does."""

MOST_FIELDS = 12
"""Most fields compared; a longer result is left to the model."""

_IN_ASK = re.compile(r"(?<![A-Za-z\d_:.,/-])\d+(?:\.\d+)?(?![\d:/-]|[.,]\d)")
_FIELD = re.compile(r"(\w+): (-?\d+(?:\.\d+)?)(?=,|$)")
_TEXT_FIELD = re.compile(r"\w+: ([^,\d-][^,]*)(?=,|$)")
_ANY_FIELD = re.compile(r"(\w+): (.*?)(?=, \w+: |$)")
_IS_FIELD = re.compile(r"\w+: \S")
_IS_MARK = re.compile(r"(?i)(^|_)(id|uuid|key|ref|code|number|phone|year)$")
"""Names of values that tell entries apart and mean no amount."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SWITCHES = frozenset({"true", "false", "null"})
_NUMBER_OF_ROW = re.compile(r"^(\d+)\. ", re.MULTILINE)
_NUMBERED = re.compile(r"^\d+\. ")


def comparisons(ask: str, results: Iterable[str]) -> str:
    """Return a line for each number of the ask, empty when there is nothing to compare."""
    numbers = list(dict.fromkeys(_IN_ASK.findall(ask)))
    fields = _meant_fields(ask, results)
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


def fields_of(result: str) -> list[dict[str, str]]:
    """Return the fields of each entry shown, or of the one object that a result is."""
    lines = result.splitlines()
    rows = [_NUMBERED.sub("", line) for line in lines if _NUMBERED.match(line)]
    if rows:
        return [dict(_ANY_FIELD.findall(row)) for row in rows]
    fields = dict(line.split(": ", 1) for line in lines if _IS_FIELD.match(line))
    return [fields] if fields else []


def is_mark(name: str) -> bool:
    """Return whether a field of that name tells entries apart and says nothing else."""
    return _IS_MARK.search(name) is not None


def name_of(row: Mapping[str, str]) -> str:
    """Return the text that an entry is called by: its first that is no number, switch or id."""
    texts = (value for name, value in row.items() if not _IS_MARK.search(name))
    is_name = (text for text in texts if text not in _SWITCHES and not _NUMBER.fullmatch(text))
    return next(is_name, "")


def named_rows(ask: str, result: str) -> str:
    """Return the entries that share a word with the ask, empty unless they are some of many."""
    rows = [_NUMBERED.sub("", row) for row in result.splitlines() if _NUMBERED.match(row)]
    named = [row for row in rows if _is_named(row, ask)]
    if len(rows) < LEAST_ROWS or not 0 < len(named) <= MOST_NAMED:
        return ""
    return render("guided.named", rows="\n".join(named))


def standouts(result: str) -> str:
    """Return which entries of a list have most, least, or alone something; empty if none has.

    Whoever asks "which" means one of these, and a small model takes a neighbour for it.
    """
    rows = fields_of(result)
    labels = [name_of(row) for row in rows]
    if len(rows) < LEAST_ROWS or len(rows) != entry_count(result) or not all(labels):
        return ""
    names = [
        name for name in rows[0] if not _IS_MARK.search(name) and all(name in row for row in rows)
    ]
    told = [
        sentence
        for name in names
        for sentence in _extremes(name, [row[name] for row in rows], labels)
    ]
    return render("guided.standouts", told="; ".join(told)) if 0 < len(told) <= MOST_TOLD else ""


def exception_rule(ask: str) -> str:
    """Return the sentence that says what `unless` means, empty for an ask without it."""
    return render("guided.unless") if is_exception(ask) else ""


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


def _extremes(name: str, values: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return what can be said of the entries by one field."""
    if all(_NUMBER.fullmatch(value) for value in values):
        numbers = [Decimal(value) for value in values]
        ends = [("highest", max(numbers)), ("lowest", min(numbers))]
        return [
            render(f"guided.{word}", name=name, label=labels[numbers.index(end)], value=f"{end}")
            for word, end in ends
            if numbers.count(end) == 1
        ]
    counts = Counter(values)
    alone = [value for value, count in counts.items() if count == 1]
    if len(counts) != 2 or len(alone) != 1:
        return []
    label = labels[values.index(alone[0])]
    return [render("guided.only", name=name, value=alone[0], label=label)]


def _meant_fields(ask: str, results: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return label, name and value of the numbers in the entries the ask names, else in all."""
    rows = [_NUMBERED.sub("", row) for result in results for row in result.splitlines()]
    meant = [row for row in rows if _is_named(row, ask)] or rows
    return [(label, *field) for row in meant for label in [_label(row)] for field in _fields(row)]


def _label(row: str) -> str:
    found = _TEXT_FIELD.match(row)
    return f"{found[1]} " if found else ""


def _is_named(row: str, ask: str) -> bool:
    words = {word.casefold() for word in re.findall(r"\w+", ask)}
    named = (value.casefold() for value in _TEXT_FIELD.findall(row))
    return any(set(re.findall(r"\w+", value)) & words for value in named)
