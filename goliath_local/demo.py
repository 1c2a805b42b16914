"""A real to-do list in an SQLite file, and three tools over it.

Edge: one file. For the demo it is made with three open tasks, so that there is something to ask
for; otherwise empty. From then on it is the user's own list. Writes ask first.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from goliath_local.errors import StorageError
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Iterable
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
        rows = self._do("SELECT title FROM tasks WHERE done = 0 ORDER BY id")
        return [str(row[0]) for row in rows]

    def add(self, title: str) -> bool:
        """Add a task; return False when one of that title is open already.

        Raises:
            ValueError: the title is blank.
        """
        if not title.strip():
            raise ValueError("The task has no title. Ask the user what is to be done.")
        if _same(title, self.titles()) is not None:
            return False
        self._do("INSERT INTO tasks (title) VALUES (?)", title.strip())
        return True

    def complete(self, title: str) -> str:
        """Mark a task as done and return its title.

        Raises:
            LookupError: no open task, or more than one, can be meant.
        """
        meant = _meant(title, self.titles())
        self._do("UPDATE tasks SET done = 1 WHERE title = ? AND done = 0", meant)
        return meant

    def _do(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(self._open()) as connection:
                return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            message = f"{self._path}: {error}. Move the file away; a new list is made then."
            raise StorageError(message) from error

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would make the file readable by everyone.
        os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(self._path, timeout=10, isolation_level=None)
        try:
            _fill(connection, self._first)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _fill(connection: sqlite3.Connection, titles: Iterable[str]) -> None:
    """Make the table and its first tasks, once, also when two programs come first."""
    if _is_filled(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    if not _is_filled(connection):
        connection.execute(_MAKE)
        first = [(title,) for title in titles]
        connection.executemany("INSERT INTO tasks (title) VALUES (?)", first)
        connection.execute("PRAGMA user_version = 1")
    connection.execute("COMMIT")


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
