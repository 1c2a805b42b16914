"""Dates, times of day and durations: read from texts, counted, spelled.

Pure: what "now" is, is handed in. Dates follow the Gregorian calendar, weeks ISO 8601.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, TypeAlias

Amount: TypeAlias = Literal["minutes", "hours", "days", "workdays", "weeks", "months", "years"]
"""What can be added to a moment."""

PATTERN = r"^(now|today|tomorrow|\d{4}-\d\d-\d\d)?( ?\d\d:\d\d)?$"
"""How a model writes a moment; short, since it is part of the prompt."""

_READ = re.compile(
    r"(?P<day>now|today|tomorrow|yesterday|\d{4}-\d{1,2}-\d{1,2})?[t ]*"
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?)?"
)
_DAYS = {"now": 0, "today": 0, "tomorrow": 1, "yesterday": -1}
_MOST = 1_000_000
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A day, a time of day, or both."""

    at: datetime
    """Local and naive; a time alone is that of today."""

    has_date: bool
    has_time: bool

    def spelled(self) -> str:
        """Return it with its weekday, as far as it was said."""
        form = "%A %Y-%m-%d %H:%M" if self.has_time else "%A %Y-%m-%d"
        return self.at.strftime(form if self.has_date else "%H:%M")


def read_moment(text: str, *, now: datetime) -> Moment:
    """Return what the text means.

    Args:
        text: `2026-12-24`, `2026-12-24 18:30`, `18:30`, now, today, tomorrow or yesterday,
            the days also with a time behind them.
        now: the local time.

    Raises:
        ValueError: it is none of these, or no such day.
    """
    match = _READ.fullmatch(" ".join(text.split()).casefold())
    if match is None or not any(match.groups()):
        msg = f'"{text}" is no date or time. Write 2026-12-24, 2026-12-24 18:30 or 18:30.'
        raise ValueError(msg)
    day, hour, minute = match.groups()
    try:
        date_ = _read_day(day, today=now.date())
        clock = time(int(hour), int(minute)) if hour else time()
    except ValueError as error:
        msg = f'"{text}" does not exist: {error}.'
        raise ValueError(msg) from error
    if day == "now" and not hour:
        clock = time(now.hour, now.minute)
    return Moment(
        at=datetime.combine(date_, clock),
        has_date=day is not None,
        has_time=hour is not None or day == "now",
    )


def _read_day(text: str | None, *, today: date) -> date:
    if text is None or text in _DAYS:
        return today + timedelta(days=_DAYS.get(text or "", 0))
    return date(*map(int, text.split("-")))


def add(moment: Moment, amount: int, unit: Amount) -> Moment:
    """Return the moment so much later, or earlier for a negative amount.

    A month's or year's end stays an end: 31 January and one month is the last day of February.

    Raises:
        ValueError: the result is outside the calendar, years 1 to 9999.
    """
    if abs(amount) > _MOST:
        msg = f"{amount:,} {unit} are more than can be counted. At most {_MOST:,}."
        raise ValueError(msg)
    try:
        later = _added(moment.at, amount, unit)
    except (OverflowError, ValueError) as error:
        raise ValueError("The result is outside the years 1 to 9999.") from error
    is_clock = unit in {"minutes", "hours"}
    # A time that passes midnight is another day's: the day has to be told then.
    passed = later.date() != moment.at.date()
    return Moment(
        at=later,
        has_date=moment.has_date or not is_clock or passed,
        has_time=moment.has_time or is_clock,
    )


def later(start: Moment, amount: int, unit: Amount) -> str:
    """Return in words what moment is so much later or earlier.

    Raises:
        ValueError: it is outside the calendar.
    """
    found = add(start, amount, unit)
    name = unit.removesuffix("s") if abs(amount) == 1 else unit
    side = "after" if amount >= 0 else "before"
    return f"{found.spelled()} is {abs(amount):,} {name} {side} {start.spelled()}."


def _added(at: datetime, amount: int, unit: Amount) -> datetime:
    match unit:
        case "workdays":
            return _workdays_later(at, amount)
        case "months":
            return _months_later(at, amount)
        case "years":
            return _months_later(at, 12 * amount)
        case _:
            return at + timedelta(**{unit: amount})


def _months_later(at: datetime, months: int) -> datetime:
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return at.replace(year=year, month=month + 1, day=min(at.day, last))


def _workdays_later(at: datetime, count: int) -> datetime:
    """Step over Saturdays and Sundays; from a weekend, the first step lands on a working day."""
    step = 1 if count >= 0 else -1
    weeks, left = divmod(abs(count), 5)
    while at.weekday() >= 5 and count:
        at -= timedelta(days=step)
    at += timedelta(weeks=weeks * step)
    while left:
        at += timedelta(days=step)
        left -= at.weekday() < 5
    return at


def between(start: Moment, end: Moment) -> str:
    """Return how long it is from one to the other, in words and other counts."""
    if not (start.has_time or end.has_time):
        return _days_between(start.at.date(), end.at.date())
    later = end.at
    if not (start.has_date or end.has_date) and later < start.at:
        # 22:00 to 06:30 is over night.
        later += timedelta(days=1)
    minutes = round((later - start.at).total_seconds() / 60)
    if minutes < 0:
        return f"{_minutes(-minutes)} ago: {end.spelled()} is before {start.spelled()}."
    total = f" ({minutes:,} minutes)" if minutes >= 60 else ""
    return f"{_minutes(minutes)}{total} from {start.spelled()} to {end.spelled()}."


def _days_between(first: date, last: date) -> str:
    days = (last - first).days
    if days == 0:
        return "0 days: it is the same day."
    early, late = min(first, last), max(first, last)
    weeks, rest = divmod(abs(days), WEEK_DAYS)
    parts = [f"{abs(days):,} day{_s(abs(days))}"]
    if weeks:
        parts.append(f"{weeks:,} week{_s(weeks)}" + (f" and {rest} day{_s(rest)}" if rest else ""))
    workdays = _workdays(early, late)
    parts.append(f"{workdays:,} working day{_s(workdays)}")
    order = "from" if days > 0 else "back from"
    return f"{', '.join(parts)}, {order} {first:%A %Y-%m-%d} to {last:%A %Y-%m-%d}."


def _workdays(early: date, late: date) -> int:
    """Return Mondays to Fridays after the first day, up to and with the last."""
    weeks, rest = divmod((late - early).days, WEEK_DAYS)
    tail = sum((early + timedelta(days=n)).weekday() < 5 for n in range(1, rest + 1))
    return weeks * 5 + tail


def _minutes(minutes: int) -> str:
    days, rest = divmod(minutes, 24 * 60)
    hours, left = divmod(rest, 60)
    parts = [
        f"{count:,} {name}{_s(count)}"
        for count, name in ((days, "day"), (hours, "hour"), (left, "minute"))
        if count
    ]
    return " ".join(parts) or "0 minutes"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def about(day: date, *, today: date) -> str:
    """Return what the calendar says of a day: weekday, week, how far away it is."""
    year, week, _ = day.isocalendar()
    days = (day - today).days
    away = {0: "today", 1: "tomorrow", -1: "yesterday"}.get(
        days, f"in {days:,} days" if days > 0 else f"{-days:,} days ago"
    )
    leap = ", a leap year" if calendar.isleap(day.year) else ""
    return (
        f"{day:%A %Y-%m-%d}, {away}; week {week} of {year}, "
        f"day {day.timetuple().tm_yday} of {day.year}{leap}."
    )
