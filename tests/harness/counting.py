"""A scripted model with a tokenizer, so that its replies count as decoded here: a token a word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from goliath_local.model import Capabilities, PromptTokens
from goliath_local.testing import fake_model

if TYPE_CHECKING:
    from goliath_local.model import Reply, Request


class Counting:
    """Says what its script says; `fake.calls` holds what it was asked."""

    def __init__(self, replies: list[dict[str, Any]], *, sha256: str | None = None) -> None:
        self.fake = fake_model(replies)
        self.sha256 = sha256

    async def generate(self, request: Request) -> Reply:
        return await self.fake.generate(request)

    def capabilities(self) -> Capabilities:
        return Capabilities(window_tokens=4096, sha256=self.sha256)

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_request(self, request: Request) -> PromptTokens:
        parts: Counter[str] = Counter()
        for part in (*request.system, *request.user):
            parts[part.name] += self.count_text(part.text)
        return PromptTokens(total=sum(parts.values()), by_part=dict(parts))
