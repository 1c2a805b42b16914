"""Where in a JSON text, written so far, we are: which value comes or is being written.

Pure. It trusts the grammar that the text is JSON, and only follows along.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

_SPACE: Final = b" \t\r\n"

_Mode: TypeAlias = Literal["value", "key", "after", "string", "bare"]


@dataclass(frozen=True, slots=True)
class Place:
    """A value that comes next or is being written."""

    pointer: str
    """JSON pointer to it."""

    start: int
    """Offset of its first byte in the text."""


class JsonCursor:
    """Follows a JSON text byte by byte."""

    __slots__ = ("_escaped", "_is_key", "_key", "_mode", "_path", "_start", "offset")

    def __init__(self) -> None:
        self.offset = 0
        self._mode: _Mode = "value"
        self._path: list[int | str | None] = []
        self._start = 0
        self._key = bytearray()
        self._is_key = False
        self._escaped = False

    def copy(self) -> JsonCursor:
        """Return a cursor at the same place that goes its own way."""
        twin = JsonCursor()
        twin.offset, twin._mode, twin._start = self.offset, self._mode, self._start
        twin._path, twin._key = list(self._path), bytearray(self._key)
        twin._is_key, twin._escaped = self._is_key, self._escaped
        return twin

    @property
    def place(self) -> Place | None:
        """The value that comes next or is being written; None between values and in keys."""
        if self._mode == "value":
            return Place(self._pointer(), self.offset)
        if self._mode == "bare" or (self._mode == "string" and not self._is_key):
            return Place(self._pointer(), self._start)
        return None

    def feed(self, data: bytes) -> None:
        """Go on over these bytes."""
        for byte in data:
            if self._mode == "string":
                self._in_string(byte)
            else:
                self._outside(byte)
            self.offset += 1

    def _in_string(self, byte: int) -> None:
        if self._escaped:
            self._escaped = False
        elif byte == 0x5C:  # backslash
            self._escaped = True
        elif byte == 0x22:  # quote
            self._end_string()
            return
        if self._is_key:
            self._key.append(byte)

    def _end_string(self) -> None:
        if self._is_key:
            self._path[-1] = str(json.loads(b'"' + bytes(self._key) + b'"'))
        self._mode = "after"

    def _outside(self, byte: int) -> None:
        if byte in _SPACE:
            if self._mode == "bare":
                self._mode = "after"
        elif byte == 0x22:
            self._begin_string()
        elif byte in b"{[":
            self._path.append(None if byte == 0x7B else 0)
            self._mode = "key" if byte == 0x7B else "value"
        elif byte in b"}]":
            self._path.pop()
            self._mode = "after"
        elif byte == 0x2C:  # comma
            self._next()
        elif byte == 0x3A:  # colon
            self._mode = "value"
        elif self._mode == "value":
            self._mode, self._start = "bare", self.offset

    def _begin_string(self) -> None:
        self._is_key = self._mode == "key"
        self._key.clear()
        self._mode, self._start = "string", self.offset

    def _next(self) -> None:
        last = self._path[-1]
        if isinstance(last, int):
            self._path[-1] = last + 1
            self._mode = "value"
        else:
            self._mode = "key"

    def _pointer(self) -> str:
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in self._path)
        return "".join(f"/{step}" for step in steps)
