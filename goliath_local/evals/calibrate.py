"""One number for how likely a turn is wrong, from a handful of signals.

Pure. A logistic regression, fitted by Newton's method with a ridge, small enough to be kept as a
few numbers beside a model's card. Also the figures that say whether such a number is any good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_RIDGE = 1.0
_ROUNDS = 50
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskModel:
    """Weights over standardised signals; `risk` is the chance that the turn is wrong."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    """One a signal, then the intercept."""

    def risk(self, signals: Mapping[str, float]) -> float:
        """Return the chance, 0 to 1, that a turn with these signals is wrong."""
        values = np.array([signals.get(name, 0.0) for name in self.names])
        scaled = (values - np.array(self.means)) / np.array(self.scales)
        return float(_sigmoid(np.append(scaled, 1.0) @ np.array(self.weights)))


def fit_risk(
    rows: Sequence[Mapping[str, float]], is_wrong: Sequence[bool], *, names: Sequence[str]
) -> RiskModel:
    """Return the model fitted to the rows, one a turn, and whether each was wrong."""
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=float)
    means, scales = table.mean(axis=0), table.std(axis=0)
    scales[scales < _CLOSE] = 1.0
    features = np.hstack([(table - means) / scales, np.ones((len(table), 1))])
    weights = _newton(features, np.array(is_wrong, dtype=float))
    return RiskModel(
        names=tuple(names),
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        weights=tuple(weights.tolist()),
    )


def area_under_roc(risks: Sequence[float], is_wrong: Sequence[bool]) -> float:
    """Return the chance that a wrong turn has the higher risk; ties count half."""
    wrong = [r for r, bad in zip(risks, is_wrong, strict=True) if bad]
    right = [r for r, bad in zip(risks, is_wrong, strict=True) if not bad]
    if not wrong or not right:
        return 0.5
    wins = sum((w > r) + 0.5 * (w == r) for w in wrong for r in right)
    return float(wins / (len(wrong) * len(right)))


def brier_score(risks: Sequence[float], is_wrong: Sequence[bool]) -> float:
    """Return the mean squared distance of the risk from what happened; lower is better."""
    pairs = zip(risks, is_wrong, strict=True)
    return float(np.mean([(risk - float(bad)) ** 2 for risk, bad in pairs]))


def risk_at_coverage(
    risks: Sequence[float], is_wrong: Sequence[bool], *, coverage: float
) -> float:
    """Return the share of wrong turns among the `coverage` share with the least risk."""
    order = sorted(zip(risks, is_wrong, strict=True), key=lambda pair: pair[0])
    kept = order[: max(1, round(coverage * len(order)))]
    return sum(bad for _, bad in kept) / len(kept)


def _newton(features: Array, target: Array) -> Array:
    ridge = np.full(features.shape[1], _RIDGE)
    ridge[-1] = 0.0
    weights = np.zeros(features.shape[1])
    for _ in range(_ROUNDS):
        chance = _sigmoid(features @ weights)
        gradient = features.T @ (chance - target) + ridge * weights
        curvature = (features.T * (chance * (1 - chance))) @ features + np.diag(ridge + _CLOSE)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return weights


def _sigmoid(value: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(value, -30, 30))))
