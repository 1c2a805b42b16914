"""Fits the score of a turn on one half of a record, and checks it on the other.

Pure. A logistic regression, fitted by Newton's method with a ridge. Only turns that finished on
the device count: one that was handed over has been doubted already.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goliath_local.confidence import TELLING, TurnScore
from goliath_local.errors import ConfigError
from goliath_local.evals.reliability import (
    Bin,
    area_under_roc,
    brier_score,
    format_reliability,
    reliability,
    risk_at_coverage,
    risk_coverage_area,
    roc_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from goliath_local.evals.results import Kept

    Array = NDArray[np.float64]

COVERAGE = 0.8
RIDGE = 10.0
"""Some 45 turns are fitted: without a pull towards nothing, chance is learnt."""

_LEAST = 5
"""Fewer right or wrong turns than that in a half say nothing."""

_ROUNDS = 50
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTurn:
    """A turn whose outcome is known."""

    fixture: str
    kind: str
    signals: Mapping[str, float]
    is_wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How good a score is on some turns."""

    turns: int
    wrong: int
    auc: float
    auc_error: float
    """Standard error of the area: how far chance alone moves it."""

    risk_coverage_area: float
    risk_at_80: float
    """Share of wrong turns among the 80 % with the least risk."""

    brier: float
    brier_of_share: float
    """What saying the share of wrong turns for every turn would give."""

    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A score with what it is worth."""

    score: TurnScore
    fitted: Figures
    checked: Figures
    """On the half that was not fitted: the only figures that count."""

    swapped: Figures
    """A score fitted on the second half, on the first: what the cut between them decides."""


def calibrate(
    record: Sequence[Kept], *, others: Sequence[Kept] = (), ridge: float = RIDGE
) -> Calibration:
    """Return the score of a record's model.

    Args:
        record: it is fitted on one half of this, and checked on the other.
        others: it is fitted on the whole record, and checked on these, where there are any.
        ridge: pull towards no weight at all.

    Raises:
        ConfigError: there are too few right or wrong turns to say anything.
    """
    seen = seen_turns(record)
    fit, check = (seen, seen_turns(others)) if others else halves(seen)
    for name, half in (("fitted", fit), ("checked", check)):
        wrong = sum(turn.is_wrong for turn in half)
        if min(wrong, len(half) - wrong) < _LEAST:
            msg = (
                f"The half to be {name} has {wrong} wrong turns of {len(half)} that finished on "
                f"the device; {_LEAST} right and {_LEAST} wrong ones are needed. Take a record of "
                "the whole dev set: python -m evals dev --out FILE"
            )
            raise ConfigError(msg)
    about: Mapping[str, Any] = record[-1].about
    score = fit_score(
        fit,
        ridge=ridge,
        model_sha256=(about.get("model") or {}).get("sha256"),
        prompts_sha256=about.get("prompts"),
    )
    return Calibration(
        score=score,
        fitted=figures_of(score, fit),
        checked=figures_of(score, check),
        swapped=figures_of(fit_score(check, ridge=ridge), fit),
    )


def seen_turns(record: Iterable[Kept]) -> tuple[SeenTurn, ...]:
    """Return the turns that finished on the device; attempts that raised have none."""
    return tuple(
        SeenTurn(
            fixture=kept.id,
            kind=kept.kind,
            signals=turn["signals"],
            is_wrong=any(problem.get("turn", 0) == number for problem in kept.raw["problems"]),
        )
        for kept in record
        if kept.verdict != "error"
        for number, turn in enumerate(kept.raw["turns"])
        if turn["handledBy"] == "device" and turn.get("signals")
    )


def halves(
    turns: Sequence[SeenTurn],
) -> tuple[tuple[SeenTurn, ...], tuple[SeenTurn, ...]]:
    """Return the turns to fit and those to check: of each kind every other fixture.

    The order within a kind is that of the hash of the names, so outcomes have no say in it, and
    turns of one fixture stay together.
    """
    kinds: dict[str, set[str]] = {}
    for turn in turns:
        kinds.setdefault(turn.kind, set()).add(turn.fixture)
    fitted = {name for kind in kinds for name in sorted(kinds[kind], key=_rank)[::2]}
    return (
        tuple(turn for turn in turns if turn.fixture in fitted),
        tuple(turn for turn in turns if turn.fixture not in fitted),
    )


def fit_score(
    turns: Sequence[SeenTurn],
    *,
    names: Sequence[str] = TELLING,
    ridge: float = RIDGE,
    model_sha256: str | None = None,
    prompts_sha256: str | None = None,
) -> TurnScore:
    """Return the score fitted to the turns."""
    table = np.array([[turn.signals.get(name, 0.0) for name in names] for turn in turns])
    means, scales = table.mean(axis=0), table.std(axis=0)
    scales[scales < _CLOSE] = 1.0
    features = np.hstack([(table - means) / scales, np.ones((len(table), 1))])
    target = np.array([turn.is_wrong for turn in turns], dtype=float)
    weights = _newton(features, target, ridge=ridge)
    return TurnScore(
        names=tuple(names),
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        weights=tuple(weights[:-1].tolist()),
        intercept=float(weights[-1]),
        model_sha256=model_sha256,
        prompts_sha256=prompts_sha256,
    )


def figures_of(score: TurnScore, turns: Sequence[SeenTurn]) -> Figures:
    """Return how good the score is on these turns."""
    risks = [score.risk(turn.signals) for turn in turns]
    is_wrong = [turn.is_wrong for turn in turns]
    wrong = sum(is_wrong)
    share = wrong / max(1, len(turns))
    auc = area_under_roc(risks, is_wrong)
    return Figures(
        turns=len(turns),
        wrong=wrong,
        auc=auc,
        auc_error=roc_error(auc, wrong=wrong, right=len(turns) - wrong),
        risk_coverage_area=risk_coverage_area(risks, is_wrong),
        risk_at_80=risk_at_coverage(risks, is_wrong, coverage=COVERAGE),
        brier=brier_score(risks, is_wrong),
        brier_of_share=brier_score([share] * len(turns), is_wrong),
        bins=reliability(risks, is_wrong),
    )


def format_calibration(found: Calibration) -> str:
    """Return the calibration as text: figures of both halves, weights, reliability."""
    rows = [("turns on the device", "turns", "d"), ("wrong", "wrong", "d")]
    rows += [("area under ROC", "auc", ".3f"), ("  standard error", "auc_error", ".3f")]
    rows += [("risk-coverage area", "risk_coverage_area", ".3f")]
    rows += [("wrong at 80 % coverage", "risk_at_80", ".3f")]
    rows += [("Brier", "brier", ".3f"), ("  of the share alone", "brier_of_share", ".3f")]
    lines = [f"{'':<24}{'fitted':>9}{'checked':>9}{'swapped':>9}"]
    for title, name, form in rows:
        values = [getattr(half, name) for half in (found.fitted, found.checked, found.swapped)]
        lines.append(f"{title:<24}" + "".join(f"{format(value, form):>9}" for value in values))
    weights = sorted(
        zip(found.score.names, found.score.weights, strict=True), key=lambda pair: -abs(pair[1])
    )
    lines += ["", "weight of each signal, a positive one speaks for a wrong turn:"]
    lines += [f"  {name:<18} {weight:+.2f}" for name, weight in weights]
    plot = format_reliability(found.checked.bins)
    return "\n".join([*lines, "", "risk said and wrong turns come, checked half:", plot])


def _rank(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _newton(features: Array, target: Array, *, ridge: float) -> Array:
    pull = np.full(features.shape[1], ridge)
    pull[-1] = 0.0  # the intercept is free: the share of wrong turns is no matter of caution
    weights = np.zeros(features.shape[1])
    for _ in range(_ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (chance - target) + pull * weights
        curvature = (features.T * (chance * (1 - chance))) @ features + np.diag(pull + _CLOSE)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return weights
