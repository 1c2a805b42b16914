"""How likely a finished turn is right: signals in, one calibrated number out.

`score_of(sha256)` finds what was fitted for a model, `turn_signals` reads a turn's trace, and
`TurnScore.turn_score` makes of both the chance, 0 to 1, that the turn is right.
"""

from goliath_local.confidence.cards import score_of
from goliath_local.confidence.score import TurnScore, chance_of, read_score, score_json
from goliath_local.confidence.signals import SIGNALS, TELLING, turn_signals

__all__ = [
    "SIGNALS",
    "TELLING",
    "TurnScore",
    "chance_of",
    "read_score",
    "score_json",
    "score_of",
    "turn_signals",
]
