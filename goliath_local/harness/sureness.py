"""How likely a turn is right, where that was fitted for the model.

Pure, over the turn as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.confidence import score_of, turn_signals
from goliath_local.events import AnswerEvent
from goliath_local.model import CountingModel

if TYPE_CHECKING:
    from goliath_local.harness.state import Turn


def turn_confidence(turn: Turn, text: str) -> float | None:
    """Return the chance, 0 to 1, that the turn with this answer is right.

    None for a model that nothing was fitted for, and for an answer from elsewhere.
    """
    model = turn.settings.lasting_model
    if not isinstance(model, CountingModel) or turn.handled_by != "device":
        return None
    score = score_of(model.capabilities().sha256)
    if score is None:
        return None
    trace = [*turn.trace, AnswerEvent(text=text)]
    return score.turn_score(turn_signals(turn.ask, trace=trace, steps=turn.steps))
