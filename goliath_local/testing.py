"""The scripted model: it says what it was told to say, and remembers what it was asked.

Pure, and public: applications test their agents with it.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ScriptError
from goliath_local.model import Choice, ExampleTurn, JsonSchema, Reply, Request, Stage, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KINDS = ("text", "json", "error", "tool_call")
_EXTRAS = {"finish", "choices"}
_PIECE_CHARS = 8
"""Pieces in which a reply is streamed."""


class ScriptExhausted(ScriptError):
    """The model was asked more often than its script has items."""


class ScriptMismatch(ScriptError):
    """The next item of the script does not fit the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One question that the scripted model was asked."""

    label: str
    """The stage."""

    system: str
    prompt: str
    """The user text."""

    examples: tuple[ExampleTurn, ...]
    schema: JsonSchema | None
    output_cap: int
    request: Request


class FakeModel:
    """A model that replies from a script, one item a generation, in order."""

    def __init__(self, script: Iterable[Mapping[str, Any]]) -> None:
        self._items = deque(_verified(item) for item in script)
        self.calls: list[Call] = []
        """Every question, in order, also those that no item was left for."""

    def remaining(self) -> int:
        """Return how many items were not used."""
        return len(self._items)

    async def generate(self, request: Request) -> Reply:
        """Reply with the next item.

        Raises:
            ScriptExhausted: there is none.
            ScriptMismatch: it is a tool call, and something else is asked.
        """
        self.calls.append(_call(request))
        item = self._next(request)
        if "error" in item:
            raise item["error"]
        text = _text(item)
        if request.on_text is not None:
            for at in range(0, len(text), _PIECE_CHARS):
                request.on_text(text[at : at + _PIECE_CHARS])
        return Reply(
            text=text,
            finish=item.get("finish", "stop"),
            usage=_usage(request, text),
            choices=tuple(item.get("choices", ())),
        )

    def _next(self, request: Request) -> Mapping[str, Any]:
        while self._items:
            item = self._items.popleft()
            call = item.get("tool_call")
            if call is None or _fits(call, request):
                return item
            if call.get("input"):
                msg = (
                    f"The script has arguments for {call['name']!r}, and the model was asked as "
                    f"{_asked(request)}. Put the items in the order of the questions."
                )
                raise ScriptMismatch(msg)
        msg = (
            f"The script has no item left for question {len(self.calls)}, {_asked(request)}. "
            'Add one; to simulate a dead model add {"error": ...} items.'
        )
        raise ScriptExhausted(msg)


def fake_model(script: Iterable[Mapping[str, Any]]) -> FakeModel:
    """Return a model that replies from the script.

    Args:
        script: one item for each generation: `{"text": s}`, `{"json": value}`,
            `{"error": exception}`, or `{"tool_call": {"name", "input"}}` for the arguments of that
            tool. `text` and `json` may carry `finish` ("stop" or "length") and `choices`
            (`model.Choice`).
    """
    return FakeModel(script)


def _verified(item: Mapping[str, Any]) -> Mapping[str, Any]:
    kinds = [key for key in item if key in _KINDS]
    if len(kinds) != 1 or set(item) - set(kinds) - _EXTRAS:
        message = f"A script item has to be one of {', '.join(_KINDS)}, not {dict(item)!r}."
        raise ScriptMismatch(message)
    return item


def _text(item: Mapping[str, Any]) -> str:
    if "text" in item:
        return str(item["text"])
    value = item["json"] if "json" in item else item["tool_call"].get("input") or {}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _fits(call: Mapping[str, Any], request: Request) -> bool:
    return request.stage is Stage.WORKER and (request.schema or {}).get("title") == call["name"]


def _asked(request: Request) -> str:
    tool = (request.schema or {}).get("title") if request.stage is Stage.WORKER else None
    return f"{request.stage.value} of {tool}" if tool else request.stage.value


def _call(request: Request) -> Call:
    return Call(
        label=request.stage.value,
        system=request.system_text,
        prompt=request.user_text,
        examples=request.examples,
        schema=request.schema,
        output_cap=request.max_tokens,
        request=request,
    )


def _usage(request: Request, text: str) -> Usage:
    prompt = len(request.system_text) + len(request.user_text)
    return Usage(
        prompt_tokens=-(-prompt // 4),
        evaluated_tokens=-(-prompt // 4),
        completion_tokens=-(-len(text) // 4),
    )


__all__ = ["Call", "Choice", "FakeModel", "ScriptExhausted", "ScriptMismatch", "fake_model"]
