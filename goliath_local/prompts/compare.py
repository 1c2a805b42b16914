"""What plain code sees better in a result than a small model: which entry, and more or less.

Pure. A 1.5B model was seen to say that 17 is below 10 and to act on it, and to read the value of
one entry from the next. So a prompt says how the numbers stand to each other, and shows the
entries that the ask names once more.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

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
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SWITCHES = frozenset({"true", "false", "null"})
_TWO = 2
_NUMBER_OF_ROW = re.compile(r"^(\d+)\. ", re.MULTILINE)
_UNLESS = re.compile(
    r"(?i)\b(unless|except if|außer|es sei denn|sauf si|à moins|salvo|a menos)\b|除非"
)
_NUMBERED = re.compile(r"^\d+\. ")
_STEM = 4
"""Letters by which two forms of a word are told to be one."""

_NOT = re.compile(r"(?i)\bnot?\b|n't\b|\b(kein\w*|nicht|pas|ne|sin)\b|不(?!到)|没|नहीं")
"""A condition that is turned round is left to the model."""

_COMPARATORS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (
        re.compile(
            r"(?i)\b(at least|or more|or above|mindestens|au moins|al menos|por lo menos)\b|至少"
        ),
        ("more", "equal"),
    ),
    (
        re.compile(r"(?i)\b(at most|or less|or below|höchstens|au plus|como máximo)\b|至多|最多"),
        ("less", "equal"),
    ),
    (
        re.compile(
            r"(?i)\b(below|under|less|fewer|lower|colder|cooler|smaller|shorter|cheaper|unter|"
            r"weniger|niedriger|kälter|kleiner|kürzer|billiger|moins|en dessous|inférieur\w*|"
            r"plus froid|plus bas|menos|menor|por debajo|bajo|más frío)\b|低于|少于|小于|不到|से कम"
        ),
        ("less",),
    ),
    (
        re.compile(
            r"(?i)\b(above|over|exceeds?|higher|warmer|hotter|greater|larger|longer|bigger|"
            r"more than|dearer|über|mehr|höher|wärmer|größer|länger|teurer|au-dessus|dépasse|"
            r"supérieur\w*|plus de|plus chaud|plus haut|por encima|mayor|más de|más caliente|"
            r"supera)\b|高于|超过|多于|大于|से (?:ज़्यादा|अधिक|ऊपर)"
        ),
        ("more",),
    ),
)
"""What says how a number has to stand to another, in the languages of the evals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is true of a result, and what follows from it for a conditional change."""

    text: str
    acts: bool
    """The change is to be made."""


def comparisons(ask: str, results: Iterable[str]) -> str:
    """Return a line for each number of the ask, empty when there is nothing to compare."""
    numbers = list(dict.fromkeys(_IN_ASK.findall(ask)))
    fields = _meant_fields(ask, results)
    if not numbers or len(numbers) > MOST_NUMBERS or not 0 < len(fields) <= MOST_FIELDS:
        return ""
    return "\n".join(_line(number, fields) for number in numbers)


def claims(ask: str, condition: str, result: str) -> tuple[Claim, ...]:
    """Return the sentences that compare the numbers of a result with those of a condition.

    Empty where the condition says no more and no less, where there is nothing to compare, or too
    much. Fields that the condition names are compared alone.

    Args:
        ask: what is wanted, whose words tell which entries are meant.
        condition: the part of it that has to hold first.
        result: of the lookup.
    """
    wanted = _wanted_relation(condition)
    numbers = list(dict.fromkeys(_IN_ASK.findall(condition)))
    fields = _meant_fields(ask, [result])
    if wanted is None or len(numbers) != 1 or len(fields) > MOST_FIELDS:
        return ()
    (number,) = numbers
    count = entry_count(result)
    counted = [] if count is None else [("", "number of entries", str(count))]
    compared = _named_fields(condition, [*fields, *counted])
    forbids = _UNLESS.search(condition) is not None
    return tuple(
        _claim(
            field,
            number,
            acts=(_relation(Decimal(field[2]), Decimal(number)) in wanted) != forbids,
        )
        for field in compared
    )


def _claim(field: tuple[str, str, str], number: str, *, acts: bool) -> Claim:
    label, name, value = field
    text = render(
        f"guided.claim-{_relation(Decimal(value), Decimal(number))}",
        what=f"{label}{name}".replace("_", " "),
        value=value,
        number=number,
    )
    return Claim(text=f"{text}, {render('guided.act' if acts else 'guided.leave')}", acts=acts)


def _wanted_relation(condition: str) -> frozenset[str] | None:
    """Return the relations that fulfil the condition, None where it does not say which."""
    if _NOT.search(condition):
        return None
    found = [relation for pattern, relation in _COMPARATORS if pattern.search(condition)]
    ends = [relation for relation in found if len(relation) > 1] or found
    return frozenset(ends[0]) if len({frozenset(end) for end in ends}) == 1 else None


def _named_fields(
    condition: str, fields: Sequence[tuple[str, str, str]]
) -> Sequence[tuple[str, str, str]]:
    said = _stems(condition.replace("%", " percent "))
    shared = [len(said & _stems(name)) for _, name, _ in fields]
    most = max(shared, default=0)
    return [field for field, count in zip(fields, shared, strict=True) if count == most]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in re.findall(r"[^\W\d_]{3,}", text.casefold())}


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


def standouts(result: str) -> str:
    """Return which entries of a list have most, least, or alone something; empty if none has.

    Whoever asks "which" means one of these, and a small model takes a neighbour for it.
    """
    rows = [_numbered_fields(row) for row in result.splitlines() if _NUMBERED.match(row)]
    labels = [_name_of(row) for row in rows]
    if len(rows) < LEAST_ROWS or not all(labels):
        return ""
    names = [name for name in rows[0] if name != "id" and all(name in row for row in rows)]
    told = [
        sentence
        for name in names
        for sentence in _extremes(name, [row[name] for row in rows], labels)
    ]
    return render("guided.standouts", told="; ".join(told)) if 0 < len(told) <= MOST_TOLD else ""


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
    if len(counts) != _TWO or len(alone) != 1:
        return []
    label = labels[values.index(alone[0])]
    return [render("guided.only", name=name, value=alone[0], label=label)]


def _numbered_fields(row: str) -> dict[str, str]:
    return dict(_ANY_FIELD.findall(_NUMBERED.sub("", row)))


def _name_of(row: Mapping[str, str]) -> str:
    """Return the text that an entry is called by: its first that is no number and no switch."""
    texts = (value for name, value in row.items() if name != "id")
    is_name = (text for text in texts if text not in _SWITCHES and not _NUMBER.fullmatch(text))
    return next(is_name, "")


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
