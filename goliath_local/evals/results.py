"""What is kept of an attempt: enough to look at it, repeat it, and compare it.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.evals.bfcl import BfclCase
    from goliath_local.evals.fixture import Fixture
    from goliath_local.evals.record import Call
    from goliath_local.evals.report import Attempt


def attempt_json(
    fixture: Fixture | BfclCase, attempt: Attempt, calls: Sequence[Call]
) -> dict[str, Any]:
    """Return the attempt as a JSON object, every model call with it."""
    return {
        "id": fixture.id,
        "kind": getattr(fixture, "kind", "bfcl"),
        "run": attempt.run,
        "passed": attempt.passed,
        "verdict": attempt.verdict.value,
        "problems": [to_json(problem) for problem in attempt.problems],
        "turns": [
            {
                "text": outcome.text,
                "handledBy": outcome.handled_by,
                "reasons": list(outcome.reasons),
                "steps": [to_json(step) for step in outcome.steps],
            }
            for outcome in attempt.outcomes
        ],
        "ms": round(attempt.ms, 1),
        "evaluatedTokens": attempt.evaluated_tokens,
        "signals": dict(attempt.signals),
        "calls": [call.to_json() for call in calls],
    }
