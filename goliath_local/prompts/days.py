"""Which days a text names, as dates.

Pure. A 1.5B model was shown the next days one a line and still took the date of another line. A
weekday, or a word like "tomorrow", mostly means one date, and plain code knows which. What may be
read in two ways (next Friday, the day before Friday, the 21st) is left to the model.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    r"\bmonday\b|\bmontag\b|\blundi\b|\blunes\b|(?:周|星期|礼拜)一|सोमवार",
    r"\b(?:tuesday|tues)\b|\bdienstag\b|\bmardi\b|\bmartes\b|(?:周|星期|礼拜)二|मंगलवार",
    r"\b(?:wednesday|wed)\b|\bmittwoch\b|\bmercredi\b|\bmiércoles\b|(?:周|星期|礼拜)三|"
    r"बुधवार",
    r"\b(?:thursday|thurs?)\b|\bdonnerstag\b|\bjeudi\b|\bjueves\b|(?:周|星期|礼拜)四|"
    r"गुरुवार|बृहस्पतिवार",
    r"\b(?:friday|fri)\b|\bfreitag\b|\bvendredi\b|\bviernes\b|(?:周|星期|礼拜)五|शुक्रवार",
    r"\bsaturday\b|\b(?:samstag|sonnabend)\b|\bsamedi\b|\bsábado\b|(?:周|星期|礼拜)六|"
    r"शनिवार",
    r"\bsunday\b|\bsonntag\b|\bdimanche\b|\bdomingo\b|(?:周|星期|礼拜)[日天]|रविवार|इतवार",
)
_BY_DISTANCE: Final[Mapping[int, str]] = {
    2: r"\b(?:the )?day after tomorrow\b|\bübermorgen\b|\baprès-demain\b|\bpasado mañana\b|后天",
    1: r"\btomorrow\b|"
    r"(?<!heute )(?<!gestern )(?<!am )(?<!jeden )(?<!guten )(?<!diesen )\bmorgen\b|"
    r"\bdemain\b|(?<!la )(?<!esta )(?<!cada )\bmañana\b|明[天早晚]",
    0: r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|\bheute\b|"
    r"\baujourd['\u2019]hui\b|"
    r"\bce (?:soir|matin)\b|\bhoy\b|\besta (?:noche|tarde|mañana)\b|今[天早晚]|आज",
    -1: r"\byesterday\b|\bgestern\b|\bayer\b|昨天",
}
"""Words by how many days away they are; longer ones first, since they contain the others."""

_OPEN: Final = re.compile(
    r"(?i)\b(?:next|last|following|other|every|each|weekly|since|until|\w*nächst\w*|letzt\w*|vorig\w*|"
    r"jede\w*|seit|prochaine?s?|derni[eè]re?s?|chaque|tous les|depuis|en huit|próxim[oa]s?|"
    r"pasad[oa]s? (?!mañana)|cada|todos los|desde|day before|day after (?!tomorrow)|"
    r"tag (?:vor|nach)|from (?:today|tomorrow)|fortnight|"
    r"days?(?! after tomorrow)|weeks?|months?|tage?n?|woche\w*|monate?n?|jours?|semaines?|mois|"
    r"días?|semanas?|mes(?:es)?)\b|"
    r"[上下每]个?(?:周|星期|礼拜)|天[后前]|个月|自从|以来|अगले|पिछले|हर"
)
"""What makes a day another one, or more than one."""

_CALENDAR: Final = re.compile(
    r"(?i)\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}\.(?=\s|$)|\b\d{1,2}[./]\d{1,2}\b|\d+ ?[月号]|"
    r"\bmay \d|\d (?:of )?may\b|"
    r"day,? (?:the )?\d{1,2}\b(?! ?(?:[ap]\.?m|:|o.clock))|"
    r"\b(?:vendredi|lundi|mardi|mercredi|jeudi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|"
    r"sábado|domingo) \d{1,2}\b(?! ?h)|"
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|"
    r"apr|aug|sept?|oct|nov|dec|januar|februar|märz|juni|juli|oktober|dezember|janvier|février|mars|"
    r"avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|"
    r"junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
)
"""A date that is told by its number."""

_QUOTED: Final = re.compile(r"[\"“„«][^\"”“»]*[\"”“»]|(?<!\w)['\u2018][^'\u2019]*['\u2019](?!\w)")

_LATER: Final = r"after|later than|past|nach|später als|après|después del?|tras"
_EARLIER: Final = r"before|earlier than|vor|früher als|avant|antes del?"
_UNTIL: Final = r"by|bis|d['\u2019]ici|para el"
_RELATION: Final = re.compile(
    rf"(?i)\b(?:(?P<more>{_LATER})|(?P<less>{_EARLIER})|(?P<until>{_UNTIL})) "
    r"(?:the |this |dem |den |le |el )?$"
)
"""What says, right before a day, how a date is to stand to it."""

_RELATIVE: Final = re.compile(rf"(?i)\b(?:{_LATER}|{_EARLIER})\b|之[前后]|以[前后]|से पहले|के बाद")
_OVER: Final = re.compile(r"(?i)\b(?:was|were|had|did|wurden?|waren|hatte|étai\w+|fue|estaba)\b")
"""What says that a condition is of a day that is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a condition says of a day."""

    day: dt.date
    relations: frozenset[str]
    """`less` is before it, `equal` on it, `more` after it."""

    is_related: bool
    """A word right before the day says so; otherwise the day is only named."""


def today_in(facts: Mapping[str, str]) -> dt.date | None:
    """Return the day that a fact says it is, None where none does."""
    said = next((facts[key] for key in facts if key.casefold() in DAY_FACTS), "")
    found = _DATE.search(said)
    try:
        return dt.date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


def named_days(text: str, today: dt.date) -> tuple[dt.date, ...]:
    """Return the days that a text names, in order of time, none where one may be meant otherwise.

    A weekday is the next one of its name; the name of today may mean today or a week from it, so
    it is not judged. What stands in quotation marks may be a title.
    """
    return tuple(sorted({day for day, _ in _found(text, today)}))


def one_day(text: str, today: dt.date) -> dt.date | None:
    """Return the day on which something is to be, None where the text does not plainly say one."""
    days = named_days(text, today)
    return days[0] if len(days) == 1 and not _RELATIVE.search(text) else None


def bound_in(condition: str, today: dt.date) -> Bound | None:
    """Return what a condition asks of a day, None where it does not plainly ask it of one."""
    found = _found(condition, today)
    if len(found) != 1 or _OVER.search(condition):
        return None
    ((day, start),) = found
    relation = _RELATION.search(condition[:start])
    if relation is None:
        if _RELATIVE.search(condition):
            return None
        return Bound(day=day, relations=frozenset({"equal"}), is_related=False)
    name = relation.lastgroup or ""
    relations = {"less", "equal"} if name == "until" else {name}
    return Bound(day=day, relations=frozenset(relations), is_related=True)


def _found(text: str, today: dt.date) -> list[tuple[dt.date, int]]:
    """Return each day that a text names, and where; empty where one of them is not plain."""
    text = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)
    if _OPEN.search(text) or _CALENDAR.search(text) or _DATE.search(text):
        return []
    found: list[tuple[dt.date, int]] = []
    for distance, words in _BY_DISTANCE.items():
        for match in re.finditer(rf"(?i){words}", text):
            found.append((today + dt.timedelta(days=distance), match.start()))
            # The longer words contain the shorter ones, which are looked for next.
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    for weekday, words in enumerate(_WEEKDAY_WORDS):
        ahead = (weekday - today.weekday()) % _WEEK
        for match in re.finditer(rf"(?i){words}", text):
            if not ahead:
                return []
            found.append((today + dt.timedelta(days=ahead), match.start()))
    return found
