"""Does a condition with a number or a day hold? Told as true sentences, and what each leads to.

Pure. A 1.5B model was seen to find 22.5 degrees colder than 20, and to act on it. So where plain
code can tell, the model only says which number of a result the condition is about. Whatever is
not plain is left to it: a condition that is negated, joined, repeated or counted, another unit, a
shortened result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.prompts.compare import entry_count, fields_of, name_of
from goliath_local.prompts.conditions import (
    condition_of,
    has_one_condition,
    is_exception,
    wants_to_be_told,
    without_idle_case,
)
from goliath_local.prompts.days import WEEKDAYS, Bound, bound_in
from goliath_local.prompts.known import stems_of, words_of
from goliath_local.prompts.render import render

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

MOST_FIELDS = 12
"""A result with more numbers is left to the model."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_THRESHOLD = re.compile(
    r"(?<![A-Za-z\d_:.,/-])(\d+(?:\.\d{1,2})?)(?![\d:/-]|[.,]\d)\s?([^\W\d_]*)"
)
"""A number of a condition, and the word behind it."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]*)?")
_LARGE = re.compile(r"(?i)k|thousand|millions?|tausend|millionen?|mille|mil|millones|万|千|百")
_BELOW_ZERO = re.compile(r"(?i)\b(minus|negative|moins|menos)\s*\d|零下|below zero")
_TURNED_ROUND = re.compile(
    r"(?i)\b(no|not|cannot|never|nobody|nothing|none|without|kein\w*|nicht\w?|nie|niemals|ohne|pas|ne|"
    r"jamais|rien|sans|nunca|nada|sin|leave|skip|keep|lass|lassen|laisse|deja)\b|n['\u2019]t\b|不(?!到)|没|नहीं|(?<![\w\u0900-\u0963])मत(?![\w\u0900-\u0963])"
)
"""What turns a condition, or what depends on it, into its contrary."""

_JOINED = re.compile(
    r"(?i)\b(and|or|und|oder|et|ou|y|o|total|together|average|altogether|zusammen|insgesamt|"
    r"all|every|each|both|any|anything|something|one|alle|jed\w+|beide|tous|toutes|chaque|todos|todas|cada)\b|"
    r"且|或|都|(?<![\w\u0900-\u0963])(?:और|या)(?![\w\u0900-\u0963])"
)
"""What asks for more than one comparison."""

_STRICT_LESS = (
    r"below|under|less|fewer|lower|colder|cooler|smaller|shorter|cheaper|quieter|dimmer|darker|"
    r"emptier|unter|weniger|niedriger|kälter|kleiner|kürzer|billiger|leiser|dunkler|"
    r"leerer|moins|en dessous|inférieur\w*|plus froid|plus bas|menos|"
    r"menor|por debajo|bajo|más frío"
)
_STRICT_MORE = (
    r"above|over|exceeds?|more|higher|warmer|hotter|greater|larger|longer|bigger|dearer|louder|"
    r"brighter|über|mehr|höher|wärmer|größer|länger|teurer|lauter|"
    r"heller|au-dessus|dépasse|supérieur\w*|plus|por encima|"
    r"mayor|más|supera"
)
_COMPARATORS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (
        re.compile(
            rf"(?i)\b(at most|höchstens|au plus|como máximo|(?:{_STRICT_LESS}) than or equal|"
            rf"(?:or|oder|ou|o) (?:{_STRICT_LESS}))\b|至多|最多"
        ),
        frozenset({"less", "equal"}),
    ),
    (
        re.compile(
            rf"(?i)\b(at least|mindestens|au moins|al menos|por lo menos|"
            rf"(?:{_STRICT_MORE}) than or equal|(?:or|oder|ou|o) (?:{_STRICT_MORE}))\b|至少"
        ),
        frozenset({"more", "equal"}),
    ),
    (
        re.compile(rf"(?i)\b({_STRICT_LESS})\b|低于|少于|小于|不到|से कम"),
        frozenset({"less"}),
    ),
    (
        re.compile(rf"(?i)\b({_STRICT_MORE})\b|高于|超过|多于|大于|से (?:ज़्यादा|अधिक|ऊपर)"),
        frozenset({"more"}),
    ),
)
"""How a number has to stand to another. What one has found, the next ones do not see."""

_COUNTED = re.compile(
    r"(?i)\b(there (?:is|are)|how many|number of|es gibt|gibt es|il y a|hay)\b|有|हैं"
)
"""What asks how many entries there are."""

_UNITS: Mapping[str, str] = {
    unit: kind
    for kind, units in {
        "min": "minute minutes min mins minuten minuto minutos",
        "h": "hour hours h hrs stunde stunden heure heures hora horas",
        "day": "day days tag tage tagen jour jours día días",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "tb": "tb",
        "m": "m meter meters metre metres",
        "km": "km",
        "g": "g gram grams gramm",
        "kg": "kg",
        "cent": "cent cents",
        "euro": "euro euros eur",
    }.items()
    for unit in units.split()
}
"""Words for units, by which two figures are told to be of different ones."""

_SIGNS: Mapping[str, str] = {"more": ">", "less": "<", "equal": "="}

Field: TypeAlias = tuple[str, str, str]
"""What an entry is called, the name of one of its fields, and the number in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is true of a result, and what follows from it for a conditional change."""

    text: str
    acts: bool
    """The change is to be made."""

    finding: str
    """The comparison alone."""

    signs: str
    """The same without words of a language, for example `level: 8 < 20`."""


def claims(ask: str, result: str, *, today: dt.date | None = None) -> tuple[Claim, ...]:
    """Return the sentences that compare the numbers of a result with the one of a condition.

    Or its dates with the day of the condition. Empty where code cannot tell. Fields that the
    condition names are compared alone.

    Args:
        ask: a change that depends on something.
        result: of the lookup, as the model sees it.
        today: the day it is, None where no fact says so: then no dates are compared.
    """
    if wants_to_be_told(ask):
        return ()  # there is no change that could follow
    ask = without_idle_case(ask)
    condition = condition_of(ask)
    threshold = _threshold(condition)
    if threshold is None and today is not None:
        bound = bound_in(condition, today)
        return _date_claims(ask, condition, result, bound) if bound is not None else ()
    wanted = _wanted_relation(condition)
    if threshold is None or wanted is None or not _is_plain(ask, condition):
        return ()
    number, unit = threshold
    fields = _compared_fields(ask, condition, result)
    if not 0 < len(fields) <= MOST_FIELDS or any(_differs(name, unit) for _, name, _ in fields):
        return ()
    forbids = is_exception(condition)
    return tuple(
        _claim(field, number, acts=(_relation(field, number) in wanted) != forbids)
        for field in fields
    )


def _date_claims(ask: str, condition: str, result: str, bound: Bound) -> tuple[Claim, ...]:
    """Return the sentences that compare the dates of a result with the day of the condition."""
    if not _is_plain(ask, condition) or _JOINED.search(condition) or _COUNTED.search(condition):
        return ()
    rows, count = fields_of(result), entry_count(result)
    if count is None or count != len(rows):
        return ()
    named = [row for row in rows if _is_named(row, ask)]
    said = stems_of(condition)
    fields = [
        (name_of(row), name, value)
        for row in named or rows
        for name, value in row.items()
        # A day that is only named may be when it rains, and not what a date has to be.
        if _is_date(value) and (bound.is_related or said & stems_of(name))
    ]
    if not 0 < len(fields) <= MOST_FIELDS:
        return ()
    forbids = is_exception(condition)
    day = f"{WEEKDAYS[bound.day.weekday()]} {bound.day.isoformat()}"
    return tuple(
        _date_claim(
            field, bound, day, acts=(_date_relation(field, bound) in bound.relations) != forbids
        )
        for field in fields
    )


def _is_date(value: str) -> bool:
    return _DATE.fullmatch(value) is not None


def _date_claim(field: Field, bound: Bound, day: str, *, acts: bool) -> Claim:
    label, name, value = field
    text = render(
        f"guided.claim-date-{_date_relation(field, bound)}",
        what=f"{label} {name}".replace("_", " "),
        value=value,
        day=day,
    )
    shown = f"{label} {name}: {value} {_SIGNS[_date_relation(field, bound)]} {bound.day}"
    return _told(text, acts=acts, signs=shown)


def _date_relation(field: Field, bound: Bound) -> str:
    value = field[2][:10]
    if value == bound.day.isoformat():
        return "equal"
    return "more" if value > bound.day.isoformat() else "less"


def _is_plain(ask: str, condition: str) -> bool:
    is_turned = _TURNED_ROUND.search(ask) or _BELOW_ZERO.search(condition)
    return has_one_condition(ask) and not is_turned


def _threshold(condition: str) -> tuple[str, str] | None:
    """Return the one number of the condition and the word behind it."""
    found = _THRESHOLD.findall(condition)
    if len(found) != 1 or len(re.findall(r"\d+", condition)) > len(found[0][0].split(".")):
        return None
    number, unit = found[0]
    return None if _LARGE.fullmatch(unit) else (number, unit.casefold())


def _wanted_relation(condition: str) -> frozenset[str] | None:
    """Return the relations that fulfil the condition, None where it does not say one of them."""
    found = []
    for pattern, relation in _COMPARATORS:
        condition, times = pattern.subn(" ", condition)
        found += [relation] * times
    return found[0] if len(found) == 1 and not _JOINED.search(condition) else None


def _compared_fields(ask: str, condition: str, result: str) -> Sequence[Field]:
    rows = fields_of(result)
    count = entry_count(result)
    if count is not None and count != len(rows):
        return ()  # a shortened list
    if _COUNTED.search(condition):
        return [("", render("guided.entries"), str(count))] if count is not None else ()
    named = [row for row in rows if _is_named(row, ask)] if count is not None else []
    meant = named or rows
    figures = [
        (f"{name_of(row)} " if count is not None else "", name, value)
        for row in meant
        for name, value in row.items()
        if name != "id" and any(letter.isdigit() for letter in value) and not _is_date(value)
    ]
    fields = _most_named(condition, figures)
    # A figure with its unit written out, or a time, cannot be compared here, and may be the one.
    return fields if all(_NUMBER.fullmatch(value) for _, _, value in fields) else ()


def _most_named(condition: str, fields: Sequence[Field]) -> Sequence[Field]:
    said = stems_of(condition.replace("%", " percent "))
    shared = [len(said & stems_of(name)) for _, name, _ in fields]
    most = max(shared, default=0)
    return [field for field, count in zip(fields, shared, strict=True) if count == most]


def _is_named(row: Mapping[str, str], ask: str) -> bool:
    words = words_of(ask)
    return any(words_of(value) & words for value in row.values())


def _differs(name: str, unit: str) -> bool:
    """Return whether the field's name ends in another unit than the one that was said."""
    own = _UNITS.get(name.rpartition("_")[2].casefold())
    return own is not None and unit in _UNITS and _UNITS[unit] != own


def _claim(field: Field, number: str, *, acts: bool) -> Claim:
    label, name, value = field
    text = render(
        f"guided.claim-{_relation(field, number)}",
        what=f"{label}{name}".replace("_", " "),
        value=value,
        number=number,
    )
    shown = f"{label}{name}: {value} {_SIGNS[_relation(field, number)]} {number}"
    return _told(text, acts=acts, signs=shown)


def _told(text: str, *, acts: bool, signs: str) -> Claim:
    follows = render("guided.act" if acts else "guided.leave")
    shown = signs.replace("_", " ").strip()
    return Claim(text=f"{text}, {follows}", acts=acts, finding=text, signs=shown)


def _relation(field: Field, number: str) -> str:
    value, threshold = Decimal(field[2]), Decimal(number)
    if value == threshold:
        return "equal"
    return "more" if value > threshold else "less"
