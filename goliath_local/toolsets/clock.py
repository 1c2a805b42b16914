"""The tool set `clock`: what time it is, and reckoning with dates and times.

Edge: reads the clock that it is handed.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import Field

from goliath_local.tools import define_tool, tool
from goliath_local.toolsets.moments import (
    PATTERN,
    Amount,
    Moment,
    about,
    between,
    later,
    read_moment,
)
from goliath_local.toolsets.zones import read_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goliath_local.tools import Tool

Clock: TypeAlias = "Callable[[], datetime]"
When = Annotated[str, Field(pattern=PATTERN)]
_FORM = "%A %Y-%m-%d %H:%M"
_HOW = "2026-12-24, 2026-12-24 18:30, 18:30, now or today"


def local_now() -> datetime:
    """Return the time here, with its zone."""
    return datetime.now().astimezone()


def clock_tools(now: Clock = local_now) -> tuple[Tool, ...]:
    """Return `tell_time`, `look_up_date`, `add_time`, `time_between` and `convert_time`."""
    return (_tell_time(now), *_reckoning(now), _convert_time(now))


def _tell_time(now: Clock) -> Tool:
    def execute(given: Mapping[str, Any], _context: object) -> str:
        city = given["city"].strip()
        here = now()
        there = here if city.casefold() in {"", "here"} else here.astimezone(read_zone(city))
        return f"{there.strftime(_FORM)} ({there.tzname()}), week {there.isocalendar().week}"

    return define_tool(
        name="tell_time",
        description="Tell the date, weekday and time now, here or in another city.",
        parameters={
            "type": "object",
            "properties": {
                "city": {
                    "type": "string",
                    "maxLength": 60,
                    "description": "a large city such as Tokyo; here for this place",
                }
            },
            "required": ["city"],
            "additionalProperties": False,
        },
        execute=execute,
        idempotent=False,
    )


def _reckoning(now: Clock) -> tuple[Tool, ...]:
    def moment(text: str) -> Moment:
        return read_moment(text, now=now())

    @tool
    def look_up_date(date: When) -> str:
        """Tell the weekday and week of a date, and how many days away it is.

        Args:
            date: such as 2026-12-24
        """
        return about(moment(date).at.date(), today=now().date())

    @tool
    def add_time(start: When, amount: int, unit: Amount) -> str:
        """Add a duration to a date or time, or take it away.

        Args:
            start: 2026-12-24, 2026-12-24 18:30, 18:30, now or today
            amount: how many; negative for earlier
            unit: of what
        """
        begins = moment(start)
        return later(begins, amount, unit)

    @tool
    def time_between(start: When, end: When) -> str:
        """Tell how long it is from one date or time to another.

        Args:
            start: 2026-12-24, 2026-12-24 18:30, 18:30, now or today
            end: the same
        """
        return between(moment(start), moment(end))

    return (look_up_date, add_time, time_between)


def _convert_time(now: Clock) -> Tool:
    def execute(given: Mapping[str, Any], _context: object) -> str:
        here, there = read_zone(given["from_city"]), read_zone(given["to_city"])
        then = read_moment(given["time"], now=now().astimezone(here)).at.replace(tzinfo=here)
        moved = then.astimezone(there)
        return f"{then.strftime(_FORM)} in {here.key} is {moved.strftime(_FORM)} in {there.key}."

    city = {"type": "string", "maxLength": 60}
    return define_tool(
        name="convert_time",
        description="Tell what a time in one city is in another city.",
        parameters={
            "type": "object",
            "properties": {
                "time": {"type": "string", "pattern": PATTERN, "description": _HOW},
                "from_city": city | {"description": "whose time it is"},
                "to_city": city | {"description": "where it is wanted"},
            },
            "required": ["time", "from_city", "to_city"],
            "additionalProperties": False,
        },
        execute=execute,
    )
