"""The memory stage: what is folded into the rolling brief when an exchange falls off.

`request` and `read` are pure; `fold` drives them. A failure here never costs the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.budget import (
    BRIEF_WORDS,
    EXCHANGES_KEPT,
    Draft,
    clip_tokens,
    clip_words,
    conversation_tokens,
)
from goliath_local.errors import BudgetError
from goliath_local.events import MemoryErrorEvent
from goliath_local.harness import parts
from goliath_local.harness.generate import ask_model
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.model import Stage
from goliath_local.prompts import exchange_parts, render
from goliath_local.records import Exchange, MemoryState

if TYPE_CHECKING:
    from goliath_local.harness.state import Turn


async def fold(turn: Turn, memory: MemoryState, *, ask: bool) -> MemoryState:
    """Return the memory with only the newest exchanges, the older folded into the summary.

    Args:
        turn: the turn that just ended.
        memory: the memory with the new exchange, newest last.
        ask: False drops the oldest without asking the model.
    """
    summary = clip_summary(turn, memory.summary)
    recent = memory.recent
    while len(recent) > EXCHANGES_KEPT:
        oldest, *rest = recent
        recent = tuple(rest)
        if ask:
            found = await _merged(turn, summary, oldest)
            ask, summary = found is not None, summary if found is None else found
    return MemoryState(summary=summary, recent=recent)


def clip_summary(turn: Turn, summary: str) -> str:
    """Return the summary within its allowance of tokens."""
    allowance = conversation_tokens(turn.window.tokens)
    return clip_tokens(summary, allowance, count=turn.counter.conversation)


def request(summary: str, exchange: Exchange) -> Draft:
    """Return what the scribe is asked: the brief so far and the exchange that falls off."""
    shown = summary if summary.strip() else render("scribe.empty")
    said = "\n".join(exchange_parts(exchange))
    return Draft(
        stage=Stage.SCRIBE,
        system=parts.system(("task", render("scribe.task"))),
        user=(
            parts.fixed("brief", render("scribe.brief", summary=shown) + "\n\n"),
            parts.fixed("exchange", said + "\n\n"),
            parts.fixed("ask", render("scribe.write")),
        ),
    )


def read(turn: Turn, text: str, summary: str) -> str:
    """Return the new summary; a blank reply keeps the old one."""
    brief = text.strip()
    if not brief:
        return summary
    return clip_summary(turn, clip_words(brief, BRIEF_WORDS))


async def _merged(turn: Turn, summary: str, exchange: Exchange) -> str | None:
    """Return the new summary, None when the model could not be asked."""
    try:
        reply = await ask_model(turn, request(summary, exchange))
    except BudgetError as error:
        reply = Rejected(problem=str(error))
    if isinstance(reply, Rejected | Escalation):
        problem = reply.problem if isinstance(reply, Rejected) else reply.error
        await turn.emit(MemoryErrorEvent(error=problem or "the scribe could not be asked"))
        return None
    return read(turn, reply.text, summary)
