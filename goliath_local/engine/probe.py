"""Asks a server, once and briefly, what it and its model can do. Edge: network.

Only facts about the model are asked for; nothing of a prompt is sent. All questions together
have 2 seconds and 256 KiB, go to the one server, follow no redirect, and a question that fails
leaves unknown what it would have told.
"""

from __future__ import annotations

import json
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from goliath_local.engine.server_report import (
    Offer,
    Preset,
    nothing_known,
    read_models,
    with_props,
    with_running,
    with_show,
)
from goliath_local.errors import HttpError, ModelError
from goliath_local.wire import Address, exchange, http_client, read_json, within_time

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import httpx2

    from goliath_local.records import Json

PROBE_TIMEOUT_S = 2.0
PROBE_BYTES = 262_144


async def probe(
    address: Address, *, headers: Mapping[str, str], model: str | None, preset: Preset
) -> Offer:
    """Return what the server offers, as far as it says so in time."""
    offer = nothing_known(model=model, preset=preset)
    with suppress(HttpError):
        async with (
            within_time(address.server, PROBE_TIMEOUT_S),
            http_client(address.api) as client,
            aclosing(_learn(_Questions(client, headers), address, offer, model, preset)) as learnt,
        ):
            # What was learnt before the time was over stays.
            async for more in learnt:
                offer = more
    return offer


async def _learn(
    questions: _Questions, address: Address, offer: Offer, model: str | None, preset: Preset
) -> AsyncGenerator[Offer, None]:
    """Yield what is known after each answer."""
    models = await questions.ask("GET", f"{address.api}/models")
    if models is not None:
        offer = read_models(models, model=model, preset=preset)
        yield offer
    if offer.kind == "llama.cpp":
        props = await questions.ask("GET", f"{address.server}/props")
        yield offer.knowing(with_props(offer.capabilities, props))
    if offer.kind == "ollama" and offer.capabilities.name:
        named = {"model": offer.capabilities.name}
        show = await questions.ask("POST", f"{address.server}/api/show", named)
        offer = offer.knowing(with_show(offer.capabilities, show))
        yield offer
        running = await questions.ask("GET", f"{address.server}/api/ps")
        yield offer.knowing(with_running(offer.capabilities, running))


class _Questions:
    """Asks one question after another, all within one number of bytes."""

    def __init__(self, client: httpx2.AsyncClient, headers: Mapping[str, str]) -> None:
        self._client = client
        self._headers = {"content-type": "application/json", **headers}
        self._left_bytes = PROBE_BYTES

    async def ask(self, method: str, url: str, body: Json = None) -> Json | None:
        """Return the JSON of the answer; None if there is none worth reading."""
        try:
            reply = await exchange(
                self._client,
                method,
                url,
                headers=self._headers,
                content=None if body is None else json.dumps(body).encode(),
                max_bytes=self._left_bytes,
                timeout_s=PROBE_TIMEOUT_S,
            )
            self._left_bytes -= len(reply.body)
            return read_json(reply.body) if reply.status == 200 else None
        except (HttpError, ModelError):
            return None
