"""What is kept of an attempt: enough to look at it, repeat it, and compare it.

Pure. A record is JSONL, one attempt a line; each line says which model, prompts, seed and commit
it was made with, so that lines may be appended, cut out and put together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goliath_local.evals.bfcl import BfclCase
    from goliath_local.evals.fixture import Fixture
    from goliath_local.evals.record import Call
    from goliath_local.evals.report import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One attempt, read back."""

    id: str
    kind: str
    run: int
    passed: bool
    verdict: str
    problems: tuple[str, ...]
    ms: float
    raw: Mapping[str, Any]
    """The whole line: turns, steps, model calls."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What it was made with: model, prompts, seed, commit; empty in old records."""
        found: Mapping[str, Any] = self.raw.get("about", {})
        return found


def attempt_json(
    fixture: Fixture | BfclCase,
    attempt: Attempt,
    calls: Sequence[Call],
    *,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the attempt as a JSON object, every model call with it.

    Args:
        fixture: what was played.
        attempt: how it went.
        calls: what the model was asked meanwhile.
        about: model, prompts, seed and commit, as `about.about_run` gives them.
    """
    asks = [turn.ask for turn in fixture.turns] if hasattr(fixture, "turns") else [fixture.ask]
    return {
        "id": fixture.id,
        "kind": fixture.kind,
        "run": attempt.run,
        "passed": attempt.passed,
        "verdict": attempt.verdict.value,
        "problems": [to_json(problem) for problem in attempt.problems],
        "turns": [
            {
                "ask": ask,
                "text": outcome.text,
                "handledBy": outcome.handled_by,
                "reasons": list(outcome.reasons),
                "steps": [to_json(step) for step in outcome.steps],
                "signals": dict(outcome.signals),
            }
            for ask, outcome in zip(asks, attempt.outcomes, strict=False)
        ],
        "ms": round(attempt.ms, 1),
        "evaluatedTokens": attempt.evaluated_tokens,
        "invalidCalls": list(attempt.invalid_calls),
        "about": dict(about or {}),
        "calls": [call.to_json() for call in calls],
    }


def read_record(lines: Iterable[str], *, source: str) -> tuple[Kept, ...]:
    """Return the attempts of a record in the order of their lines.

    Where an attempt was made twice, the later line counts.

    Raises:
        ConfigError: a line is no attempt, or there is none; names `source` and the line.
    """
    found: dict[tuple[str, int], Kept] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            kept = _kept(line, place=f"{source}:{number}")
            found[kept.id, kept.run] = kept
    if not found:
        msg = f"{source} holds no attempt. Make one: goliath-local eval run SET -o {source}"
        raise ConfigError(msg)
    return tuple(found.values())


def passes(record: Iterable[Kept]) -> dict[str, bool]:
    """Return whether each fixture passed in all its runs, by id."""
    found: dict[str, bool] = {}
    for kept in record:
        found[kept.id] = kept.passed and found.get(kept.id, True)
    return found


def read_attempt(raw: Mapping[str, Any]) -> Kept:
    """Return what `attempt_json` gave, read back.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or not what it has to be.
    """
    return Kept(
        id=str(raw["id"]),
        kind=str(raw["kind"]),
        run=int(raw["run"]),
        passed=bool(raw["passed"]),
        verdict=str(raw["verdict"]),
        problems=tuple(str(problem["text"]) for problem in raw["problems"]),
        ms=float(raw["ms"]),
        raw=raw,
    )


def _kept(line: str, *, place: str) -> Kept:
    try:
        return read_attempt(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{place} is no attempt of an eval ({error!r}). Records are made with: eval run -o"
        raise ConfigError(msg) from error
