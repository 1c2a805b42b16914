"""Any value as a short text for the model, without a model.

Pure. Lists keep head and tail, error-looking lines survive the cut, long values end in an
ellipsis. Lengths are characters. Source: behaviour spec section 5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from goliath_local.budget.cut import clip
from goliath_local.budget.limits import RESULT_CHARACTERS
from goliath_local.budget.plain import plain

_HEAD = 5
_TAIL = 2
_WHOLE = _HEAD + _TAIL
"""Lists up to this length are shown whole."""

_VALUE_CHARACTERS = 80
_OVERFLOW_FROM = 200
"""Below this cap head, marker and tail would be crumbs."""

_ERRORS_KEPT = 3
_ERROR = re.compile(
    r"\b(?:errors?|exceptions?|fail(?:s|ed|ures?)?|fatal|denied|refused|traceback"
    r"|time[-\s]?outs?|timed[-\s]?out)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """A value as lines: all of them, and the way to show them when nothing overflows."""

    every: list[str]
    shown: list[str]
    head_most: int | None
    """Most lines of the head when it overflows; None is without bound."""


def summarize_tool_result(value: Any, max_chars: int = RESULT_CHARACTERS) -> str:
    """Return the value as text of at most that many characters."""
    try:
        return _summarize(plain(value), max_chars)
    except Exception as error:  # noqa: BLE001 - a value may break in any way when looked at
        why = "nested too deeply" if isinstance(error, RecursionError) else type(error).__name__
        return clip(f"({type(value).__name__} that cannot be shown: {why})", max_chars)


def looks_like_error(line: str) -> bool:
    """Say whether the line speaks of something that went wrong."""
    return _ERROR.search(line) is not None


def _summarize(value: Any, cap: int) -> str:
    match value:
        case None:
            return clip("done", cap)
        case str():
            return _text(value, cap)
        case list() if value:
            return _fit(_list_lines(value), cap)
        case dict() if value:
            lines = [_field_line(key, item) for key, item in value.items()]
            return _fit(_Lines(every=lines, shown=lines, head_most=None), cap)
        case list() | dict():
            return clip("none", cap)
        case _:
            return clip(_scalar(value), cap)


def _text(text: str, cap: int) -> str:
    if not text.strip():
        return clip("(no output)", cap)
    if len(text) <= cap:
        return text
    # The blank end of a log is not its last line.
    lines = text.rstrip().splitlines()
    shortened = _overflow(_Lines(every=lines, shown=lines, head_most=None), cap)
    return clip(text, cap) if shortened is None else shortened


def _fit(lines: _Lines, cap: int) -> str:
    whole = "\n".join(lines.shown)
    if len(whole) <= cap:
        return whole
    shortened = _overflow(lines, cap)
    return clip(whole, cap) if shortened is None else shortened


def _overflow(lines: _Lines, cap: int) -> str | None:
    """Return head, marker, error lines and tail within the cap; None when that cannot be."""
    count = len(lines.every)
    if count < 2 or cap < _OVERFLOW_FROM:
        return None
    cut = [clip(line, _VALUE_CHARACTERS) for line in lines.every]
    body = count - _TAIL
    errors = [i for i in range(body) if looks_like_error(lines.every[i])][-_ERRORS_KEPT:]
    most = body if lines.head_most is None else min(lines.head_most, body)
    best: str | None = None
    head_characters = 0
    for head in range(most + 1):
        marker = [f"… {body - head} omitted"] if head < body else []
        kept = [cut[i] for i in errors if i >= head]
        text = "\n".join([*cut[:head], *marker, *kept, *cut[body:]])
        if len(text) <= cap:
            best = text
        if head < most:
            head_characters += len(cut[head]) + 1
        if head_characters > cap:
            break
    return best


def _list_lines(items: list[Any]) -> _Lines:
    lines = [f"{number}. {_item(item)}".rstrip(" ") for number, item in enumerate(items, 1)]
    if len(lines) <= _WHOLE:
        return _Lines(every=lines, shown=lines, head_most=None)
    middle = lines[_HEAD:-_TAIL]
    shown = [
        *lines[:_HEAD],
        f"… {len(middle)} omitted",
        *(line for line in middle if looks_like_error(line)),
        *lines[-_TAIL:],
    ]
    return _Lines(every=lines, shown=shown, head_most=_HEAD)


def _item(item: Any) -> str:
    if isinstance(item, dict):
        return _fields(item)
    if isinstance(item, list):
        scalars = [_scalar(value) for value in item if not isinstance(value, list | dict)]
        return clip(", ".join(text for text in scalars if text), _VALUE_CHARACTERS)
    return _scalar(item)


def _fields(item: dict[str, Any]) -> str:
    """Return the non-empty scalar fields on one line; nested values are dropped."""
    pairs = [
        (key, _scalar(value)) for key, value in item.items() if not isinstance(value, list | dict)
    ]
    return ", ".join(f"{key}: {text}" for key, text in pairs if text)


def _field_line(key: str, value: Any) -> str:
    if isinstance(value, dict):
        text = _fields(value) or _summarize(value, _VALUE_CHARACTERS)
    elif isinstance(value, list):
        text = _summarize(value, _VALUE_CHARACTERS)
    else:
        text = _scalar(value)
    return f"{key}: {text}" if text else f"{key}:"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return _integer(value)
        case float() if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
        case float():
            return repr(value)
        case _:
            return clip(str(value), _VALUE_CHARACTERS)


def _integer(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        # Python refuses to spell out thousands of digits.
        return f"(an integer of {value.bit_length()} bits)"
