"""Whether a line of a trace file is whole: what readers of traces may rely on.

Pure. A trace may have been cut, edited or written by another version; a line that is not as
described here is left out and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.model import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

_LATEST_MS = 253_402_300_800_000
"""The end of the year 9999."""

_STAGES = {stage.value for stage in Stage}


def is_whole(line: object) -> bool:
    """Return whether the line has all that its type needs, in the right shape."""
    if not isinstance(line, dict) or not isinstance(line.get("type"), str):
        return False
    verify = _SHAPES.get(line["type"])
    return verify is None or verify(line)


def _is_turn(line: dict[str, Any]) -> bool:
    at = line.get("at", 0)
    return _is_number(at) and 0 <= at < _LATEST_MS and isinstance(line.get("model", {}), dict)


def _is_event(line: dict[str, Any]) -> bool:
    event = line.get("event")
    return isinstance(event, dict) and isinstance(event.get("type"), str)


def _is_call(line: dict[str, Any]) -> bool:
    return (
        isinstance(line.get("stage"), str)
        and line["stage"] in _STAGES
        and all(_are_texts(line.get(key), ("name", "text")) for key in ("system", "user"))
        and _are_texts(line.get("examples"), ("user", "assistant"))
        and _is_number(line.get("seconds", 0))
        and isinstance(line.get("maxTokens"), int)
        and _is_reply(line.get("reply", {}))
        and _are_pieces(line.get("prompt") or [])
    )


def _is_result(line: dict[str, Any]) -> bool:
    outputs = line.get("outputs", [])
    return _are_texts(outputs, ("tool", "output")) and all(
        _is_number(row.get(key)) for row in outputs for key in ("shownCharacters", "characters")
    )


def _are_pieces(pieces: object) -> bool:
    return _are_texts(pieces, ("part", "text")) and all(
        isinstance(piece.get("tokens"), int)
        for piece in pieces  # type: ignore[attr-defined]  # a list of dicts by then
    )


def _is_reply(reply: object) -> bool:
    if not isinstance(reply, dict):
        return False
    choices = reply.get("choices") or []
    return (
        (not reply or isinstance(reply.get("text"), str))
        and isinstance(reply.get("usage", {}), dict)
        and all(map(_is_number, reply.get("usage", {}).values()))
        and isinstance(choices, list)
        and all(map(_is_choice, choices))
    )


def _is_choice(choice: object) -> bool:
    texts = ("path", "value")
    return _are_texts([choice], texts) and _is_number(choice.get("share"))  # type: ignore[attr-defined]  # a dict by then


def _are_texts(rows: object, keys: tuple[str, ...]) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(key), str) for key in keys)
        for row in rows
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SHAPES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "turn": _is_turn,
    "event": _is_event,
    "call": _is_call,
    "result": _is_result,
}
