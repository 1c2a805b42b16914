"""The tool sets that come with the program, by name.

Edge, thinly: making a set may make its folder or file. Each set is imported when it is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.errors import ConfigError
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goliath_local.tools import Tool

Make: TypeAlias = "Callable[[Path], tuple[Tool, ...]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """A set of tools that can be named."""

    about: str
    make: Make
    """From its place to its tools."""

    takes: Literal["nothing", "file", "folder"] = "nothing"
    """What may stand behind its name and a colon."""

    home: str = ""
    """Its place in the data folder, when none is named; empty for the working directory."""


def tool_set(name: str, *, data: Path) -> tuple[Tool, ...]:
    """Return the tools of a set, named as `clock`, or with a place as `notes:FOLDER`.

    Args:
        name: of the set, perhaps with a colon and a place.
        data: folder of what is kept when no place is named.

    Raises:
        ConfigError: there is no such set, or its place cannot be one.
        StorageError: its place cannot be made.
    """
    head, colon, place = name.partition(":")
    if not is_tool_set(name):
        msg = f'There is no tool set "{name}". There are: {", ".join(TOOL_SETS)}.'
        raise ConfigError(msg)
    chosen = TOOL_SETS[head]
    if colon and not place.strip():
        msg = f"{head}: there is no {chosen.takes} behind the colon. Write {head}:PATH, or {head}."
        raise ConfigError(msg)
    if place:
        return chosen.make(typed_path(place.strip()))
    return chosen.make(data / chosen.home if chosen.home else Path.cwd())


def is_tool_set(name: str) -> bool:
    """True when the name, without its place, is that of a set."""
    head, colon, _ = name.partition(":")
    found = TOOL_SETS.get(head)
    return found is not None and (not colon or found.takes != "nothing")


def _demo(place: Path) -> tuple[Tool, ...]:
    from goliath_local.demo import demo_tools

    return demo_tools(_file(place))


def _tasks(place: Path) -> tuple[Tool, ...]:
    from goliath_local.demo import task_tools

    return task_tools(_file(place))


def _notes(place: Path) -> tuple[Tool, ...]:
    from goliath_local.toolsets.notes import note_tools

    return note_tools(place)


def _files(place: Path) -> tuple[Tool, ...]:
    from goliath_local.filesystem import create_filesystem, folder_filesystem

    return tuple(create_filesystem(backend=folder_filesystem(place)).tools.values())


def _clock(_place: Path) -> tuple[Tool, ...]:
    from goliath_local.toolsets.clock import clock_tools

    return clock_tools()


def _numbers(_place: Path) -> tuple[Tool, ...]:
    from goliath_local.toolsets.numbers import number_tools

    return number_tools()


def _system(_place: Path) -> tuple[Tool, ...]:
    from goliath_local.toolsets.system import system_tools

    return system_tools()


def _file(place: Path) -> Path:
    if place.is_dir():
        msg = f"{place} is a folder. Name a file, such as {place / 'tasks.sqlite'}."
        raise ConfigError(msg)
    return place


TOOL_SETS: Mapping[str, ToolSet] = {
    "demo": ToolSet(
        about="the to-do list, with three tasks to begin", make=_demo, home="tasks.sqlite"
    ),
    "tasks": ToolSet(about="a to-do list", make=_tasks, takes="file", home="tasks.sqlite"),
    "notes": ToolSet(
        about="a folder of Markdown notes", make=_notes, takes="folder", home="notes"
    ),
    "files": ToolSet(about="a folder, for reading only", make=_files, takes="folder"),
    "clock": ToolSet(about="dates, times and durations", make=_clock),
    "numbers": ToolSet(about="arithmetic and units", make=_numbers),
    "system": ToolSet(about="facts about this computer", make=_system),
}
"""Every set, in the order in which they are listed."""
