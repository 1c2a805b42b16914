"""Stored memory read back: every sound exchange and step is kept, the others are dropped.

Pure. The one place that reads what `records.to_json` writes. Source: behaviour spec 7.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from goliath_local.memory.json_text import parse_json, sound
from goliath_local.records import Exchange, Json, MemoryState, StepRecord

VERSION = 1
"""Of the stored form. It is not written; a text that names another is kept aside."""


_MOST_ITEMS = 1000
"""Exchanges of a memory, or steps of an exchange, that are looked at: the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a stored text gave."""

    state: MemoryState
    problems: tuple[str, ...] = ()
    """What was dropped and why; when there are any, the text has to be kept aside before
    something is saved over it."""

    conversation_id: str | None = None
    """Whose memory it says it is; None when it does not say."""

    unfinished: Exchange | None = None
    """A turn that was under way at the last save."""

    process: Json = None
    """What was noted of the process that ran it."""


def read_memory(data: str | bytes) -> Reading:
    """Return the memory in a stored text; empty memory when nothing in it is sound."""
    parsed = parse_json(data)
    reading = memory_from_json(parsed.value)
    if parsed.value is None and parsed.problems:
        return Reading(state=MemoryState(), problems=parsed.problems)
    return replace(reading, problems=(*parsed.problems, *reading.problems))


def memory_from_json(value: Json) -> Reading:
    """Return the memory in a JSON value, with what was not sound left out."""
    problems: list[str] = []
    if not isinstance(value, Mapping):
        return Reading(state=MemoryState(), problems=("it is not an object",))
    if value.get("version", VERSION) != VERSION:
        problems.append(f"it says version {value['version']!r:.20}")
    conversation, under_way = value.get("conversation"), value.get("unfinished")
    noted = [] if under_way is None else [under_way]
    state = MemoryState(
        summary=_summary(value.get("summary", ""), problems),
        recent=tuple(_listed(value.get("recent", []), _exchange, "exchange", problems)),
    )
    return Reading(
        state=state,
        problems=tuple(problems),
        conversation_id=sound(conversation) if isinstance(conversation, str) else None,
        unfinished=next(iter(_listed(noted, _exchange, "unfinished turn", problems)), None),
        process=under_way.get("process") if isinstance(under_way, Mapping) else None,
    )


def exchange_from_json(value: Json) -> Exchange | None:
    """Return the exchange in a JSON value, unsound steps left out; None when it is none."""
    return next(iter(_listed([value], _exchange, "exchange", [])), None)


def step_from_json(value: Json) -> StepRecord | None:
    """Return the step in a JSON value; None when it is none."""
    return next(iter(_listed([value], _step, "step", [])), None)


class _NotSound(ValueError):
    """A stored value is not what it should be; the message says what is wrong."""


_Read: TypeAlias = Callable[[Any, list[str]], Any]
"""JSON value and what was wrong so far → record. Raises `ValueError` when it is none."""


def _listed(value: Any, read: _Read, what: str, problems: list[str]) -> list[Any]:
    if not isinstance(value, list | tuple):
        problems.append(f"its {what}s are not a list")
        return []
    found = []
    first = max(0, len(value) - _MOST_ITEMS)
    if first:
        problems.append(f"the first {first} of its {what}s were not looked at")
    for at, item in enumerate(value[first:], first):
        try:
            found.append(read(item, problems))
        except (ValueError, RecursionError) as error:
            problems.append(f"{what} {at} was left out: {error}")
    return found


def _summary(value: Any, problems: list[str]) -> str:
    if isinstance(value, str):
        return str(sound(value))
    problems.append("its summary is not a text")
    return ""


def _exchange(value: Any, problems: list[str]) -> Exchange:
    _verify_object(value)
    steps = value.get("steps")
    records = [] if steps is None else _listed(steps, _step, "step", problems)
    interrupted = any(step.interrupted for step in records)
    # A process that ended in the middle of a call may have left no answer.
    answer = value.get("answer", "" if interrupted else None)
    ask, at = value.get("ask"), value.get("at")
    if not isinstance(ask, str) or not isinstance(answer, str):
        raise _NotSound("ask or answer is not a text")
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        raise _NotSound("its time is not a number")
    return Exchange(
        ask=sound(ask),
        answer=sound(answer),
        at=at,
        best_effort=value.get("bestEffort") is True or (interrupted and not answer),
        steps=tuple(records),
    )


def _step(value: Any, _problems: list[str]) -> StepRecord:
    _verify_object(value)
    wrong = [key for key, is_right in _REQUIRED.items() if not is_right(value.get(key))]
    wrong += [key for key in ("result", "text") if not _is_text_or_none(value.get(key))]
    if wrong:
        raise _NotSound(", ".join(wrong) + ": not as it should be")
    fields = {
        name: sound(value[key])
        for key, (name, is_right) in _OPTIONAL.items()
        if value.get(key) is not None and is_right(value[key])
    }
    kind = value["kind"]
    unfinished = kind == "tool" and value.get("result") is None and not fields.get("skipped")
    return StepRecord(
        index=value["index"],
        kind=kind,
        brief=sound(value["brief"]),
        output=sound(value.get("output")),
        has_output="output" in value,
        **{"interrupted": unfinished, **fields},
    )


def _verify_object(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise _NotSound("it is not an object")


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


_REQUIRED: Mapping[str, Callable[[Any], bool]] = {
    "index": _is_index,
    "kind": _one_of("tool", "answer"),
    "brief": _is_text,
}
_OPTIONAL: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "tool": ("tool", _is_text),
    "input": ("input", _is_object),
    "result": ("result", _is_text),
    "outputMode": ("output_mode", _one_of("summary", "content")),
    "writes": ("writes", _is_flag),
    "skipped": ("skipped", _is_flag),
    "skipReason": ("skip_reason", _one_of("policy", "confirmation", "missing")),
    "extension": ("extension", _is_text),
    "cached": ("cached", _is_flag),
    "failed": ("failed", _is_flag),
    "interrupted": ("interrupted", _is_flag),
    "text": ("text", _is_text),
    "confidence": ("confidence", _is_share),
}
"""Key in JSON → field of the record, and what its value has to be; others are not taken."""
