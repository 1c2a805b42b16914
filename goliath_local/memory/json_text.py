"""Stored JSON read with suspicion: what can be read is, and what was wrong is told.

Pure. Numbers that JSON does not have, or that Python will not hold, come out as NaN, so that
their owner can be dropped instead of the whole document.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.records import Json

MOST_BYTES = 64 * 1024 * 1024
"""Larger stored texts are not read at all."""

_LOOKED_AT_CLOSELY = 4 * 1024 * 1024
"""Doubled keys and over-long integers are looked for up to this size, in characters: a Python
call for each value of a larger text would take many seconds."""

_MOST_NODES = 200_000
"""A value with more parts is not a tool's input or output that we stored."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a stored text says."""

    value: Json
    """None when nothing could be read."""

    problems: tuple[str, ...]
    """What was wrong, in words; empty when the text is sound."""


def parse_json(data: str | bytes) -> Parsed:
    """Return the value of a stored text; never raises for what the text holds."""
    problems: list[str] = []
    text = _decoded(data, problems)
    if text is None:
        return Parsed(value=None, problems=tuple(problems))
    decoder = _decoder(problems, closely=len(text) <= _LOOKED_AT_CLOSELY)
    try:
        value = decoder.decode(text)
    except (ValueError, RecursionError) as error:
        problems.append(f"it is not sound JSON ({_in_words(error)})")
        return Parsed(value=_salvaged(text, _decoder([], closely=True)), problems=tuple(problems))
    return Parsed(value=value, problems=tuple(dict.fromkeys(problems)))


def sound(value: Json) -> Json:
    """Return a copy without lone surrogates, which no tokenizer and no file can hold.

    Raises:
        ValueError: it holds a number that is not finite, or very many values.
        RecursionError: it is nested too deeply to be looked at.
    """
    return _sound(value, iter(range(_MOST_NODES)))


def _sound(value: Json, allowance: Iterator[int]) -> Json:
    if next(allowance, None) is None:
        raise ValueError("it has too many parts")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if isinstance(value, list):
        return [_sound(item, allowance) for item in value]
    if isinstance(value, dict):
        return {_sound(key, allowance): _sound(item, allowance) for key, item in value.items()}
    return value


def _decoded(data: str | bytes, problems: list[str]) -> str | None:
    if len(data) > MOST_BYTES:
        problems.append(f"it is larger than {MOST_BYTES // 1024**2} MiB")
        return None
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.append(f"byte {error.start} is not UTF-8")
        return data.decode("utf-8-sig", "replace")


def _decoder(problems: list[str], *, closely: bool) -> json.JSONDecoder:
    def constant(name: str) -> float:
        problems.append(f"it holds {name}")
        return math.nan

    def integer(digits: str) -> int | float:
        try:
            return int(digits)
        except ValueError:
            return constant(f"a number of {len(digits)} digits")

    def floating(text: str) -> float:
        value = float(text)
        return value if math.isfinite(value) else constant(text[:20])

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            problems.append("a key stands twice")
        return found

    if not closely:
        return json.JSONDecoder(parse_constant=constant)
    return json.JSONDecoder(
        parse_constant=constant,
        parse_int=integer,
        parse_float=floating,
        object_pairs_hook=pairs,
    )


def _salvaged(text: str, decoder: json.JSONDecoder) -> Json:
    """Return summary and leading exchanges of a memory text that breaks off, or None."""
    found: dict[str, Any] = {}
    for key in ("conversation", "summary"):
        value = next(_values_after(text, f'"{key}":', decoder), None)
        if isinstance(value, str):
            found[key] = value
    start = text.find('"recent":[')
    if start >= 0:
        found["recent"] = list(_values_after(text[start:], '"recent":[', decoder))
    return found or None


def _values_after(text: str, mark: str, decoder: json.JSONDecoder) -> Iterator[Any]:
    """Yield the values that follow the mark, as long as they can be read."""
    at = text.find(mark)
    if at < 0:
        return
    at += len(mark)
    while True:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        yield value
        if text[at : at + 1] != ",":
            return
        at += 1


def _in_words(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
