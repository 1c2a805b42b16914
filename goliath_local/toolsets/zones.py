"""Time zones by the names people use: a city, or the name in the tz database.

Edge: looks the names up in the system's tz database, once.
"""

from __future__ import annotations

import difflib
import zoneinfo
from functools import cache

_SHORT = {"utc": "UTC", "gmt": "Etc/GMT", "z": "UTC"}
"""The two abbreviations that mean one zone all year; others, such as CST, mean several."""


def read_zone(name: str) -> zoneinfo.ZoneInfo:
    """Return the zone of a city or tz name.

    Raises:
        ValueError: there is none, or more than one; names the nearest.
    """
    wanted = "_".join(name.split()).casefold()
    if wanted in _SHORT:
        return zoneinfo.ZoneInfo(_SHORT[wanted])
    known = _by_name()
    if not known:
        raise ValueError("This system has no time zones. Install the package tzdata.")
    if wanted in known:
        return zoneinfo.ZoneInfo(known[wanted])
    near = difflib.get_close_matches(wanted, known, n=3)
    cities = " or ".join(known[one] for one in near) or "Europe/Berlin or Tokyo"
    msg = f'There is no time zone "{name}". Name a large city, such as {cities}.'
    raise ValueError(msg)


@cache
def _by_name() -> dict[str, str]:
    """Return the zones by full name and by city, in small letters."""
    names = sorted(zoneinfo.available_timezones())
    cities = {
        name.rpartition("/")[2].casefold(): name
        for name in names
        if "/" in name and not name.startswith(("Etc/", "SystemV/", "US/"))
    }
    return cities | {name.casefold(): name for name in names}
