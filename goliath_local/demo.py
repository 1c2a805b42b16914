"""A real to-do list in an SQLite file, and three tools over it.

Edge: one file. For the demo it is made with three open tasks, so that there is something to ask
for; otherwise empty. From then on it is the user's own list. Writes ask first.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from goliath_local.errors import StorageBusy, StorageError
from goliath_local.memory import transaction
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from goliath_local.tools import Tool

FIRST_TASKS = ("buy bread", "call the dentist", "water the plants")
"""What a new list starts with in the demo."""

_TITLE = {
    "type": "object",
    "properties": {
        # No minLength: a title that the ask does not give has to be able to stay blank.
        "title": {
            "type": "string",
            "maxLength": 120,
            "description": "the task in a few words",
        }
    },
    "required": ["title"],
    "additionalProperties": False,
}
_UNSOUND = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_MAKE = """
CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0
)
"""


class TaskList:
    """Open tasks in the order in which they were added."""

    def __init__(self, path: Path, *, first: Iterable[str] = FIRST_TASKS) -> None:
        self._path = path
        self._first = tuple(first)

    def titles(self) -> list[str]:
        """Return the titles of the open tasks."""
        with self._opened() as connection:
            return _open_titles(connection)

    def add(self, title: str) -> bool:
        """Add a task; return False when one of that title is open already.

        Raises:
            ValueError: the title is blank.
        """
        if not title.strip():
            raise ValueError("The task has no title. Ask the user what is to be done.")
        with self._changing() as connection:
            if _same(title, _open_titles(connection)) is not None:
                return False
            connection.execute("INSERT INTO tasks (title) VALUES (?)", (title.strip(),))
            return True

    def complete(self, title: str) -> str:
        """Mark a task as done and return its title.

        Raises:
            LookupError: no open task, or more than one, can be meant.
        """
        with self._changing() as connection:
            meant = _meant(title, _open_titles(connection))
            connection.execute("UPDATE tasks SET done = 1 WHERE title = ? AND done = 0", (meant,))
            return meant

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Look and change as one: no other program comes in between."""
        with self._opened() as connection, transaction(connection):
            yield connection

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite would make the file readable by everyone.
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
            with closing(sqlite3.connect(self._path, timeout=10)) as connection:
                connection.isolation_level = None
                # A task that was said to be added is there after a power cut, too: EXTRA syncs
                # the folder when the journal goes, which is when a change begins to hold.
                connection.execute("PRAGMA synchronous = EXTRA")
                _fill(connection, self._first)
                yield connection
        except sqlite3.Error as error:
            raise _told(self._path, error) from error
        except OSError as error:
            message = f"{self._path}: {error.strerror}. Look at the free space and the rights."
            raise StorageError(message) from error


def _told(path: Path, error: sqlite3.Error) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _UNSOUND:
        return StorageError(f"{path}: {error}. Move the file away; a new list is made then.")
    if code in _BUSY:
        return StorageBusy(f"{path} was in use by another program for 10 s. Try again.")
    return StorageError(f"{path}: {error}. Look at the free space and the rights.")


def _open_titles(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT title FROM tasks WHERE done = 0 ORDER BY id")
    return [str(row[0]) for row in rows]


def _fill(connection: sqlite3.Connection, titles: Iterable[str]) -> None:
    """Make the table and its first tasks, once, also when two programs come first."""
    if _is_filled(connection):
        return
    with transaction(connection):
        if _is_filled(connection):
            return
        connection.execute(_MAKE)
        first = [(title,) for title in titles]
        connection.executemany("INSERT INTO tasks (title) VALUES (?)", first)
        connection.execute("PRAGMA user_version = 1")


def _is_filled(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA user_version").fetchone()[0])


def demo_tools(path: Path) -> tuple[Tool, ...]:
    """Return `list_tasks`, `create_task` and `complete_task`; a new list has three tasks."""
    return _tools(TaskList(path))


def task_tools(path: Path) -> tuple[Tool, ...]:
    """Return the same three tools; a new list is empty."""
    return _tools(TaskList(path, first=()))


def _tools(tasks: TaskList) -> tuple[Tool, ...]:
    return (_list_tasks(tasks), _create_task(tasks), _complete_task(tasks))


def _list_tasks(tasks: TaskList) -> Tool:
    return define_tool(
        name="list_tasks",
        description="List the open tasks of the to-do list.",
        parameters=_NOTHING,
        execute=lambda _input, _context: tasks.titles(),
        to_model_output=_numbered,
    )


def _create_task(tasks: TaskList) -> Tool:
    def execute(values: Any, _context: Any) -> dict[str, Any]:
        return {"title": values["title"], "added": tasks.add(values["title"])}

    return define_tool(
        name="create_task",
        description="Add a new task to the to-do list.",
        parameters=_TITLE,
        execute=execute,
        to_model_output=_added,
        preview=lambda values: _what_comes(values["title"], tasks.titles()),
        writes=True,
    )


def _complete_task(tasks: TaskList) -> Tool:
    def resolve(values: Any, _context: Any) -> dict[str, Any]:
        return {"title": _closest(values["title"], tasks.titles())}

    def execute(values: Any, _context: Any) -> dict[str, Any]:
        return {"title": tasks.complete(values["title"]), "open": tasks.titles()}

    return define_tool(
        name="complete_task",
        description="Mark an open task of the to-do list as done.",
        parameters=_TITLE,
        resolve_input=resolve,
        execute=execute,
        to_model_output=_completed,
        preview=lambda values: _what_goes(values["title"], tasks.titles()),
        writes=True,
    )


def _numbered(titles: list[str]) -> str:
    lines = [f"{number}. {title}" for number, title in enumerate(titles, start=1)]
    return "\n".join(lines) if lines else "The list is empty."


def _added(output: dict[str, Any]) -> str:
    title = output["title"]
    return f'"{title}" was added.' if output["added"] else f'"{title}" was on the list already.'


def _completed(output: dict[str, Any]) -> str:
    left = ", ".join(output["open"]) or "nothing"
    return f'"{output["title"]}" is done. Still open: {left}.'


def _what_comes(title: str, titles: list[str]) -> str:
    if _same(title, titles) is not None:
        return "nothing: it is on the list already"
    return f"+ {title.strip()}\n{len(titles) + 1} tasks are then open"


def _what_goes(title: str, titles: list[str]) -> str:
    meant = _same(title, titles)
    if meant is None:
        return "nothing: no open task is called that"
    return f"- {meant}\n{len(titles) - 1} tasks stay open"


def _same(title: str, titles: list[str]) -> str | None:
    wanted = title.strip().casefold()
    return next((found for found in titles if found.casefold() == wanted), None)


def _closest(title: str, titles: list[str]) -> str:
    """Return the open title that is meant, or the text as it came when that is not clear."""
    same = _same(title, titles)
    if same is not None:
        return same
    wanted = title.strip().casefold()
    near = [t for t in titles if wanted in t.casefold() or t.casefold() in wanted]
    return near[0] if len(near) == 1 else title


def _meant(title: str, titles: list[str]) -> str:
    meant = _same(title, titles)
    if meant is None:
        open_titles = ", ".join(titles) or "none"
        message = f'No open task is called "{title}". Open tasks: {open_titles}.'
        raise LookupError(message)
    return meant
