"""The smallest pieces of a GBNF text: blanks, names, numbers, characters, and where they stand.

Pure. A `Scanner` walks over one text and is used up by it.
Source: llama.cpp, src/llama-grammar.cpp, the parse_… functions.
"""

from __future__ import annotations

import re
from typing import NoReturn

from goliath_local.errors import GrammarError
from goliath_local.grammar.utf8 import TOP

_NAME = re.compile(r"[a-zA-Z0-9-]*")
_DIGITS = re.compile(r"[0-9]*")
_PLAIN = re.compile(r'[^"\\]*')
_BLANKS = re.compile(r"(?:[ \t]+|#[^\r\n]*)*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*")
_HEX = frozenset("0123456789abcdefABCDEF")
_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}


class Scanner:
    """A GBNF text and how far it was read."""

    __slots__ = ("at", "text")

    def __init__(self, text: str, *, max_bytes: int) -> None:
        """Take a text of at most so many bytes.

        Raises:
            GrammarError: it is too long, or holds what is not a character of a text.
        """
        self.text = text
        self.at = 0
        """Index of the next character."""
        if len(text) > max_bytes or len(text.encode(errors="replace")) > max_bytes:
            self.fail(f"the grammar is longer than {max_bytes // 1024} KiB")
        for index, char in enumerate(text):
            if char == "\0" or "\ud800" <= char <= "\udfff":
                name = "NUL" if char == "\0" else "a lone surrogate"
                self.fail(f"{name} is not a character of a grammar", index)

    def place(self, at: int) -> tuple[int, int]:
        """Return line and column of an index, both from 1."""
        before = self.text[:at].replace("\r\n", "\n").replace("\r", "\n")
        return before.count("\n") + 1, len(before) - before.rfind("\n")

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """Raise `GrammarError` at an index, or where reading stands."""
        line, column = self.place(self.at if at is None else at)
        raise GrammarError(line, column, reason)

    def peek(self, ahead: int = 0) -> str:
        """Return a character without reading it; empty at the end of the text."""
        return self.text[self.at + ahead : self.at + ahead + 1]

    def take(self, wanted: str) -> bool:
        """Read `wanted` if it is next, and return whether it was."""
        found = self.text.startswith(wanted, self.at)
        if found:
            self.at += len(wanted)
        return found

    def space(self, *, lines: bool) -> None:
        """Read blanks and comments, and line ends too if `lines`."""
        self.run(_BLANK_LINES if lines else _BLANKS)

    def name(self) -> str:
        """Read a rule's name; empty if there is none."""
        return self.run(_NAME)

    def plain(self) -> str:
        """Read the characters of a text that stand for themselves, up to a quote or escape."""
        return self.run(_PLAIN)

    def number(self) -> int:
        """Read a whole number."""
        start = self.at
        digits = self.run(_DIGITS)
        if not digits:
            self.fail(f"a number was expected, not {shown(self.peek())}")
        if len(digits) > 9:
            self.fail(f"{digits[:9]}… is too large a number", start)
        return int(digits)

    def run(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches, which may be nothing."""
        found = pattern.match(self.text, self.at)
        text = found[0] if found else ""
        self.at += len(text)
        return text

    def character(self) -> int:
        """Read one character of a text or class, escaped or not, and return its code point."""
        start = self.at
        char = self.peek()
        self.at += 1
        if char != "\\":
            return ord(char)
        kind = self.peek()
        self.at += 1
        if kind in _ESCAPES:
            return ord(_ESCAPES[kind])
        if kind not in _HEX_LENGTHS:
            self.fail(f"\\{kind} is not an escape; there are {_known_escapes()}", start)
        return self._hex(_HEX_LENGTHS[kind], start)

    def _hex(self, length: int, start: int) -> int:
        digits = self.text[self.at : self.at + length]
        if len(digits) < length or not _HEX.issuperset(digits):
            self.fail(f"{length} hexadecimal digits were expected", start)
        self.at += length
        code = int(digits, 16)
        if code > TOP:
            self.fail(f"{digits} is above 10FFFF, the last character there is", start)
        return code


def shown(char: str) -> str:
    """Return a character as messages show it."""
    return repr(char) if char else "the end of the text"


def _known_escapes() -> str:
    return " ".join("\\" + kind for kind in (*_HEX_LENGTHS, *_ESCAPES))
