"""The sizes that `create_filesystem` takes, and which tools it gives.

Pure. Source: behaviour spec, section 8.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READ_TOOLS = ("glob", "grep", "read_file")
WRITE_TOOLS = ("write_file", "edit_file", "delete_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one call reads or searches."""

    max_lines: int = 200
    default_lines: int = 25
    max_matches: int = 10
    max_files: int = 128


def read_limits(read: Mapping[str, int] | None, search: Mapping[str, int] | None) -> Limits:
    """Return the limits, defaults filled in.

    Raises:
        ConfigError: an option is unknown, or out of its range.
    """
    read, search = read or {}, search or {}
    _verify_known("read", read, ("max_lines", "default_lines"))
    _verify_known("search", search, ("max_matches", "max_files"))
    max_lines = _within("read.max_lines", read.get("max_lines", 200), most=1000)
    default_lines = read.get("default_lines", min(25, max_lines))
    return Limits(
        max_lines=max_lines,
        default_lines=_within("read.default_lines", default_lines, most=max_lines),
        max_matches=_within("search.max_matches", search.get("max_matches", 10), most=100),
        max_files=_within("search.max_files", search.get("max_files", 128), most=1024),
    )


def read_tool_names(names: Sequence[str] | None, *, read_only: bool) -> tuple[str, ...]:
    """Return the tools to make: the given ones, else all that `read_only` leaves.

    Raises:
        ConfigError: a name is unknown, or of a write tool while `read_only`.
    """
    if names is None:
        return READ_TOOLS if read_only else READ_TOOLS + WRITE_TOOLS
    for name in names:
        if name not in READ_TOOLS + WRITE_TOOLS:
            every = ", ".join(READ_TOOLS + WRITE_TOOLS)
            message = f"There is no file tool {name!r}. There are {every}."
            raise ConfigError(message)
        if read_only and name in WRITE_TOOLS:
            message = f"{name} changes files. Say read_only=False to have it."
            raise ConfigError(message)
    return tuple(dict.fromkeys(names))


def _verify_known(option: str, given: Mapping[str, int], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        message = f"{option} has no {unknown[0]!r}. It has {' and '.join(known)}."
        raise ConfigError(message)


def _within(option: str, value: object, *, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        message = f"{option} is {value!r}. Give a whole number from 1 to {most}."
        raise ConfigError(message)
    return value
