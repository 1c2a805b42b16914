"""Which fields of a JSON object are finished while it is still being written.

Pure.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goliath_local.records import Json

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


class FieldReader:
    """Collects the text of an object piece by piece and gives its top-level fields one by one.

    A text that is no object gives none.
    """

    __slots__ = ("_at", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._at = 0

    def feed(self, piece: str) -> list[tuple[str, Json]]:
        """Take the next piece and return the fields that it finished, in order."""
        self._text += piece
        found = []
        while (field := self._next()) is not None:
            found.append(field)
        return found

    def _next(self) -> tuple[str, Json] | None:
        # A field starts after "{" or ",", and is finished by "," or "}" behind its value: a
        # number may go on, so the value alone does not tell.
        start = self._skip(self._at)
        if not self._text.startswith(("{", ","), start):
            return None
        try:
            name, end = _DECODER.raw_decode(self._text, self._skip(start + 1))
            colon = self._skip(end)
            if not isinstance(name, str) or not self._text.startswith(":", colon):
                return None
            value, end = _DECODER.raw_decode(self._text, self._skip(colon + 1))
        except (ValueError, RecursionError):
            return None
        closing = self._skip(end)
        if not self._text.startswith((",", "}"), closing):
            return None
        self._at = closing
        return name, value

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in _SPACE:
            at += 1
        return at
