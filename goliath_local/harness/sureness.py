"""How likely a turn is right, where that was fitted for the model.

Pure, over the turn as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.confidence import score_of, turn_signals
from goliath_local.events import AnswerEvent
from goliath_local.model import CountingModel

if TYPE_CHECKING:
    from goliath_local.confidence import TurnScore
    from goliath_local.events import Event
    from goliath_local.harness.state import Turn


def fitted_score(turn: Turn) -> TurnScore | None:
    """Return the score that was fitted for the turn's model, None for other models."""
    model = turn.settings.lasting_model
    if not isinstance(model, CountingModel):
        return None
    return score_of(model.capabilities().sha256)


def turn_confidence(turn: Turn, text: str | None = None) -> float | None:
    """Return the chance, 0 to 1, that the turn is right.

    None for a model that nothing was fitted for, and for an answer from elsewhere.

    Args:
        turn: as it stands.
        text: its answer, once there is one.
    """
    score = fitted_score(turn)
    if score is None or turn.handled_by != "device":
        return None
    trace: list[Event] = list(turn.trace)
    if text is not None:
        trace.append(AnswerEvent(text=text))
    return score.turn_score(turn_signals(turn.ask, trace=trace, steps=turn.steps))
