"""Short handles for going on where a search or a read paused.

A model has to copy a cursor character by character, so a cursor is a handle of eight letters
and digits, and what it stands for stays here. The handle is computed from what it stands for:
the same query paused at the same place gets the same handle, in every run. Pure but for the
bounded table. Source: behaviour spec, section 8.5.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import astuple, dataclass

from goliath_local.errors import FileError

KEPT = 512
MAX_CURSOR_CHARS = 4096

_DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789"
_HANDLE_CHARS = 8
_NOTHING = {"", "null", "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a cursor belongs to; it is good for nothing else."""

    tool: str
    root: str
    pattern: str = ""
    ignore_case: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a query paused."""

    after: str | None = None
    """Last finished path."""

    path: str | None = None
    """The file it paused inside, if it did."""

    revision: str | None = None
    """That file's revision then."""

    offset: int = 0
    """Characters of that file that are done."""

    line: int = 1
    """1-based number of the line at `offset`."""


START = Position()


class Cursors:
    """The handles a filesystem gave out, the newest 512 of them."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Query, Position]] = OrderedDict()

    def issue(self, query: Query, position: Position) -> str:
        """Return the handle for a position, good until 512 others were issued."""
        handle = handle_of(query, position)
        self._known[handle] = (query, position)
        self._known.move_to_end(handle)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return handle

    def resolve(self, cursor: object, query: Query) -> Position | None:
        """Return where the query paused; None if there is no cursor.

        Raises:
            FileError: the cursor is not known, or belongs to another query.
        """
        if is_blank(cursor):
            return None
        if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR_CHARS:
            raise _unusable("cursor", "that is not a cursor.")
        handle = cursor.strip().lower()
        if handle not in self._known:
            message = f"cursor {cursor}"
            raise _unusable(message, "it is unknown or expired.")
        owner, position = self._known[handle]
        if owner != query:
            message = f"cursor {cursor}"
            raise _unusable(message, f"it belongs to another {owner.tool} query.")
        return position


def is_blank(value: object) -> bool:
    """Return whether a model meant to leave the value out: blank, `null` or `none`."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def handle_of(query: Query, position: Position) -> str:
    """Return the handle: 8 characters of `a-z0-9`."""
    meaning = repr((astuple(query), astuple(position)))
    number = int.from_bytes(hashlib.sha256(meaning.encode("utf-8", "surrogatepass")).digest())
    digits = []
    for _ in range(_HANDLE_CHARS):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)


def _unusable(what: str, reason: str) -> FileError:
    return FileError(what, f"{reason} Start again without a cursor.")
