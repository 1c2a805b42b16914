"""What a finished run shows of how sure the model was.

Pure. A handful of numbers a turn, from which `calibrate` makes one: the chance that it is wrong.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from goliath_local.events import PlanEvent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.harness import RunResult

_FLOOR = 1e-6
"""Least share that is told apart from none."""


def turn_signals(results: Sequence[RunResult]) -> Mapping[str, float]:
    """Return the signals of a run of turns, all finite."""
    plans = [event for r in results for event in r.trace if isinstance(event, PlanEvent)]
    choices = [choice for plan in plans for choice in plan.choices]
    shares = [max(choice.share, _FLOOR) for choice in choices]
    gaps = [choice.share - choice.runner_up_share for choice in choices]
    steps = [step for r in results for step in r.steps]
    whys = [len(plan.why or "") for plan in plans]
    return {
        "min_share": min(shares, default=1.0),
        "mean_log_share": sum(log(s) for s in shares) / max(1, len(shares)),
        "min_gap": min(gaps, default=1.0),
        "first_share": max(plans[0].confidence or _FLOOR, _FLOOR) if plans else 1.0,
        "last_share": max(plans[-1].confidence or _FLOOR, _FLOOR) if plans else 1.0,
        "steps": float(len(steps)),
        "retries": float(sum(e.type == "retry" for r in results for e in r.trace)),
        "cached": float(sum(step.cached for step in steps)),
        "failed": float(sum(step.failed for step in steps)),
        "skipped": float(sum(step.skipped for step in steps)),
        "writes": float(sum(step.writes for step in steps)),
        "why_length": sum(whys) / max(1, len(whys)) / 100.0,
        "turns": float(len(results)),
    }
