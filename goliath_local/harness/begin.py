"""The start of a turn: window, facts, the first hooks, and what is recalled.

Edge: the application's window, facts and memory are asked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.events import RecallEvent
from goliath_local.extensions import (
    AfterRecall,
    BeforeRun,
    Decided,
    Start,
    copied,
    patch_memory,
    patch_start,
    settle,
)
from goliath_local.harness.outcome import Escalation
from goliath_local.harness.window import choose_window
from goliath_local.records import MemoryState, Reason

if TYPE_CHECKING:
    from goliath_local.budget import Window
    from goliath_local.harness.state import Turn

_DEVICE_SKIPPED = (
    "The model failed in the last turns of this conversation, so this one skips the device."
)


async def begin(turn: Turn) -> Escalation | Decided | None:
    """Make the turn ready; return what ends it at once, None when the loop may start."""
    turn.skipped_device = turn.conversation.skips_device(turn.settings)
    turn.window = await _window(turn)
    turn.conversation.window = turn.window
    turn.cancel.raise_if_cancelled()
    with turn.blame("config"):
        turn.facts = await _facts(turn.settings.facts)
    decided = await _before_run(turn) or await _recall(turn)
    if decided is not None:
        return decided
    event = RecallEvent(summary=turn.view.summary, recent=len(turn.view.recent))
    await turn.emit(event)
    if turn.skipped_device:
        return Escalation(reason=Reason.MODEL_ERROR, error=_DEVICE_SKIPPED)
    return None


async def _window(turn: Turn) -> Window:
    known = turn.conversation.window
    if known is not None and (turn.skipped_device or turn.cancel.cancelled):
        return known
    with turn.blame("config"):
        source = turn.settings.window
        if turn.cancel.cancelled and callable(source):
            source = None
        given = await settle(source()) if callable(source) else source
        window = choose_window(given, turn.settings.lasting_model)
        # Budgets that do not fit a window are known only once the window is.
        _ = turn.budgets
        return window


async def _facts(source: Any) -> dict[str, str]:
    facts = await settle(source()) if callable(source) else source
    if facts is None:
        return {}
    if not isinstance(facts, Mapping):
        message = f"facts gave {type(facts).__name__}; return a mapping of texts to texts."
        raise ConfigError(message)
    return {str(key): str(value) for key, value in facts.items()}


async def _before_run(turn: Turn) -> Decided | None:
    start = Start(ask=turn.ask, instructions=turn.instructions, facts=turn.facts)
    found = await turn.fold(
        "before_run",
        start,
        show=lambda run, start: BeforeRun(
            run=run,
            ask=start.ask,
            instructions=start.instructions,
            facts=copied(start.facts),
        ),
        patch=patch_start,
    )
    if isinstance(found, Decided):
        return found
    turn.ask, turn.instructions, turn.facts = found.ask, found.instructions, dict(found.facts)
    return None


async def _recall(turn: Turn) -> Decided | None:
    with turn.blame("memory"):
        loaded = await settle(turn.conversation.memory.load(), turn.cancel)
        if not isinstance(loaded, MemoryState):
            message = f"memory.load() gave {type(loaded).__name__}; return a MemoryState."
            raise ConfigError(message)
    turn.original = copied(loaded)
    found = await turn.fold(
        "after_recall",
        copied(loaded),
        show=lambda run, memory: AfterRecall(run=run, memory=memory),
        patch=patch_memory,
    )
    if isinstance(found, Decided):
        return found
    turn.view = found
    return None
