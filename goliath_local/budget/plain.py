"""Any Python value as plain data: None, bool, int, float, str, list, dict.

Pure. Tools may return whatever they like; summaries and JSON copies start from here.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Mapping, Sequence, Set
from enum import Enum
from typing import Any, TypeAlias

Plain: TypeAlias = Any
"""None, bool, int, float, str, or lists and dicts (with text keys) of these."""


_PLAIN_ALREADY = frozenset({type(None), bool, int, float, str})


def plain(value: Any, *, other: Callable[[Any], Plain] | None = None) -> Plain:
    """Return the value as plain data.

    Tuples become lists, sets sorted lists, dataclasses and pydantic models mappings, dates ISO
    texts, enums their values.

    Args:
        value: anything.
        other: says what becomes of bytes and of what is not listed above; the default is a
            note on the number of bytes, and `str`.
    """
    if isinstance(value, Enum):
        return plain(value.value, other=other)
    if value is None or isinstance(value, bool | str | int | float):
        return _scalar(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return (other or _described)(value)
    return _nested(value, other)


def _scalar(value: bool | str | float | None) -> Plain:
    """Return the value without a subclass that an application may have put on it."""
    for kind in (bool, str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return None


def _nested(value: Any, other: Callable[[Any], Plain] | None) -> Plain:
    if isinstance(value, Mapping):
        return {_key(key): plain(item, other=other) for key, item in value.items()}
    if isinstance(value, Set):
        return [plain(item, other=other) for item in _sorted(value)]
    if isinstance(value, Sequence):
        return [
            item if type(item) in _PLAIN_ALREADY else plain(item, other=other) for item in value
        ]
    if callable(tolist := getattr(value, "tolist", None)) and not isinstance(value, type):
        return plain(tolist(), other=other)  # Arrays and scalars of numpy and its like.
    fields = _fields(value)
    return (other or _described)(value) if fields is None else plain(fields, other=other)


def _fields(value: Any) -> Plain:
    """Return what a dataclass or a pydantic model holds; None when it is neither."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return dump(mode="json", by_alias=True)
    return None


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        return _key(key.value)
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, dt.date | dt.time):
        return key.isoformat()
    return "null" if key is None else str(key)


def _sorted(values: Set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _described(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        size = memoryview(value).nbytes
        return f"({size} byte{'' if size == 1 else 's'})"
    return str(value)
