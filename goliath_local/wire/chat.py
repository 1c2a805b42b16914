"""The OpenAI-compatible chat form: what is sent, and what comes back, whole or piece by piece.

Pure. Only what servers say is used; a model's name is passed on and never looked at. Numbers and
texts from a server are taken only if they are what they ought to be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ModelError, ModelRefused
from goliath_local.model import Usage
from goliath_local.wire.thinking import Thinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.model import Finish, Request
    from goliath_local.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one message or one piece of a stream brings."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    refusal: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A whole chat reply."""

    text: str
    reasoning: str
    finish: Finish
    usage: Usage


def chat_messages(request: Request) -> list[dict[str, str]]:
    """Return the request as messages: system, example turns, user."""
    messages = [_message("system", request.system_text)] if request.system_text else []
    for example in request.examples:
        messages += [_message("user", example.user), _message("assistant", example.assistant)]
    return [*messages, _message("user", request.user_text)]


def chat_body(
    messages: Sequence[Mapping[str, str]], *, model: str | None, max_tokens: int
) -> dict[str, Json]:
    """Return the fields that every chat request has."""
    named = {"model": model} if model else {}
    return {**named, "messages": list(messages), "max_tokens": max_tokens}


def request_body(request: Request, *, model: str | None) -> dict[str, Json]:
    """Return the chat request for a request to a model; streamed if somebody listens."""
    body = chat_body(chat_messages(request), model=model, max_tokens=request.max_tokens)
    body["temperature"] = request.temperature
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.stage.value,
                "strict": is_closed(request.schema),
                "schema": request.schema,
            },
        }
    body["stream"] = request.on_text is not None
    if body["stream"]:
        body["stream_options"] = {"include_usage": True}
    return body


def is_closed(schema: object) -> bool:
    """Return whether every object in a schema has exactly its listed keys, all required.

    Only such schemas may be called strict; servers that check it refuse others.
    """
    if isinstance(schema, list | tuple):
        return all(is_closed(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(is_closed(value) for value in schema.values())


def read_piece(data: Json) -> Piece:
    """Return what a reply or a piece of a stream brings; empty if it brings nothing.

    Raises:
        ModelError: it is not of the chat form.
    """
    if not isinstance(data, Mapping):
        raise ModelError("The server's reply is not of the chat form. Is the address right?")
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    choice = first if isinstance(first, Mapping) else {}
    message = choice.get("message") or choice.get("delta") or {}
    if not isinstance(message, Mapping):
        message = {}
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise ModelError("The server's reply is not of the chat form: its content is no text.")
    return Piece(
        text=content or "",
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish=_text(choice.get("finish_reason")) or None,
        refusal=_text(message.get("refusal")) or None,
        usage=_usage(data) if isinstance(data.get("usage"), Mapping) else None,
    )


class Incoming:
    """A chat reply as it comes, in one piece or many."""

    def __init__(self) -> None:
        self._thinking = Thinking()
        self._finish: str | None = None
        self._refusal = ""
        self._usage = Usage()

    def take(self, piece: Piece) -> str:
        """Take a piece and return the text that is certain to be reply."""
        self._thinking.reason(piece.reasoning)
        self._finish = piece.finish or self._finish
        self._refusal += piece.refusal or ""
        self._usage = piece.usage or self._usage
        return self._thinking.feed(piece.text)

    def finish(self) -> str:
        """Say that no more comes, and return the rest of the reply."""
        return self._thinking.finish()

    def completion(self) -> Completion:
        """Return the whole reply.

        Raises:
            ModelRefused: the model or a filter of the server declined.
            ModelError: the reply has no end.
        """
        if self._refusal or self._finish == "content_filter":
            reason = self._refusal.strip() or "its content filter stopped the reply"
            message = f"The model declined: {reason[:300]}. Put the request differently."
            raise ModelRefused(message)
        if self._finish is None:
            raise ModelError("The server's reply has no end: the connection broke. Try again.")
        return Completion(
            text=self._thinking.reply,
            reasoning=self._thinking.reasoning,
            finish="length" if self._finish == "length" else "stop",
            usage=self._usage,
        )


def read_completion(body: bytes) -> Completion:
    """Return the reply to a request that was not streamed.

    Raises:
        ModelRefused: the model or a filter of the server declined.
        ModelError: the body is not a chat reply.
    """
    incoming = Incoming()
    incoming.take(read_piece(read_json(body)))
    incoming.finish()
    return incoming.completion()


def read_json(body: bytes | str) -> Json:
    """Return the JSON of a body.

    Raises:
        ModelError: it is none.
    """
    try:
        return json.loads(body)
    # RecursionError: brackets nested a hundred thousand deep are no reply either.
    except (ValueError, RecursionError) as error:
        message = "The server's reply is not JSON. Is the address that of an API?"
        raise ModelError(message) from error


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _usage(data: Mapping[str, Any]) -> Usage:
    usage, timings = data["usage"], data.get("timings")
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else 0
    prompt = _count(usage.get("prompt_tokens"))
    timings = timings if isinstance(timings, Mapping) else {}
    return Usage(
        prompt_tokens=prompt,
        evaluated_tokens=max(0, prompt - cached),
        completion_tokens=_count(usage.get("completion_tokens")),
        prefill_s=_seconds(timings.get("prompt_ms")),
        decode_s=_seconds(timings.get("predicted_ms")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value / 1000 if is_number and 0 <= value < float("inf") else 0.0
