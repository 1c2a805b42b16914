"""What any engine gives back for a request, in one form. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from goliath_local.model import Request


class Failed(Exception):
    """An engine gave no reply; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One reply, as its engine tells it."""

    text: str
    seconds: float
    """From the request to the whole reply, as the caller waited."""

    prompt_tokens: int
    evaluated_tokens: int
    completion_tokens: int
    prompt_s: float = 0.0
    decode_s: float = 0.0


class Peer(Protocol):
    """An engine that can be asked."""

    name: str

    def ask(self, request: Request, *, cold: bool = False) -> Answer:
        """Return the reply.

        Args:
            request: what is asked.
            cold: reuse nothing of earlier prompts.

        Raises:
            Failed: there is none.
        """
        ...
