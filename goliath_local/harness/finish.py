"""The end of a turn: last hooks, the answer step, and what is remembered.

Edge: memory is saved here. A failing save never costs the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.budget import EXCHANGES_KEPT
from goliath_local.errors import RunCancelled
from goliath_local.events import AnswerEvent, MemoryErrorEvent, RememberEvent
from goliath_local.extensions import (
    AfterAnswer,
    BeforeRemember,
    Decided,
    Stop,
    copied,
    patch_memory,
    patch_text,
    settle,
)
from goliath_local.harness import scribe
from goliath_local.harness.failures import describe
from goliath_local.harness.sureness import turn_confidence
from goliath_local.records import Exchange, MemoryState, StepRecord, Stopped

if TYPE_CHECKING:
    from goliath_local.harness.outcome import Final
    from goliath_local.harness.result import RunResult
    from goliath_local.harness.state import Turn


async def finish(turn: Turn, final: Final) -> RunResult | Decided:
    """Return the result of a turn that has its text; the same text everywhere."""
    turn.cancel.raise_if_cancelled()
    text = await _last_word(turn, final)
    if isinstance(text, Decided):
        return text
    if final.brief is not None:
        step = StepRecord(index=len(turn.steps), kind="answer", brief=final.brief, text=text)
        turn.steps.append(step)
    if text.strip():
        chance = None if final.best_effort else turn_confidence(turn, text)
        await turn.emit(AnswerEvent(text=text, confidence=chance))
        await _remember(turn, text, final)
    return turn.result(text, output=final.output, best_effort=final.best_effort)


def stopped(turn: Turn, decided: Decided) -> RunResult:
    """Return the result of a turn that an extension stopped."""
    stop = decided.decision
    text, reason = (stop.text, stop.reason) if isinstance(stop, Stop) else ("", "")
    who = Stopped(extension=decided.extension, phase=decided.phase, reason=reason)
    return turn.result(text, stopped=who)


async def _last_word(turn: Turn, final: Final) -> str | Decided:
    if not final.text.strip():
        return final.text
    return await turn.fold(
        "after_answer",
        final.text,
        show=lambda run, text: AfterAnswer(
            run=run,
            text=text,
            handled_by=turn.handled_by,
            best_effort=final.best_effort,
            steps=turn.shown_steps(),
        ),
        patch=patch_text,
    )


async def _remember(turn: Turn, text: str, final: Final) -> None:
    exchange = Exchange(
        ask=turn.ask,
        answer=text,
        at=int(turn.settings.clock() * 1000),
        best_effort=final.best_effort,
        steps=turn.shown_steps(),
    )
    grown = MemoryState(summary=turn.original.summary, recent=(*turn.original.recent, exchange))
    memory = await scribe.fold(turn, grown, ask=final.fold)
    found = await turn.fold(
        "before_remember",
        memory,
        show=lambda run, shown: BeforeRemember(run=run, memory=shown, exchange=copied(exchange)),
        patch=patch_memory,
    )
    if isinstance(found, Decided):
        return
    turn.cancel.raise_if_cancelled()
    await _save(turn, _clipped(turn, found))


async def _save(turn: Turn, memory: MemoryState) -> None:
    try:
        with turn.blame("memory"):
            await settle(turn.conversation.memory.save(memory))
    except RunCancelled:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a store raises, the answer stands
        await turn.emit(MemoryErrorEvent(error=describe(error)))
        return
    turn.is_noted = False
    await turn.emit(RememberEvent(summary=memory.summary))


def _clipped(turn: Turn, memory: MemoryState) -> MemoryState:
    return MemoryState(
        summary=scribe.clip_summary(turn, memory.summary),
        recent=memory.recent[-EXCHANGES_KEPT:],
    )
