"""A model behind an OpenAI-compatible server: llama.cpp's own, Ollama, vLLM and others.

Edge: network. One request is one attempt; what goes wrong is one of the model port's failures.
Before the first request the server is asked once what it is (`probe`). A request is made from
one snapshot of what is known; a probe that is late, failed or cancelled changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from goliath_local.cancel import abortable
from goliath_local.engine.probe import probe
from goliath_local.engine.server_report import ESTIMATED_WINDOW_TOKENS, Preset, nothing_known
from goliath_local.errors import ConfigError, HttpError, ModelError, ModelUnavailable
from goliath_local.model import Capabilities, Reply, Support
from goliath_local.wire import (
    Completion,
    Incoming,
    exchange,
    http_client,
    is_about_schema,
    read_address,
    read_completion,
    read_event,
    read_piece,
    read_refusal,
    request_body,
    safe_url,
    secrets_of,
    server_events,
    within_time,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goliath_local.engine.server_report import Offer
    from goliath_local.model import Request
    from goliath_local.records import Json

TIMEOUT_S = 300.0
MAX_REPLY_BYTES = 4_194_304
_PRESETS = ("auto", "llama.cpp", "ollama", "openai")


class OpenAICompatibleModel:
    """A `Model` that asks a server."""

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        preset: Preset = "auto",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take where and how to ask; nothing is asked yet.

        Args:
            base_url: such as `http://localhost:8080`; `/v1` is added if it has no path.
            model: passed on as it is. If left out, the only model that the server offers.
            api_key: sent as a bearer token.
            preset: which questions the probe asks; `auto` goes by what `/v1/models` says.
            timeout_s: most seconds of one reply, probe aside.

        Raises:
            ConfigError: the address or the preset is none.
        """
        if preset not in _PRESETS:
            message = f"There is no preset {preset!r}. There are {', '.join(_PRESETS)}."
            raise ConfigError(message)
        self._address = read_address(base_url)
        self._headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        self._model = model
        self._preset: Preset = preset
        self._timeout_s = timeout_s
        self._offer = nothing_known(model=model, preset=preset)
        self._is_probed = False
        self._newest_probe = 0
        self._probing: asyncio.Lock | None = None
        self._probing_loop: asyncio.AbstractEventLoop | None = None

    def capabilities(self) -> Capabilities:
        """Return what is known of the model now; it never changes afterwards."""
        return self._offer.capabilities

    async def window(self) -> int:
        """Return the window in tokens, asking the server first if that was not done.

        Made to be handed to `create_agent` as `window`.
        """
        await self._known()
        return self.capabilities().window_tokens or ESTIMATED_WINDOW_TOKENS

    async def probe(self) -> Capabilities:
        """Ask the server what it and its model can do, and keep the answer.

        If another probe was started meanwhile, this one is stale and its answer is not kept.
        """
        self._newest_probe += 1
        mine = self._newest_probe
        offer = await probe(
            self._address, headers=self._headers, model=self._model, preset=self._preset
        )
        if mine == self._newest_probe:
            self._offer, self._is_probed = offer, True
        return offer.capabilities

    async def generate(self, request: Request) -> Reply:
        """Reply to the request, in a fresh context, without retries.

        Raises:
            ModelUnavailable: the server cannot be reached, or cannot do what is asked.
            ModelRefused: the model or a filter of the server declined.
            ContextFull: the prompt does not fit the server's window.
            ModelError: anything else the server did.
            RunCancelled: the request was cancelled.
        """
        if request.cancel is not None:
            request.cancel.raise_if_cancelled()
        return await abortable(self._generate(request), request.cancel)

    async def _generate(self, request: Request) -> Reply:
        offer = await self._known()
        body = request_body(request, model=self._name(offer))
        started = time.perf_counter()
        try:
            async with within_time(self._address.api, self._timeout_s):
                if request.on_text is None:
                    completion, first_s = await self._whole(body), 0.0
                else:
                    completion, first_s = await self._streamed(body, request.on_text, started)
        except HttpError as error:
            raise self._failure(error, request, offer) from error
        return Reply(
            text=completion.text,
            finish=completion.finish,
            usage=replace(completion.usage, first_token_s=first_s),
            reasoning=completion.reasoning,
        )

    async def _whole(self, body: Json) -> Completion:
        async with http_client(self._address.api) as client:
            reply = await exchange(
                client,
                "POST",
                self._url,
                headers=self._sent,
                content=json.dumps(body).encode(),
                max_bytes=MAX_REPLY_BYTES,
                timeout_s=self._timeout_s,
            )
        if reply.status != 200:
            raise HttpError(safe_url(self._url), "", status=reply.status, body=reply.body)
        return read_completion(reply.body)

    async def _streamed(
        self, body: Json, on_text: Callable[[str], None], started: float
    ) -> tuple[Completion, float]:
        incoming, first_s = Incoming(), 0.0
        async with http_client(self._address.api) as client:
            content = json.dumps(body).encode()
            events = server_events(
                client, self._url, headers=self._sent, content=content, max_bytes=MAX_REPLY_BYTES
            )
            async with aclosing(events):
                async for data in events:
                    text = incoming.take(read_piece(read_event(self._url, data)))
                    if text:
                        first_s = first_s or time.perf_counter() - started
                        on_text(text)
        if rest := incoming.finish():
            on_text(rest)
        return incoming.completion(), first_s

    @property
    def _url(self) -> str:
        return f"{self._address.api}/chat/completions"

    @property
    def _secrets(self) -> tuple[str, ...]:
        return secrets_of(self._url, self._headers)

    @property
    def _sent(self) -> Mapping[str, str]:
        return {"content-type": "application/json", **self._headers}

    async def _known(self) -> Offer:
        """Return what is known, after the one probe that comes before the first request."""
        async with self._one_at_a_time():
            if not self._is_probed:
                await self.probe()
        return self._offer

    def _one_at_a_time(self) -> asyncio.Lock:
        # A lock belongs to a loop, and `run_sync` makes a new one for each run.
        loop = asyncio.get_running_loop()
        if self._probing is None or self._probing_loop is not loop:
            self._probing, self._probing_loop = asyncio.Lock(), loop
        return self._probing

    def _name(self, offer: Offer) -> str | None:
        if self._model is None and len(offer.names) > 1:
            some = ", ".join(offer.names[:5])
            server = safe_url(self._address.server)
            message = f"{server} offers several models. Say model=…, one of: {some}."
            raise ModelUnavailable(message)
        return offer.capabilities.name or None

    def _failure(self, error: HttpError, request: Request, offer: Offer) -> ModelError:
        if error.status is None:
            # Nobody was there, so nobody answered the probe either: ask again next time.
            self._is_probed = False
            return ModelUnavailable(str(error))
        if request.schema is not None and is_about_schema(error):
            return self._without_schema(error, offer)
        window = offer.capabilities.window_tokens or ESTIMATED_WINDOW_TOKENS
        return read_refusal(error, window_tokens=window, secrets=self._secrets)

    def _without_schema(self, error: HttpError, offer: Offer) -> ModelError:
        known = offer.capabilities
        if known.schema is Support.UNKNOWN and self._offer is offer:
            self._offer = offer.knowing(replace(known, schema=Support.UNSUPPORTED))
        window = ESTIMATED_WINDOW_TOKENS
        said = read_refusal(error, window_tokens=window, secrets=self._secrets)
        return ModelUnavailable(
            f"The server does not hold a reply to this JSON schema: {said} Use one that does, "
            "such as llama.cpp's server, Ollama or vLLM."
        )
