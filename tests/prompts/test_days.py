"""Which days an ask names, in the languages of the evals."""

from __future__ import annotations

import datetime as dt

import pytest

from goliath_local.prompts.days import bound_in, named_days, one_day, today_in

TODAY = dt.date(2026, 4, 14)
"""A Tuesday."""


def april(*days: int) -> tuple[dt.date, ...]:
    return tuple(dt.date(2026, 4, day) for day in days)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("what's on Saturday?", [18]),
        ("Um wie viel Uhr treffe ich Ivo am Samstag?", [18]),
        ("anything on tomorrow?", [15]),
        ("the day after tomorrow, please", [16]),
        ("Was steht übermorgen an?", [16]),
        ("Weck mich morgen um sieben", [15]),
        ("quoi de prévu vendredi ?", [17]),
        ("et après-demain ?", [16]),
        ("¿qué hay mañana por la mañana?", [15]),
        ("pasado mañana", [16]),
        ("星期五有什么安排？", [17]),
        ("明天呢", [15]),
        ("शनिवार को क्या है?", [18]),
        ("was I out yesterday?", [13]),
        ("move it from Wednesday to Friday", [15, 17]),
        ("tonight at eight", [14]),
        ("Was steht am Freitag an?", [17]),
    ],
)
def test_a_day_that_is_named_is_a_date(text: str, days: list[int]):
    assert named_days(text, TODAY) == april(*days)


@pytest.mark.parametrize(
    "text",
    [
        "next Friday",
        "every Monday",
        "on Tuesday",
        "nächsten Freitag",
        "vendredi prochain",
        "下周五",
        "jeden Morgen um sieben",
        "am Morgen",
        "this one is for the 21st, a Tuesday",
        "on April 21",
        "the day before Friday",
        "Friday week",
        "the sun is out",
        "move it",
        "por la mañana",
        "2026-04-17, a Friday",
        "Put the party on Friday May 8",
        "Ponlo el viernes 24",
        "Set a reminder three days from today",
        "Heute in einem Monat",
        "Push tomorrow's call back by two days",
        "Termin übernächsten Freitag",
        "vendredi en huit",
        "Wie ist das Wetter hier?",
        "Add “Friday I'm in Love” to my playlist",
        "20 euros at TGI Fridays",
        "从今天起三天后提醒我",
        "since Monday",
        "guten Morgen",
    ],
)
def test_what_may_mean_another_day_or_none_is_left(text: str):
    assert named_days(text, TODAY) == ()


def test_one_day_is_told_where_nothing_stands_before_or_after_it():
    assert one_day("book it for Thursday", TODAY) == dt.date(2026, 4, 16)
    assert one_day("is there anything before Thursday?", TODAY) is None
    assert one_day("from Thursday to Friday", TODAY) is None


@pytest.mark.parametrize(
    ("condition", "day", "relations"),
    [
        ("if the books are due before Friday", 17, {"less"}),
        ("wenn die Bücher vor Freitag fällig sind", 17, {"less"}),
        ("si c'est après vendredi", 17, {"more"}),
        ("if it is due by Friday", 17, {"less", "equal"}),
        ("if it is due tomorrow", 15, {"equal"}),
        ("if the meeting given by Tom is on Friday", 17, {"equal"}),
    ],
)
def test_a_condition_says_how_a_date_stands_to_a_day(
    condition: str, day: int, relations: set[str]
):
    found = bound_in(condition, TODAY)
    assert found is not None
    assert (found.day, found.relations) == (dt.date(2026, 4, day), relations)


@pytest.mark.parametrize(
    "condition",
    [
        "if it rains",
        "if it is between Thursday and Friday",
        "if the invoice was sent on Monday",
        "if the meeting is on Friday after work",
    ],
)
def test_a_condition_without_one_day_says_nothing(condition: str):
    assert bound_in(condition, TODAY) is None


@pytest.mark.parametrize("value", ["Tuesday", "2026-14-04", ""])
def test_a_fact_that_is_no_date_says_no_day(value: str):
    assert today_in({"today": value}) is None
    assert today_in({"Today": "Tuesday 2026-04-14"}) == TODAY
