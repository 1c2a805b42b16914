r"""Foreign text made safe to show: control and invisible characters become visible ones.

Pure. What a model, a tool, a file or a user wrote never moves the cursor, changes a colour or
sets a title: ESC is shown as ␛, a C1 control as \x9b, a direction override as \u202e.
"""

from __future__ import annotations

import unicodedata

_JOINERS = {"\u200c", "\u200d"}
"""Needed inside emoji and Persian words; they draw nothing and move nothing by themselves."""

_MARKS_IN_A_ROW = 8
"""More combining marks than any script stacks on one letter; the rest is spelled out."""


def spelled(char: str) -> str:
    """Return the character written as an escape or a control picture."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def is_hidden(char: str) -> bool:
    """True when the character draws nothing, or steers whoever draws it."""
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


class Visible:
    """Makes a stream of text visible, piece by piece; any cutting gives the same result."""

    __slots__ = ("_marks",)

    def __init__(self) -> None:
        self._marks = 0

    def read(self, text: str) -> str:
        """Return the next piece, safe to show. Newlines and tabs stay."""
        if text.isascii() and text.isprintable():
            self._marks = 0
            return text
        return "".join(map(self._char, text))

    def _char(self, char: str) -> str:
        if unicodedata.combining(char) or unicodedata.category(char) == "Me":
            self._marks += 1
            return char if self._marks <= _MARKS_IN_A_ROW else spelled(char)
        self._marks = 0
        if char in "\n\t" or char in _JOINERS or not is_hidden(char):
            return char
        return spelled(char)


def visible(text: str) -> str:
    """Return the text, safe to show. Newlines and tabs stay."""
    return Visible().read(text)


def visible_line(text: str) -> str:
    """Return the text, safe to show on one line: a newline becomes a visible ⏎."""
    return visible(text).replace("\n", "⏎").replace("\t", " ")


def within_columns(line: str, columns: int) -> str:
    """Return as much of a visible line as surely fits: no letter takes more than it counts here.

    A wide letter counts two columns, every other one, though some draw nothing.
    """
    left = columns
    for at, char in enumerate(line):
        left -= 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
        if left < 0:
            return line[:at]
    return line


def clipped_line(text: str, columns: int) -> str:
    """Return the first columns of `visible_line`, with an ellipsis when something is missing."""
    line = visible_line(text[: columns * 4 + 1])
    return line if len(line) <= columns else line[: max(0, columns - 1)] + "…"
