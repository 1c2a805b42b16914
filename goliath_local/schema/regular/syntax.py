"""Reads a pattern: the common core of ECMA-262 and Python expressions.

Pure. What the two read differently, or what no automaton can hold, is `Beyond`; what neither can
read is `BadPattern`.
"""

from __future__ import annotations

import re

from goliath_local.schema.regular.charsets import CharSet, chars, others, united
from goliath_local.schema.regular.classes import category, named
from goliath_local.schema.regular.tree import Ahead, Choice, Loop, One, Place, Row, Tree

MAX_DEPTH = 60
"""Groups inside one another."""

_COUNT = re.compile(r"\{(\d+)(,(\d*))?\}")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_HEX = {"x": 2, "u": 4}
# What a group may begin with, longest first.
_OPENINGS = ("?:", "?=", "?!")
_NAMED_GROUP = re.compile(r"\?P?<[A-Za-z_]\w*>")
_MAX_COUNT = 100_000


class BadPattern(ValueError):
    """No regular expression, in neither language."""


class Beyond(ValueError):
    """An expression that no automaton of ours can hold, or that has two meanings."""


def read_pattern(pattern: str, *, wide: bool = False) -> Tree:
    """Return the tree of a pattern.

    Args:
        pattern: a regular expression, not anchored.
        wide: read it as one that must not match (see `classes`).

    Raises:
        BadPattern: it is broken.
        Beyond: it cannot be told exactly.
    """
    reader = _Reader(pattern, wide=wide)
    tree = reader.choice(0)
    if not reader.is_done:
        reason = f"a ) without its ( at character {reader.at + 1}"
        raise BadPattern(reason)
    return tree


class _Reader:
    """A place in the text of a pattern."""

    def __init__(self, text: str, *, wide: bool) -> None:
        self.text = text
        self.at = 0
        self.wide = wide

    @property
    def is_done(self) -> bool:
        return self.at == len(self.text)

    def takes(self, text: str) -> bool:
        """Step over the text if it comes next."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def next(self) -> str:
        if self.is_done:
            raise BadPattern("it ends in the middle")
        self.at += 1
        return self.text[self.at - 1]

    def choice(self, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            reason = f"more than {MAX_DEPTH} groups inside one another"
            raise BadPattern(reason)
        options = [self.row(depth)]
        while self.takes("|"):
            options.append(self.row(depth))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def row(self, depth: int) -> Tree:
        items: list[Tree] = []
        while not self.is_done and self.text[self.at] not in "|)":
            items.append(self.counted(self.atom(depth)))
        return items[0] if len(items) == 1 else Row(tuple(items))

    def counted(self, body: Tree) -> Tree:
        count = self.count()
        if count is None:
            return body
        if isinstance(body, Place | Ahead):
            raise Beyond("a repeated claim")
        if self.takes("+"):
            raise Beyond("a possessive repetition")
        self.takes("?")  # a lazy one finds the same texts
        if self.count() is not None:
            reason = f"nothing to repeat at character {self.at}"
            raise BadPattern(reason)
        return Loop(body, *count)

    def count(self) -> tuple[int, int | None] | None:
        for sign, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.takes(sign):
                return found
        if self.text.startswith("{,", self.at):
            raise Beyond("{, means two things")
        match = _COUNT.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        least = int(match[1])
        most = least if match[2] is None else int(match[3]) if match[3] else None
        if most is not None and most < least:
            reason = f"{match[0]} has its numbers the wrong way round"
            raise BadPattern(reason)
        if max(least, most or 0) > _MAX_COUNT:
            reason = f"{match[0]} is too much"
            raise Beyond(reason)
        return least, most

    def atom(self, depth: int) -> Tree:  # noqa: PLR0911  # one a sign
        char = self.next()
        match char:
            case "^":
                return Place.START
            case "$":
                return Place.END
            case ".":
                return One(named(".", wide=self.wide))
            case "(":
                return self.group(depth)
            case "[":
                return One(self.chosen())
            case "\\":
                return self.escape()
            case "*" | "+" | "?":
                reason = f"nothing to repeat at character {self.at}"
                raise BadPattern(reason)
            case _:
                return One(chars(char))

    def group(self, depth: int) -> Tree:
        opening = next((o for o in _OPENINGS if self.takes(o)), None)
        if opening is None and self.text.startswith("?", self.at):
            match = _NAMED_GROUP.match(self.text, self.at)
            if match is None:
                raise Beyond("a group of a special kind")
            self.at = match.end()
        was_wide = self.wide
        if opening == "?!":
            self.wide = not self.wide
        body = self.choice(depth + 1)
        self.wide = was_wide
        if not self.takes(")"):
            raise BadPattern("a ( without its )")
        if opening in ("?=", "?!"):
            return Ahead(body, negative=opening == "?!")
        return body

    def escape(self) -> Tree:
        if self.takes("b"):
            return Place.WORD_EDGE
        if self.takes("B"):
            return Place.NO_WORD_EDGE
        return One(self.escaped(self.wide))

    def escaped(self, wide: bool) -> CharSet:
        """Return the set an escape stands for, after its backslash."""
        letter = self.next()
        if letter in "dDwWsS":
            return named(letter, wide=wide)
        if letter in "pP":
            return self.property(letter)
        if letter in _HEX or letter == "c" or (letter in _CONTROL and letter != "0"):
            return chars(self.coded(letter))
        if letter == "0" and not self.text[self.at : self.at + 1].isdigit():
            return chars("\0")
        if letter.isalnum():
            reason = f"\\{letter}"
            raise Beyond(reason)
        return chars(letter)

    def coded(self, letter: str) -> str:
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter == "c":
            control = self.next()
            if not ("A" <= control.upper() <= "Z"):
                reason = f"\\c{control}"
                raise BadPattern(reason)
            return chr(ord(control.upper()) - 64)
        if letter == "u" and self.takes("{"):
            end = self.text.find("}", self.at)
            digits, self.at = self.text[self.at : end], end + 1
            return chr(_code(digits, at_most=6))
        digits, self.at = self.text[self.at : self.at + _HEX[letter]], self.at + _HEX[letter]
        if len(digits) < _HEX[letter]:
            reason = f"\\{letter}{digits}"
            raise BadPattern(reason)
        code = _code(digits, at_most=4)
        return chr(code) if not 0xD800 <= code <= 0xDFFF else self.pair(code)

    def pair(self, high: int) -> str:
        r"""Return the character of two `\u`, of which the first was read."""
        match = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.text, self.at)
        if match is None or high > 0xDBFF:
            raise Beyond("half a character")
        self.at = match.end()
        return chr(0x10000 + ((high - 0xD800) << 10) + int(match[1], 16) - 0xDC00)

    def property(self, letter: str) -> CharSet:
        match = re.compile(r"\{([A-Za-z_=]+)\}").match(self.text, self.at)
        held = category(match[1]) if match else None
        if match is None or held is None:
            reason = f"\\{letter} with a property that is not a general category"
            raise Beyond(reason)
        self.at = match.end()
        return held if letter == "p" else others(held)

    def chosen(self) -> CharSet:
        """Return the set of a class, after its opening bracket."""
        negated = self.takes("^")
        wide = self.wide != negated
        ranges: list[tuple[int, int]] = []
        if self.text.startswith("]", self.at):
            raise Beyond("[] means two things")
        while not self.takes("]"):
            ranges += self.ranged(wide)
        held = united(ranges)
        return others(held) if negated else held

    def ranged(self, wide: bool) -> CharSet:
        """Return the next character, range or named set of a class."""
        low = self.member(wide)
        after = self.text[self.at : self.at + 2]
        if not after.startswith("-") or after == "-]" or len(after) < 2:
            return low
        if len(low) != 1 or low[0][0] != low[0][1]:
            return low  # a - after \d is itself
        self.at += 1
        high = self.member(wide)
        if len(high) != 1 or high[0][0] != high[0][1]:
            return united([*low, *chars("-"), *high])
        if high[0][0] < low[0][0]:
            reason = f"a range the wrong way round before character {self.at + 1}"
            raise BadPattern(reason)
        return united([(low[0][0], high[0][0])])

    def member(self, wide: bool) -> CharSet:
        char = self.next()
        if char != "\\":
            return chars(char)
        if self.takes("b"):
            return chars("\b")
        return self.escaped(wide)


def _code(digits: str, *, at_most: int) -> int:
    try:
        code = int(digits, 16)
    except ValueError:
        reason = f"{digits!r} is no hexadecimal number"
        raise BadPattern(reason) from None
    if len(digits) > at_most or code > 0x10FFFF:
        reason = f"{digits!r} is no character"
        raise BadPattern(reason)
    return code
