"""The trace that a turn leaves in memory while it runs, should the process end in a tool.

Edge, by way of memory. A memory that can keep such a note is told of every call just before it
runs; the note goes with the save at the turn's end, or is taken back when nothing is saved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goliath_local.errors import RunCancelled
from goliath_local.events import MemoryErrorEvent
from goliath_local.extensions import settle
from goliath_local.harness.failures import describe
from goliath_local.records import Exchange

if TYPE_CHECKING:
    from goliath_local.harness.state import Turn


async def note_call(turn: Turn) -> None:
    """Note the turn so far, its last step without a result; a failure costs an event only."""
    *done, last = turn.shown_steps()
    exchange = Exchange(
        ask=turn.ask,
        answer="",
        at=int(turn.settings.clock() * 1000),
        steps=(*done, replace(last, result=None)),
    )
    error = await _tell(turn, exchange)
    turn.is_noted = error is None
    if error is not None:
        await turn.emit(MemoryErrorEvent(error=describe(error)))


async def take_back(turn: Turn) -> None:
    """Take the note back, after a turn that saved nothing; a failure leaves it behind."""
    if turn.is_noted:
        await _tell(turn, None)
        turn.is_noted = False


async def _tell(turn: Turn, exchange: Exchange | None) -> Exception | None:
    # `memory.NotesTurns`, asked for by its one method: this room does not reach the stores.
    note = getattr(turn.conversation.memory, "note", None)
    if note is None:
        return None
    try:
        await settle(note(exchange))
    except RunCancelled:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a store raises, the turn goes on
        return error
    return None
