"""Which days a text names, as dates.

Pure. A 1.5B model was shown the next days one a line and still took the date of another line. A
weekday, or a word like "tomorrow", means one date, and plain code knows which. What may be read in
two ways (next Friday, the day before Friday, the 21st) is left to the model.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DAY_FACTS: Final = frozenset({"today", "date", "now"})
"""Facts that say which day it is."""

WEEKDAYS: Final = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)

_WEEK: Final = 7
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_WEEKDAY_WORDS: Final = (
    r"\bmondays?\b|\bmontags?\b|\blundis?\b|\blunes\b|(?:周|星期|礼拜)一|सोमवार",
    r"\b(?:tuesdays?|tues?)\b|\bdienstags?\b|\bmardis?\b|\bmartes\b|(?:周|星期|礼拜)二|मंगलवार",
    r"\b(?:wednesdays?|weds?)\b|\bmittwochs?\b|\bmercredis?\b|\bmiércoles\b|(?:周|星期|礼拜)三|"
    r"बुधवार",
    r"\b(?:thursdays?|thurs?)\b|\bdonnerstags?\b|\bjeudis?\b|\bjueves\b|(?:周|星期|礼拜)四|"
    r"गुरुवार|बृहस्पतिवार",
    r"\b(?:fridays?|fri)\b|\bfreitags?\b|\bvendredis?\b|\bviernes\b|(?:周|星期|礼拜)五|शुक्रवार",
    r"\bsaturdays?\b|\b(?:samstags?|sonnabends?)\b|\bsamedis?\b|\bsábados?\b|(?:周|星期|礼拜)六|"
    r"शनिवार",
    r"\bsundays?\b|\bsonntags?\b|\bdimanches?\b|\bdomingos?\b|(?:周|星期|礼拜)[日天]|रविवार|इतवार",
)
_BY_DISTANCE: Final[Mapping[int, str]] = {
    2: r"\b(?:the )?day after tomorrow\b|\bübermorgen\b|\baprès-demain\b|\bpasado mañana\b|后天",
    1: r"\btomorrow\b|"
    r"(?<!heute )(?<!gestern )(?<!am )(?<!jeden )(?<!guten )(?<!diesen )\bmorgen\b|"
    r"\bdemain\b|(?<!la )(?<!esta )(?<!cada )\bmañana\b|明[天早晚]",
    0: r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|\bheute\b|"
    r"\baujourd['\u2019]hui\b|"
    r"\bce (?:soir|matin)\b|\bhoy\b|\besta (?:noche|tarde|mañana)\b|今[天早晚]|आज",
    -1: r"\byesterday\b|\bgestern\b|\bhier\b|\bayer\b|昨天",
}
"""Words by how many days away they are; longer ones first, since they contain the others."""

_OPEN: Final = re.compile(
    r"(?i)\b(?:next|last|following|other|every|each|weekly|nächst\w*|letzt\w*|vorig\w*|jede\w*|"
    r"prochaine?s?|derni[eè]re?s?|chaque|tous les|próxim[oa]s?|pasad[oa]s? (?!mañana)|cada|"
    r"todos los|day before|day after (?!tomorrow)|tag (?:vor|nach)|week|weeks|woche\w*|semaines?|"
    r"semanas?)\b|[上下每]个?(?:周|星期|礼拜)|अगले|पिछले|हर"
)
"""What makes a day another one, or more than one."""

_CALENDAR: Final = re.compile(
    r"(?i)\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}\.(?=\s|$)|\b\d{1,2}[./]\d{1,2}\b|\d+ ?[月号]|"
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?:[a-z]*\b)|"
    r"\b(?:januar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|"
    r"septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|"
    r"septiembre|octubre|noviembre|diciembre)\b"
)
"""A date that is told by its number."""

_PAST: Final = re.compile(
    r"(?i)\b(?:did|was|were|had|went|slept|ago|gestern|war|waren|hatte|"
    r"hab(?:e|en) (?:ich|wir)|bin ich|étai\w+|ai-je|avons|j['\u2019]ai|hice|fue|fui|estuve|tuve|"
    r"anduve|dormí|caminé)\b|了|था|थे|थी|चला|किया"
)
"""What says that the day is over."""

_LATER = re.compile(
    r"(?i)\b(?:after|later than|past|nach|später als|après|después de|tras)\b|之后|以后|के बाद"
)
_EARLIER = re.compile(
    r"(?i)\b(?:before|earlier than|vor|früher als|avant|antes del?)\b|之前|以前|से पहले"
)
_UNTIL = re.compile(r"(?i)\b(?:by|until|till|bis|d['\u2019]ici|jusqu\w*|hasta|para el)\b|截止|तक")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a condition says of a day."""

    day: dt.date
    relations: frozenset[str]
    """`less` is before it, `equal` on it, `more` after it."""


def today_in(facts: Mapping[str, str]) -> dt.date | None:
    """Return the day that a fact says it is, None where none does."""
    said = next((facts[key] for key in facts if key.casefold() in DAY_FACTS), "")
    found = _DATE.search(said)
    try:
        return dt.date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def named_days(text: str, today: dt.date, *, is_over: bool = False) -> tuple[dt.date, ...]:
    """Return the days that a text names, in order of time, none where one may be meant otherwise.

    A weekday is the next one of its name, or the last one where it is of what was; the name of
    today may mean today or a week from it, so it is not judged.

    Args:
        text: an ask, or a part of one.
        today: the day it is.
        is_over: it speaks of what was (see `is_past`).
    """
    if _OPEN.search(text) or _CALENDAR.search(text) or _DATE.search(text):
        return ()
    days: set[dt.date] = set()
    for day, rest in _spoken(text, today, is_over=is_over):
        text = rest
        if day is None:
            return ()
        days.add(day)
    return tuple(sorted(days))


def is_past(text: str) -> bool:
    """Return whether a text speaks of what was."""
    return _PAST.search(text) is not None


def one_day(text: str, today: dt.date, *, is_over: bool = False) -> dt.date | None:
    """Return the day on which something is to be, None where the text does not plainly say one."""
    days = named_days(text, today, is_over=is_over)
    is_relative = _EARLIER.search(text) or _LATER.search(text)
    return days[0] if len(days) == 1 and not is_relative else None


def bound_in(condition: str, today: dt.date) -> Bound | None:
    """Return what a condition asks of a day, None where it does not plainly ask it of one."""
    days = named_days(condition, today)
    if len(days) != 1:
        return None
    relations = {"less"} if _EARLIER.search(condition) else set()
    relations |= {"more"} if _LATER.search(condition) else set()
    if _UNTIL.search(condition):
        relations |= {"less", "equal"}
    if len(relations) == 2 and "equal" not in relations:
        return None
    return Bound(day=days[0], relations=frozenset(relations or {"equal"}))


def _spoken(text: str, today: dt.date, *, is_over: bool) -> Iterator[tuple[dt.date | None, str]]:
    """Yield each day that is named, None for one that is not plain, and the text without it."""
    for distance, words in _BY_DISTANCE.items():
        text, times = re.subn(rf"(?i){words}", " ", text)
        if times:
            yield today + dt.timedelta(days=distance), text
    for weekday, words in enumerate(_WEEKDAY_WORDS):
        text, times = re.subn(rf"(?i){words}", " ", text)
        if times:
            ahead = (weekday - today.weekday()) % 7
            if ahead and is_over:
                ahead -= _WEEK
            yield today + dt.timedelta(days=ahead) if ahead else None, text
