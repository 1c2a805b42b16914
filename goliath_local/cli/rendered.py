"""A call written so that no two calls look the same.

Pure. What a person says yes to is exactly what runs, so a value is quoted unless it is plainly
a word; invisible, bidirectional and control characters are spelled out; letters that can pass for
others are named by their script; a long value shows head, tail, length and a part of its sha256.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Any

from goliath_local.cli.visible import is_hidden

HEAD_CHARS = 240
TAIL_CHARS = 80
_LONG_CHARS = HEAD_CHARS + TAIL_CHARS + 40

_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9_.,/@+-]| (?! )){0,118}[A-Za-z0-9_.]|[A-Za-z]")
_CLEAR_MARKS = frozenset("“”„…«»¿¡—§°")
"""Punctuation beyond ASCII that nobody takes for something else."""

_WORDS = {"true", "false", "null", "nan", "infinity", "none", "yes", "no"}


def rendered_call(tool: str, arguments: dict[str, Any]) -> list[str]:
    """Return the call as lines: the tool, then one line an argument."""
    return [rendered_name(tool), *(rendered_argument(*item) for item in arguments.items())]


def rendered_argument(name: str, value: Any) -> str:
    """Return `name: value`."""
    return f"{rendered_name(name)}: {rendered_value(value)}"


def rendered_name(name: str) -> str:
    """Return the name, quoted unless it is an ASCII identifier."""
    return name if name.isascii() and name.isidentifier() else _quoted(name)


def rendered_value(value: Any) -> str:
    """Return the value so that another value gives another text."""
    if isinstance(value, str) and _is_plain(value):
        return value
    text = _json(value)
    if len(text) <= _LONG_CHARS:
        return text + _scripts(text)
    # The pieces are quoted anew, so that an escape is never cut in half.
    source = value if isinstance(value, str) else text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    kind = "" if isinstance(value, str) else "JSON "
    head, tail = _quoted(source[:HEAD_CHARS]), _quoted(source[-TAIL_CHARS:])
    length = f"{len(source):,} characters, sha256 {digest}"
    return f"{kind}{head} … {tail} ({length}){_scripts(head + tail)}"


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None and value.casefold() not in _WORDS


def _json(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{_quoted(str(k))}: {_json(v)}" for k, v in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_json, value))}]"
    return json.dumps(value)


def _quoted(text: str) -> str:
    composed = unicodedata.is_normalized("NFC", text)
    return f'"{"".join(_char(char, composed=composed) for char in text)}"'


def _char(char: str, *, composed: bool) -> str:
    if char in '"\\':
        return f"\\{char}"
    if " " <= char <= "~":
        return char
    if char == "\n":
        return "\\n"
    if _is_unclear(char) or (not composed and unicodedata.category(char).startswith("M")):
        code = ord(char)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return char


def _is_unclear(char: str) -> bool:
    """True when the character draws nothing, or can be taken for an ASCII one."""
    category, name = unicodedata.category(char), _name(char)
    if is_hidden(char) or category in {"Zs", "Co", "Cn"} or "VARIATION" in name:
        return True
    if category[0] == "P" or category in {"Sm", "Sk"}:
        return char not in _CLEAR_MARKS
    # Past Latin Extended-B and Vietnamese lie phonetic letters and ligatures.
    is_usual = char <= "\u024f" or "\u1e00" <= char <= "\u1eff"
    return name.startswith("LATIN") and not is_usual


def _name(char: str) -> str:
    return unicodedata.name(char, "")


def _scripts(shown: str) -> str:
    """Name the scripts of letters that are not Latin: a Cyrillic letter can look like an a."""
    letters = {char for char in shown if ord(char) > 0x7F and char.isalnum()}
    scripts = {_name(char).split(" ")[0].title() for char in letters} - {"Latin"}
    return f" ({', '.join(sorted(scripts))} letters)" if scripts else ""
