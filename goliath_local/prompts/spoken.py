"""Times and amounts that are said in words, in numbers.

Pure. "Half a litre" was seen to be logged as 50 ml, and "ten to six" to be 10:06. In the languages
of the evals that are written in Latin letters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from goliath_local.prompts.render import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in {
        1: "one eins ein une una",
        2: "two zwei deux dos",
        3: "three drei trois tres",
        4: "four vier quatre cuatro",
        5: "five fünf cinq cinco",
        6: "six sechs seis",
        7: "seven sieben sept siete",
        8: "eight acht huit ocho",
        9: "nine neun neuf nueve",
        10: "ten zehn dix diez",
        11: "eleven elf onze once",
        12: "twelve zwölf douze doce",
        20: "twenty zwanzig vingt veinte",
        25: "twenty-five fünfundzwanzig vingt-cinq veinticinco",
    }.items()
    for word in words.split()
}
_QUARTERS: Mapping[str, int] = {
    "quarter": 15,
    "viertel": 15,
    "quart": 15,
    "cuarto": 15,
    "half": 30,
    "halb": 30,
    "demie": 30,
    "demi": 30,
    "media": 30,
}
_WORDS = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_HOUR = rf"(?P<hour>{_WORDS}|1[0-2]|[1-9])(?![\d:.%]| ?%)"
_MINUTES = rf"(?P<minutes>{_WORDS}|[1-5]?\d)"
_SIDE = r"(?P<side>past|to|after|before)"
_ALONE = r"(?<!from )(?<!between )\b"
_CLOCK = (
    rf"{_ALONE}(?:a )?(?P<part>quarter|half) {_SIDE} {_HOUR}\b",
    rf"{_ALONE}{_MINUTES} {_SIDE} {_HOUR}\b"
    r"(?! (?:people|persons|days|weeks|minutes|hours|of))",
    rf"\b(?P<half>halb) {_HOUR}\b",
    rf"\b(?P<part>viertel) (?P<side>vor|nach) {_HOUR}\b",
    rf"\b{_MINUTES} (?P<side>vor|nach) {_HOUR}\b",
    rf"\b{_HOUR} heures? (?P<side>et|moins) (?:le )?(?P<part>quart|demie?)\b",
    rf"\b{_HOUR} heures? (?P<side>moins) {_MINUTES}\b",
    rf"\blas? {_HOUR} (?P<side>y|menos) (?:(?P<part>cuarto|media)|{_MINUTES})\b",
)
_TIMES = tuple(re.compile(pattern, re.I) for pattern in _CLOCK)
_BEFORE = frozenset({"to", "before", "vor", "moins", "menos"})

_EARLY = re.compile(
    r"(?i)\b(wake|woken|alarm|get up|breakfast|morning|a\.?m|weck\w*|aufstehen|frühstück|morgens|"
    r"früh|réveil\w*|matin|despi\w+|de la mañana)\b"
)
_LATE = re.compile(
    r"(?i)\b(afternoon|evening|tonight|dinner|p\.?m|nachmittags?|abends?|heute abend|"
    r"après-midi|soir|dîner|de la tarde|de la noche|cena)\b"
)
_WAKING: Final = 7 * 60
"""Minutes of the morning before which an appointment is meant for the afternoon."""

_AMOUNTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?i)\b(?:{pattern})\b"), told)
    for pattern, told in (
        (r"(?:a|one) litre and a half|(?:a|one) liter and a half|one and a half lit(?:re|er)s|"
         r"anderthalb Liter|eineinhalb Liter|un litre et demi|(?:un )?litro y medio", "1500 ml"),
        (r"half (?:a |of a )?lit(?:re|er)|(?:ein(?:en)? )?halbe[rnm]? Liter|(?:un )?demi[- ]litre|"
         r"medio litro", "500 ml"),
        (r"(?:a )?quarter (?:of a )?lit(?:re|er)|Viertelliter|(?:un )?quart de litre|"
         r"cuarto de litro", "250 ml"),
        (r"three quarters of a lit(?:re|er)|dreiviertel Liter", "750 ml"),
        (r"(?:an|one) hour and a half|one and a half hours|anderthalb Stunden|eineinhalb Stunden|"
         r"une heure et demie|(?:una )?hora y media", "90 minutes"),
        (r"three quarters of an hour|(?:eine )?Dreiviertelstunde|trois quarts d['\u2019]heure|"
         r"tres cuartos de hora", "45 minutes"),
        (r"(?:a )?quarter of an hour|(?:eine )?Viertelstunde|(?:un )?quart d['\u2019]heure|"
         r"(?:un )?cuarto de hora", "15 minutes"),
        (r"half an hour|(?:eine )?halbe Stunde|(?:une )?demi[- ]heure|media hora", "30 minutes"),
        (r"half a kilo(?:gram)?|(?:ein )?halbes Kilo|(?:un )?demi[- ]kilo|medio kilo", "500 g"),
        (r"half a dozen|(?:ein )?halbes Dutzend|media docena", "6"),
        (r"(?<!half )a dozen|(?<!halbes )(?:ein )Dutzend|une douzaine|una docena", "12"),
    )
)  # fmt: skip


def spoken(ask: str) -> str:
    """Return the line that says such times and amounts of an ask in numbers, empty without any."""
    told = dict([*_times(ask), *_amounts(ask)])
    lines = "; ".join(f"{said} is {number}" for said, number in told.items())
    return render("guided.spoken", lines=lines) if lines else ""


def _times(ask: str) -> Iterator[tuple[str, str]]:
    for pattern in _TIMES:
        for found in pattern.finditer(ask):
            said = found.groupdict()
            minutes = _minutes(said)
            # `5 to 6` in figures is as likely a range.
            is_range = (said.get("minutes") or "").isdigit() and said["hour"].isdigit()
            if minutes is not None and not is_range:
                yield found[0], _at(minutes, ask)


def _at(minutes: int, ask: str) -> str:
    """Return the time of day: as the ask says, else the one of the two when people are up."""
    morning, evening = (f"{m // 60 % 24:02}:{m % 60:02}" for m in (minutes, minutes + 720))
    is_early, is_late = _EARLY.search(ask) is not None, _LATE.search(ask) is not None
    if is_early != is_late:
        return morning if is_early else evening
    if minutes < _WAKING:
        return evening
    return render("guided.either", morning=morning, evening=evening)


def _minutes(said: Mapping[str, str | None]) -> int | None:
    """Return the minutes since midnight of the morning's time, None when it is none."""
    hour = _number(said["hour"] or "")
    if said.get("half"):
        return hour * 60 - 30 if hour <= 12 else None
    part = said.get("part")
    minutes = _QUARTERS[part.casefold()] if part else _number(said.get("minutes") or "")
    if not 0 < minutes < 60 or not 0 < hour <= 12:
        return None
    is_before = (said.get("side") or "").casefold() in _BEFORE
    return (hour * 60 - minutes if is_before else hour * 60 + minutes) % 720


def _amounts(ask: str) -> Iterator[tuple[str, str]]:
    for pattern, told in _AMOUNTS:
        yield from ((found[0], told) for found in pattern.finditer(ask))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.get(text.casefold(), 0)
