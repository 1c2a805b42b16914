"""Writes a grammar as GBNF text.

Pure. One rule a line; every text this writes loads in llama.cpp, as far as spelling goes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Rules, Seq, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

# Characters that llama.cpp reads back from a one-letter escape.
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_LOOSE, _JOINED, _TIGHT = range(3)


def emit(rules: Rules) -> str:
    """Return the GBNF text of the rules, `root` first."""
    names = ["root", *(name for name in rules.by_name if name != "root")]
    return "".join(f"{name} ::= {_expr(rules.by_name[name], _LOOSE)}\n" for name in names)


def emit_expr(expr: Expr) -> str:
    """Return the GBNF text of one expression."""
    return _expr(expr, _LOOSE)


def _expr(expr: Expr, tightness: int) -> str:
    match expr:
        case Text(text):
            # An empty literal is one element less to read when nothing stands beside it.
            return _literal(text)
        case Chars(ranges, negated):
            return _class(ranges, negated=negated)
        case Ref(name):
            return name
        case Seq(items):
            text = " ".join(_expr(item, _JOINED) for item in items) or '""'
            return f"({text})" if tightness == _TIGHT and len(items) != 1 else text
        case Alt(options):
            text = " | ".join(_expr(option, _LOOSE) for option in options)
            return text if tightness == _LOOSE else f"({text})"
        case Repeat(item, least, most):
            return _atom(item) + _count(least, most)
        case _:
            assert_never(expr)


def _atom(expr: Expr) -> str:
    text = _expr(expr, _TIGHT)
    # A count binds to the element before it: to a whole literal, but not to a repetition.
    return f"({text})" if isinstance(expr, Repeat) else text


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _, None:
            return f"{{{least},}}"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{most}}}"


def _literal(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_char(char, also='"') for char in text) + '"'


@lru_cache(maxsize=4096)
def _class(ranges: Iterable[tuple[int, int]], *, negated: bool) -> str:
    shown = "".join(_range(low, high) for low, high in ranges)
    return f"[{'^' if negated else ''}{shown}]"


def _range(low: int, high: int) -> str:
    first, last = (_char(chr(code), also="") for code in (low, high))
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"


def _char(char: str, *, also: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if also and char == also:
        return "\\" + char
    code = ord(char)
    # Inside a class these mean something; as codes they never do.
    if not also and char in "]^-[":
        return f"\\x{code:02X}"
    if char.isprintable():
        return char
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
