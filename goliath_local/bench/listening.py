"""A model that lets everything through and keeps whole requests and replies.

Edge: wraps a model and keeps a list. Unlike the records of the evals these can be asked again,
of any model or peer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goliath_local.model import Capabilities, CountingModel, PromptTokens, Reply, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One finished call."""

    request: Request
    reply: Reply
    seconds: float


class Listener:
    """Wraps a model that counts."""

    def __init__(self, model: CountingModel) -> None:
        self.heard: list[Heard] = []
        self._model = model

    async def generate(self, request: Request) -> Reply:
        """Ask the model; a call that raises is not kept."""
        started = time.perf_counter()
        reply = await self._model.generate(request)
        seconds = time.perf_counter() - started
        self.heard.append(Heard(request=request, reply=reply, seconds=seconds))
        return reply

    def taken(self) -> tuple[Heard, ...]:
        """Return what was heard since the last time."""
        taken, self.heard = tuple(self.heard), []
        return taken

    def capabilities(self) -> Capabilities:
        """Return the model's."""
        return self._model.capabilities()

    def count_text(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._model.count_text(text)

    def count_request(self, request: Request) -> PromptTokens:
        """Return the tokens of a prompt."""
        return self._model.count_request(request)
