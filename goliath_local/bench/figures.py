"""Repeated measurements as figures: mean, deviation, median, and whether two of them differ.

Pure.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOISE: Final = 2.0
"""A difference of less than so many standard errors is noise."""

_LEAST_SHARE: Final = 0.02
"""A difference of less than this share is not worth a word, however steady the figures."""


def mean(samples: Sequence[float]) -> float:
    """Return the mean, 0 of nothing."""
    return statistics.fmean(samples) if samples else 0.0


def deviation(samples: Sequence[float]) -> float:
    """Return the sample standard deviation, 0 of fewer than two."""
    return statistics.stdev(samples) if len(samples) > 1 else 0.0


def median(samples: Sequence[float]) -> float:
    """Return the median, 0 of nothing."""
    return statistics.median(samples) if samples else 0.0


def ratio(over: float, under: float) -> float:
    """Return one over the other; infinity where nothing is underneath."""
    return over / under if under else math.inf


def outer_thirds(samples: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the first and the last third, in order; both empty for fewer than three.

    A machine that gets hot shows it here: the last third is slower than the first.
    """
    count = len(samples) // 3
    return (tuple(samples[:count]), tuple(samples[-count:])) if count else ((), ())


def differ(before: Sequence[float], after: Sequence[float]) -> bool:
    """Return whether the means lie further apart than chance explains, and far enough to matter.

    A single sample has no deviation of its own; it borrows the other side's.
    """
    distance = abs(mean(after) - mean(before))
    scale = abs(mean(before))
    if not before or not after or distance <= _LEAST_SHARE * scale:
        return False
    spreads = [deviation(side) for side in (before, after) if len(side) > 1]
    error = math.sqrt(
        sum(spread**2 / len(side) for spread, side in _paired(spreads, before, after))
    )
    return distance > _NOISE * error


def _paired(
    spreads: Sequence[float], before: Sequence[float], after: Sequence[float]
) -> list[tuple[float, Sequence[float]]]:
    borrowed = max(spreads, default=0.0)
    return [(deviation(side) if len(side) > 1 else borrowed, side) for side in (before, after)]
