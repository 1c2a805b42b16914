"""JSON copies of Python values, and when two of them are the same call.

Pure. Source: behaviour spec 2.6 and 3.5.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from goliath_local.budget import plain

if TYPE_CHECKING:
    from goliath_local.records import Json


_MOST_BITS = 13_000
"""Python writes no integer of more than 4,300 digits, some 14,280 bits."""


class NotJson(TypeError):
    """The value, or something in it, has no JSON form."""


def json_copy(value: Any) -> Json:
    """Return the value as JSON that shares nothing with it.

    Tuples, sets, dataclasses, pydantic models, dates, enums, decimals, UUIDs, paths and the like
    have a JSON form; NaN and infinities become None, as JSON has no word for them.

    Raises:
        NotJson: something in it has none: bytes, an open file, a value that contains itself.
    """
    try:
        return _finite(plain(value, other=_spelled))
    except NotJson:
        raise
    except RecursionError as error:
        raise NotJson("The value contains itself, or is nested too deeply.") from error
    except Exception as error:
        message = f"The value cannot be read: {type(error).__name__}."
        raise NotJson(message) from error


def canonical_equal(left: Any, right: Any) -> bool:
    """Say whether two argument values are the same call.

    They are compared as JSON: key order does not matter, list order does, `1` is `1.0` and
    neither is `True`. A value without a JSON form equals nothing.
    """
    try:
        return _same(json_copy(left), json_copy(right))
    except (NotJson, RecursionError):
        return False


def _spelled(value: Any) -> Json:
    """Return what pydantic writes for the value, so that it reads back as an argument."""
    # An iterator would be used up by looking at it, and bytes are not text.
    if not isinstance(value, bytes | bytearray | memoryview | Iterator):
        with contextlib.suppress(PydanticSerializationError):
            return to_jsonable_python(value)
    message = f"A value of type {type(value).__name__} has no JSON form."
    raise NotJson(message)


def _finite(value: Json) -> Json:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise NotJson("The value holds an integer of thousands of digits.")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def _same(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_same(one, other) for one, other in pairs)
    return bool(left == right)
