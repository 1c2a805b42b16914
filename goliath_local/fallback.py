"""Fallbacks: who finishes a turn that the device could not finish. Edge: network.

A fallback is any function of the hand-off (`FallbackRequest`) that gives a text. Two are here:
one posts the hand-off to a server of the application, the other asks any OpenAI-compatible
server. Both try once, within a time and a size. Source: behaviour spec, sections 3.9 and 11.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from goliath_local.budget import clip_tokens
from goliath_local.cancel import CancelToken, abortable
from goliath_local.errors import FallbackError, HttpError, ModelError
from goliath_local.prompts import exchange_parts, log_line, render
from goliath_local.records import FallbackRequest, to_json
from goliath_local.wire import (
    HttpReply,
    chat_body,
    exchange,
    http_client,
    read_address,
    read_completion,
    read_refusal,
    safe_url,
    secrets_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2

    from goliath_local.records import Json, StepRecord

FallbackReply: TypeAlias = str | Mapping[str, Any]
"""The text, or a mapping with a string `text`; other keys are ignored."""

Headers: TypeAlias = Mapping[str, str]
HeadersFor: TypeAlias = Callable[[], Headers | Awaitable[Headers]]
ReadText: TypeAlias = Callable[[Any], str | Awaitable[str]]

MAX_REPLY_BYTES = 1_048_576
TIMEOUT_S = 60.0
OUTPUT_TOKENS = 2000
"""Most estimated tokens of one step's output that a chat server is shown."""


class Fallback(Protocol):
    """Finishes a turn elsewhere. May be sync or async."""

    def __call__(
        self, request: FallbackRequest, *, cancel: CancelToken
    ) -> FallbackReply | Awaitable[FallbackReply]:
        """Return the text that ends the turn; what it raises ends the run."""
        ...


def http_fallback(
    url: str,
    *,
    headers: Headers | HeadersFor | None = None,
    client: httpx2.AsyncClient | None = None,
    read_text: ReadText | None = None,
    timeout: float = TIMEOUT_S,
) -> Fallback:
    """Return a fallback that posts the hand-off as JSON and reads `text` from the reply.

    Args:
        url: whom to ask.
        headers: sent along, or a function that is asked for them at each call.
        client: an `httpx2.AsyncClient` to send with, which stays open. Redirects are followed
            only if it follows them, and then only on the same origin.
        read_text: gives the text for the reply's JSON, where that is not its `text`.
        timeout: seconds for everything.
    """

    async def fall_back(request: FallbackRequest, *, cancel: CancelToken) -> FallbackReply:
        sent = {"content-type": "application/json", **await _resolved(headers)}
        asked = _post(client, url, headers=sent, content=_json(to_json(request)), timeout=timeout)
        reply = await abortable(asked, cancel)
        if not 200 <= reply.status < 300:
            message = f"{safe_url(url)} answered {reply.status}. See what it says in its log."
            raise FallbackError(message)
        body = _read_body(url, reply.body)
        text = body.get("text") if isinstance(body, Mapping) else None
        if read_text is not None:
            text = await _settled(read_text(body))
        if not isinstance(text, str):
            message = f'{safe_url(url)} has to reply with {{"text": "…"}}. Or give read_text.'
            raise FallbackError(message)
        return {"text": text}

    return fall_back


def chat_fallback(
    base_url: str,
    model: str | None = None,
    *,
    api_key: str | None = None,
    client: httpx2.AsyncClient | None = None,
    max_tokens: int = 1024,
    timeout: float = TIMEOUT_S,
) -> Fallback:
    """Return a fallback that hands the turn to an OpenAI-compatible chat server.

    The server is shown the ask, the brief, the recent exchanges, the steps so far with their
    outputs, and why the turn is handed over.

    Args:
        base_url: such as `http://localhost:8080`; `/v1` is added if it has no path.
        model: passed on as it is; not sent if left out.
        api_key: sent as a bearer token.
        client: an `httpx2.AsyncClient` to send with, which stays open.
        max_tokens: most tokens of the answer.
        timeout: seconds for everything.

    Raises:
        ConfigError: `base_url` is not the address of a server.
    """
    url = f"{read_address(base_url).api}/chat/completions"
    headers = {"content-type": "application/json"}
    if api_key is not None:
        headers["authorization"] = f"Bearer {api_key}"

    async def fall_back(request: FallbackRequest, *, cancel: CancelToken) -> FallbackReply:
        body = chat_body(hand_off(request), model=model, max_tokens=max_tokens)
        asked = _post(client, url, headers=headers, content=_json(body), timeout=timeout)
        reply = await abortable(asked, cancel)
        try:
            if not 200 <= reply.status < 300:
                refused = HttpError(safe_url(url), "", status=reply.status, body=reply.body)
                secrets = secrets_of(url, headers)
                raise read_refusal(refused, window_tokens=0, secrets=secrets)
            return {"text": read_completion(reply.body).text}
        except ModelError as error:
            message = f"The fallback at {safe_url(url)} gave no answer. {error}"
            raise FallbackError(message) from error

    return fall_back


def hand_off(request: FallbackRequest) -> list[dict[str, str]]:
    """Return the turn as chat messages for a model that takes it over."""
    parts: list[str] = []
    if request.summary:
        parts.append(f"{render('shared.brief')}\n{request.summary}")
    if request.recent:
        blocks = ["\n".join(exchange_parts(exchange)) for exchange in request.recent]
        parts.append("\n\n".join([render("shared.recent"), *blocks]))
    if request.steps:
        parts.append("\n".join([render("shared.log"), *map(_step_line, request.steps)]))
    why = request.reason.value if request.error is None else f"{request.reason} ({request.error})"
    parts += [render("hand_off.reason", reason=why), render("shared.ask", ask=request.ask)]
    return [
        {"role": "system", "content": render("hand_off.task")},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def _step_line(step: StepRecord) -> str:
    if not step.has_output:
        return log_line(step)
    output = step.output if isinstance(step.output, str) else _json(step.output).decode()
    return log_line(step, result=clip_tokens(output, OUTPUT_TOKENS))


async def _post(
    client: httpx2.AsyncClient | None,
    url: str,
    *,
    headers: Headers,
    content: bytes,
    timeout: float,  # noqa: ASYNC109 - the public option is called so, and is kept in one place
) -> HttpReply:
    try:
        async with _client_for(url, client) as sender:
            return await exchange(
                sender,
                "POST",
                url,
                headers=headers,
                content=content,
                max_bytes=MAX_REPLY_BYTES,
                timeout_s=timeout,
                follow_redirects=sender.follow_redirects,
            )
    except HttpError as error:
        message = f"The fallback at {error.url} gave no answer: {error.reason}"
        raise FallbackError(message) from error


@asynccontextmanager
async def _client_for(
    url: str, client: httpx2.AsyncClient | None
) -> AsyncIterator[httpx2.AsyncClient]:
    if client is not None:
        yield client
        return
    async with http_client(url) as own:
        yield own


async def _resolved(headers: Headers | HeadersFor | None) -> Headers:
    if headers is None or isinstance(headers, Mapping):
        return headers or {}
    given: Headers = await _settled(headers())
    return given


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _json(value: Json) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError) as error:
        message = f"The hand-off cannot be written as JSON: {error}. Check the tools' outputs."
        raise FallbackError(message) from error


def _read_body(url: str, body: bytes) -> Json:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        message = f"{safe_url(url)} did not reply with JSON. Check what it sends."
        raise FallbackError(message) from error
