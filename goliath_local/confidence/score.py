"""From signals to the chance that a turn is right: a logistic function of a few numbers.

Pure. The numbers are fitted by `evals.calibrate` on turns whose outcome was known, and kept as
JSON, one file a model.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
_STEEPEST = 30.0
"""Beyond that the chance is 0 or 1 in any case, and `exp` would overflow at last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnScore:
    """Weights over standardised signals."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    """Standard deviations, above 0."""

    weights: tuple[float, ...]
    """One a signal; a positive one speaks for a wrong turn."""

    intercept: float
    model_sha256: str | None = None
    """Of the weights whose turns it was fitted on."""

    prompts_sha256: str | None = None
    """Of the prompts in use then; others make other shares."""

    def risk(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1, that a turn with these signals is wrong."""
        rows = zip(self.names, self.means, self.scales, self.weights, strict=True)
        total = self.intercept + sum(
            weight * (signals.get(name, mean) - mean) / scale for name, mean, scale, weight in rows
        )
        return chance_of(total)

    def turn_score(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1, that a turn with these signals is right."""
        return 1.0 - self.risk(signals)


def chance_of(log_odds: float) -> float:
    """Return the chance, 0 to 1, that belongs to these log odds."""
    return 1.0 / (1.0 + math.exp(-max(-_STEEPEST, min(_STEEPEST, log_odds))))


def score_json(score: TurnScore, **figures: Any) -> dict[str, Any]:
    """Return the score as a JSON object.

    Args:
        score: what is kept.
        **figures: how it did on turns it was not fitted on, kept for readers.
    """
    numbers = {
        key: [round(number, 6) for number in value] if isinstance(value, tuple) else value
        for key, value in asdict(score).items()
        if key != "names"
    }
    numbers["intercept"] = round(score.intercept, 6)
    return {"format": FORMAT, "names": list(score.names), **numbers, "figures": figures}


def read_score(text: str, *, where: str) -> TurnScore:
    """Return the score of a JSON text.

    Args:
        text: what `score_json` gave, as JSON.
        where: the file's name, for an error.

    Raises:
        ConfigError: it is not such a text.
    """
    try:
        raw = json.loads(text)
        score = TurnScore(
            names=tuple(str(name) for name in raw["names"]),
            means=_numbers(raw["means"]),
            scales=_numbers(raw["scales"]),
            weights=_numbers(raw["weights"]),
            intercept=float(raw["intercept"]),
            model_sha256=raw.get("model_sha256"),
            prompts_sha256=raw.get("prompts_sha256"),
        )
        _verify(score)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{where} holds no turn score ({error}). Write it anew: python -m evals.calibrate"
        raise ConfigError(msg) from error
    return score


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _verify(score: TurnScore) -> None:
    sizes = {len(score.names), len(score.means), len(score.scales), len(score.weights)}
    if len(sizes) != 1:
        raise ValueError("its lists differ in length")
    numbers = (*score.means, *score.scales, *score.weights, score.intercept)
    if not all(math.isfinite(number) for number in numbers) or min(score.scales, default=1) <= 0:
        raise ValueError("a number is not finite, or a scale not above 0")
