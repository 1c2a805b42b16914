"""The gates of `make eval-ci`: what they look at, and when they close.

Pure. Two models are played: a tiny one, whose answers are worth nothing, for the machinery, and
a small one on fixed parts of the sets for quality. Quality is held against the record that was
accepted last; not calling a tool where none is right is a gate by itself, since a model that
calls too eagerly can gain elsewhere what it loses there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.evals.accepted import Accepted
from goliath_local.evals.figures import figures
from goliath_local.evals.gate import GateResult, judge_none, judge_paired

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.evals.machinery import Machinery
    from goliath_local.evals.report import Report

MACHINERY_CARD = "smollm2-135m"
QUALITY_CARD = "qwen2.5-coder-1.5b"
MACHINERY_CASES = 6
"""Of as many kinds; that every event happens is seen to by the arrangements of `machinery`."""

TOOL_SETS = 6
"""The head of every tool set is evaluated once, half a minute on a small machine: as many as the
time of a gate allows."""

QUALITY_CASES = 24
IRRELEVANCE_CASES = 6
"""Each has tools, and so a head, of its own."""

NO_CALL_KIND = "no-tool"

HOW_TO_ACCEPT = "To accept what was just played: make eval-ci ACCEPT=1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the quality run gave."""

    dev: Report
    """The fixed part of the dev set."""

    no_call: Report
    """Fixtures and function-calling cases in which no call is right."""

    about: Mapping[str, Any]


def judge_machinery(found: Machinery, fixtures: Report) -> tuple[GateResult, ...]:
    """Return the gates of the tiny model: everything happens, nothing breaks."""
    missing = ", ".join(found.missing)
    crashes = [*found.crashes, *_errors(fixtures)]
    invalid = [*found.invalid, *fixtures.invalid_calls]
    return (
        GateResult(
            name="every event happens",
            is_met=not found.missing,
            text=f"missing: {missing}" if missing else f"{len(found.events)} classes seen",
        ),
        _named("machinery crashes", crashes),
        _named("machinery invalid arguments", invalid),
    )


def judge_sound(played: Played) -> tuple[GateResult, ...]:
    """Return the gates that need no earlier record."""
    crashes = [*_errors(played.dev), *_errors(played.no_call)]
    invalid = [*played.dev.invalid_calls, *played.no_call.invalid_calls]
    return _named("crashes", crashes), _named("invalid arguments", invalid)


def judge_quality(played: Played, accepted: Accepted | None) -> tuple[GateResult, ...]:
    """Return the gates that hold the run against the accepted record."""
    names = ("right", "no call where none is right")
    why = _not_comparable(played, accepted)
    if accepted is None or why:
        text = f"{why} {HOW_TO_ACCEPT}"
        return tuple(GateResult(name=name, is_met=False, text=text) for name in names)
    now = accepted_of(played)
    return (
        judge_paired(names[0], accepted.passed, now.passed),
        judge_paired(names[1], accepted.dont_call, now.dont_call),
    )


def accepted_of(played: Played) -> Accepted:
    """Return the run as a record to accept."""
    return Accepted(
        about=played.about,
        passed={fixture.id: fixture.passed for fixture in played.dev.fixtures},
        verdicts={fixture.id: fixture.last.verdict.value for fixture in played.dev.fixtures},
        dont_call={
            fixture.id: not any(attempt.tools for attempt in fixture.attempts)
            for fixture in played.no_call.fixtures
        },
        figures=figures(played.dev),
    )


def _not_comparable(played: Played, accepted: Accepted | None) -> str:
    if accepted is None:
        return "There is no accepted record yet."
    then = (accepted.about.get("model") or {}).get("sha256")
    now = (played.about.get("model") or {}).get("sha256")
    if then != now:
        return f"The accepted record is of other weights (sha256 {str(then)[:12]})."
    return ""


def _errors(report: Report) -> list[str]:
    return [
        f"{fixture.id}: {reason}"
        for fixture in report.fixtures
        if any(attempt.place == "error" for attempt in fixture.attempts)
        for reason in fixture.reasons
    ]


def _named(name: str, found: list[str]) -> GateResult:
    result = judge_none(name, len(found))
    if not found:
        return result
    return GateResult(name=name, is_met=False, text=f"{result.text}: {'; '.join(found)[:400]}")
