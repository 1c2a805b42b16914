"""Whether a number that says how likely a turn is wrong is any good.

Pure. Risks are from 0 to 1, one a turn, beside whether the turn was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BARS = 20
"""Characters of a full bar in the plot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Turns of about the same risk: what was said of them, and what came."""

    turns: int
    risk: float
    """Mean of what was said."""

    wrong: float
    """Share that was wrong."""


def area_under_roc(risks: Sequence[float], is_wrong: Sequence[bool]) -> float:
    """Return the chance that a wrong turn has the higher risk than a right one; ties count half.

    One half where there is nothing to tell apart.
    """
    wrong = [r for r, bad in zip(risks, is_wrong, strict=True) if bad]
    right = [r for r, bad in zip(risks, is_wrong, strict=True) if not bad]
    if not wrong or not right:
        return 0.5
    wins = sum((w > r) + 0.5 * (w == r) for w in wrong for r in right)
    return float(wins / (len(wrong) * len(right)))


def roc_error(area: float, *, wrong: int, right: int) -> float:
    """Return the standard error of an area under the ROC curve from so many turns.

    Source: Hanley and McNeil 1982, "The meaning and use of the area under a ROC curve",
    Radiology 143.
    """
    if not wrong or not right:
        return 0.5
    above, square = area / (2 - area), area * area
    below = 2 * square / (1 + area)
    spread = area * (1 - area) + (wrong - 1) * (above - square) + (right - 1) * (below - square)
    return sqrt(max(0.0, spread) / (wrong * right))


def brier_score(risks: Sequence[float], is_wrong: Sequence[bool]) -> float:
    """Return the mean squared distance of the risk from what happened; lower is better."""
    pairs = list(zip(risks, is_wrong, strict=True))
    return sum((risk - float(bad)) ** 2 for risk, bad in pairs) / max(1, len(pairs))


def risk_at_coverage(
    risks: Sequence[float], is_wrong: Sequence[bool], *, coverage: float
) -> float:
    """Return the share of wrong turns among the `coverage` share with the least risk."""
    order = _by_risk(risks, is_wrong)
    kept = order[: max(1, round(coverage * len(order)))]
    return sum(kept) / max(1, len(kept))


def risk_coverage_area(risks: Sequence[float], is_wrong: Sequence[bool]) -> float:
    """Return the mean share of wrong turns over all coverages; lower is better.

    Without any order it is the share of wrong turns; the best order comes near
    `w + (1 - w) ln(1 - w)` of a share w.
    """
    order = _by_risk(risks, is_wrong)
    wrong, total = 0, 0.0
    for kept, bad in enumerate(order, start=1):
        wrong += bad
        total += wrong / kept
    return total / max(1, len(order))


def reliability(
    risks: Sequence[float], is_wrong: Sequence[bool], *, bins: int = 5
) -> tuple[Bin, ...]:
    """Return the turns in bins of equal width, empty ones left out, least risk first."""
    found = []
    for number in range(bins):
        rows = [
            (risk, bad)
            for risk, bad in zip(risks, is_wrong, strict=True)
            if min(int(risk * bins), bins - 1) == number
        ]
        if rows:
            found.append(
                Bin(
                    turns=len(rows),
                    risk=sum(risk for risk, _ in rows) / len(rows),
                    wrong=sum(bad for _, bad in rows) / len(rows),
                )
            )
    return tuple(found)


def format_reliability(bins: Sequence[Bin]) -> str:
    """Return the bins as a plot of two bars each: what was said, what came."""
    lines = []
    for one in bins:
        lines.append(f"{one.turns:4} turns  said  {one.risk:4.0%} {_bar(one.risk)}")
        lines.append(f"            came  {one.wrong:4.0%} {_bar(one.wrong)}")
    return "\n".join(lines)


def _bar(share: float) -> str:
    return "█" * round(share * _BARS)


def _by_risk(risks: Sequence[float], is_wrong: Sequence[bool]) -> list[bool]:
    pairs = sorted(zip(risks, is_wrong, strict=True), key=lambda pair: pair[0])
    return [bad for _, bad in pairs]
