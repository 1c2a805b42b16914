"""The clock and the calendar, with the clock handed in."""
# ruff: noqa: E501 - a sentence that is expected stands on one line

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.errors import InvalidValue
from goliath_local.toolsets.clock import clock_tools, local_now
from goliath_local.toolsets.moments import Moment, add, between, read_moment
from goliath_local.toolsets.zones import read_zone
from tests.levers import many

NOW = datetime(2026, 11, 30, 7, 15, tzinfo=ZoneInfo("Europe/Berlin"))
TOOLS = {tool.name: tool for tool in clock_tools(lambda: NOW)}


def tell(name: str, **given: Any) -> str:
    return str(TOOLS[name].execute(TOOLS[name].parameters.read(given), None))


@pytest.mark.parametrize(
    ("city", "told"),
    [
        ("here", "Monday 2026-11-30 07:15 (CET), week 49"),
        ("", "Monday 2026-11-30 07:15 (CET), week 49"),
        ("Tokyo", "Monday 2026-11-30 15:15 (JST), week 49"),
        ("new york", "Monday 2026-11-30 01:15 (EST), week 49"),
        ("America/Argentina/Buenos_Aires", "Monday 2026-11-30 03:15 (-03), week 49"),
        ("UTC", "Monday 2026-11-30 06:15 (UTC), week 49"),
    ],
)
def test_the_time_is_told_here_and_elsewhere(city: str, told: str) -> None:
    assert tell("tell_time", city=city) == told


def test_a_city_nobody_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r'no time zone "Londn".*Europe/London'):
        tell("tell_time", city="Londn")


@pytest.mark.parametrize("name", ["CST", "../../etc/passwd", "\0", "Mars", "x" * 3000])
def test_what_is_no_single_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        read_zone(name)


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2026-12-24", "Thursday 2026-12-24, in 24 days; week 52 of 2026, day 358 of 2026."),
        ("today", "Monday 2026-11-30, today; week 49 of 2026, day 334 of 2026."),
        ("2027-01-01", "Friday 2027-01-01, in 32 days; week 53 of 2026, day 1 of 2027."),
        ("2024-02-29", "Thursday 2024-02-29, 1,005 days ago; week 9 of 2024, day 60 of 2024, a leap year."),
    ],
)  # fmt: skip
def test_a_date_is_looked_up(day: str, told: str) -> None:
    assert tell("look_up_date", date=day) == told


@pytest.mark.parametrize(
    ("start", "amount", "unit", "told"),
    [
        ("2026-01-31", 1, "months", "Saturday 2026-02-28 is 1 month after Saturday 2026-01-31."),
        ("2024-02-29", -1, "years", "Tuesday 2023-02-28 is 1 year before Thursday 2024-02-29."),
        ("2026-12-31", 2, "weeks", "Thursday 2027-01-14 is 2 weeks after Thursday 2026-12-31."),
        ("today", 10, "workdays", "Monday 2026-12-14 is 10 workdays after Monday 2026-11-30."),
        ("2026-11-28", 1, "workdays", "Monday 2026-11-30 is 1 workday after Saturday 2026-11-28."),
        ("2026-11-28", -1, "workdays", "Friday 2026-11-27 is 1 workday before Saturday 2026-11-28."),
        ("23:30", 45, "minutes", "Tuesday 2026-12-01 00:15 is 45 minutes after 23:30."),
        ("08:00", 90, "minutes", "09:30 is 90 minutes after 08:00."),
        ("tomorrow 09:00", -1, "hours", "Tuesday 2026-12-01 08:00 is 1 hour before Tuesday 2026-12-01 09:00."),
        ("now", 0, "days", "Monday 2026-11-30 07:15 is 0 days after Monday 2026-11-30 07:15."),
    ],
)  # fmt: skip
def test_a_duration_is_added(start: str, amount: int, unit: str, told: str) -> None:
    assert tell("add_time", start=start, amount=amount, unit=unit) == told


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        ("today", "2026-12-24", "24 days, 3 weeks and 3 days, 18 working days, from Monday 2026-11-30 to Thursday 2026-12-24."),
        ("today", "tomorrow", "1 day, 1 working day, from Monday 2026-11-30 to Tuesday 2026-12-01."),
        ("2026-12-24", "2026-12-17", "7 days, 1 week, 5 working days, back from Thursday 2026-12-24 to Thursday 2026-12-17."),
        ("today", "today", "0 days: it is the same day."),
        ("22:00", "06:30", "8 hours 30 minutes (510 minutes) from 22:00 to 06:30."),
        ("09:00", "09:45", "45 minutes from 09:00 to 09:45."),
        ("now", "2026-12-01 08:00", "1 day 45 minutes (1,485 minutes) from Monday 2026-11-30 07:15 to Tuesday 2026-12-01 08:00."),
        ("now", "today 07:00", "15 minutes ago: Monday 2026-11-30 07:00 is before Monday 2026-11-30 07:15."),
    ],
)  # fmt: skip
def test_the_time_between_two_moments_is_told(start: str, end: str, told: str) -> None:
    assert tell("time_between", start=start, end=end) == told


def test_a_time_is_converted_with_each_places_own_summer_time() -> None:
    summer = tell("convert_time", time="2026-07-01 09:00", from_city="Berlin", to_city="Tokyo")
    assert summer.endswith("Wednesday 2026-07-01 16:00 in Asia/Tokyo.")
    now = tell("convert_time", time="now", from_city="Tokyo", to_city="Los Angeles")
    assert now.startswith("Monday 2026-11-30 15:15 in Asia/Tokyo is Sunday 2026-11-29 22:15")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-02-30", "does not exist: day"),
        ("25:00", "does not exist: hour"),
        ("2026-13-01", "does not exist: month"),
        ("", "is no date or time"),
        ("Christmas", "is no date or time. Write 2026-12-24"),
        ("0000-01-01", "does not exist"),
    ],
)
def test_a_moment_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_moment(text, now=NOW)


@pytest.mark.parametrize(
    ("amount", "unit", "words"),
    [
        (10**6, "years", "outside the years 1 to 9999"),
        (-(10**6), "weeks", "outside the years 1 to 9999"),
        (9000, "years", "outside"),
        (10**12, "minutes", "more than can be counted"),
        (-(10**12), "workdays", "more than can be counted"),
    ],
)
def test_a_result_outside_the_calendar_is_refused(amount: int, unit: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tell("add_time", start="today", amount=amount, unit=unit)


def test_the_arguments_hold_a_model_to_the_forms_that_are_read() -> None:
    for good in ("now", "today", "2026-12-24", "2026-12-24 18:30", "18:30", "tomorrow 09:00"):
        assert TOOLS["look_up_date"].parameters.read({"date": good}) == {"date": good}
    with pytest.raises(InvalidValue):
        TOOLS["look_up_date"].parameters.read({"date": "next Friday"})


DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@settings(max_examples=many(30), deadline=None)
@given(DAYS, DAYS)
def test_working_days_are_counted_as_one_by_one(one: date, other: date) -> None:
    early, late = sorted((one, min(other, one + timedelta(days=400))))
    late = min(late, early + timedelta(days=400))
    moment = [read_moment(day.isoformat(), now=NOW) for day in (early, late)]
    each = (early + timedelta(days=n) for n in range(1, (late - early).days + 1))
    count = sum(day.weekday() < 5 for day in each)
    told = between(*moment)
    if early == late:
        assert told.startswith("0 days")
    else:
        assert f" {count} working day" in told
    weekday = early.weekday() < 5
    if weekday and late.weekday() < 5:
        assert add(moment[0], count, "workdays").at == moment[1].at


@settings(max_examples=many(30), deadline=None)
@given(DAYS, st.integers(-600, 600))
def test_months_there_and_back_lose_at_most_the_end_of_a_month(day: date, months: int) -> None:
    start = Moment(at=datetime.combine(day, datetime.min.time()), has_date=True, has_time=False)
    back = add(add(start, months, "months"), -months, "months").at.date()
    assert (back.year, back.month) == (day.year, day.month)
    assert back.day == day.day or (day.day > 28 and back.day >= 28)


def test_the_clock_of_this_machine_has_a_zone() -> None:
    assert local_now().tzinfo is not None
