"""Figures of an eval, and their text.

Pure. A fixture passes only if every attempt does (pass^k); the share that finished rightly on
the device is the project's primary figure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goliath_local.evals.score import Fault, Problem, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.evals.score import TurnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of one fixture."""

    run: int
    """Counted from 1."""

    outcomes: tuple[TurnOutcome, ...]
    problems: tuple[Problem, ...]
    verdict: Verdict
    ms: float
    evaluated_tokens: int = 0
    invalid_calls: tuple[str, ...] = ()
    """Arguments that reached a tool without fitting its schema; there have to be none."""

    @property
    def passed(self) -> bool:
        """True when nothing was wrong."""
        return not self.problems

    @property
    def place(self) -> str:
        """Where the last turn finished: `device`, `cloud` or `error`."""
        if self.verdict is Verdict.ERROR or not self.outcomes:
            return "error"
        return self.outcomes[-1].handled_by

    @property
    def steps(self) -> int:
        """Steps of all turns; none after an error."""
        return 0 if self.place == "error" else sum(len(o.steps) for o in self.outcomes)

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools tried in all turns."""
        return tuple(name for outcome in self.outcomes for name in outcome.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureReport:
    """All attempts of one fixture."""

    id: str
    kind: str
    attempts: tuple[Attempt, ...]

    @property
    def passes(self) -> int:
        """Attempts that passed."""
        return sum(attempt.passed for attempt in self.attempts)

    @property
    def runs(self) -> int:
        """Attempts there were."""
        return len(self.attempts)

    @property
    def passed(self) -> bool:
        """True when every attempt passed."""
        return self.passes == self.runs

    @property
    def reasons(self) -> tuple[str, ...]:
        """Everything that was wrong; with several runs each names its run."""
        return tuple(
            f"run {attempt.run}: {problem.text}" if self.runs > 1 else problem.text
            for attempt in self.attempts
            for problem in attempt.problems
        )

    @property
    def last(self) -> Attempt:
        """The newest attempt."""
        return self.attempts[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Figures of a whole eval; counts are over all attempts but for `total` and `passed`."""

    fixtures: tuple[FixtureReport, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt of every fixture."""
        return tuple(attempt for fixture in self.fixtures for attempt in fixture.attempts)

    @property
    def total(self) -> int:
        """Fixtures."""
        return len(self.fixtures)

    @property
    def passed(self) -> int:
        """Fixtures that passed in every run."""
        return sum(fixture.passed for fixture in self.fixtures)

    @property
    def total_runs(self) -> int:
        """Attempts."""
        return len(self.attempts)

    @property
    def on_device(self) -> int:
        """Attempts that finished on the device."""
        return sum(attempt.place == "device" for attempt in self.attempts)

    @property
    def escalated(self) -> int:
        """Attempts that were handed over."""
        return sum(attempt.place == "cloud" for attempt in self.attempts)

    @property
    def errors(self) -> int:
        """Attempts that raised."""
        return sum(attempt.place == "error" for attempt in self.attempts)

    @property
    def invalid_calls(self) -> tuple[str, ...]:
        """Arguments that reached a tool without fitting its schema; the bar is none."""
        return tuple(
            f"{fixture.id}: {text}"
            for fixture in self.fixtures
            for attempt in fixture.attempts
            for text in attempt.invalid_calls
        )

    @property
    def mean_steps(self) -> float:
        """Steps per attempt, two decimals."""
        return round(sum(a.steps for a in self.attempts) / max(1, self.total_runs), 2)

    @property
    def verdicts(self) -> Mapping[Verdict, int]:
        """Attempts by how they ended."""
        return Counter(attempt.verdict for attempt in self.attempts)

    @property
    def faults(self) -> Mapping[Fault, int]:
        """Attempts that show each kind of fault."""
        return Counter(
            fault
            for attempt in self.attempts
            for fault in {problem.fault for problem in attempt.problems}
        )


def format_report(report: Report) -> str:
    """Return the report as text: a line a fixture, then the totals."""
    lines = [_line(fixture) for fixture in report.fixtures]
    runs = max((fixture.runs for fixture in report.fixtures), default=1)
    totals = (
        f"{report.passed}/{report.total} passed · {report.on_device} on device · "
        f"{report.escalated} escalated"
    )
    if runs > 1:
        totals += (
            f" · pass^{runs} · {report.total_runs} attempts · {report.mean_steps} steps/attempt"
        )
    if report.errors:
        totals += f" · {report.errors} errors"
    return "\n".join([*lines, "", totals])


def format_scores(report: Report) -> str:
    """Return the scores kept apart, and passes by kind: one line each."""
    verdicts, faults = report.verdicts, report.faults
    lines = [f"{verdict.value:<22} {verdicts.get(verdict, 0):>4}" for verdict in Verdict]
    lines += [f"fault: {fault.value:<15} {faults.get(fault, 0):>4}" for fault in Fault]
    lines.append(f"{'invalid arguments run':<22} {len(report.invalid_calls):>4}")
    lines += [f"  {text}" for text in report.invalid_calls]
    lines += [
        f"{kind:<22} {sum(f.passed for f in group):>4}/{len(group)}"
        for kind, group in by_kind(report.fixtures).items()
    ]
    return "\n".join(lines)


def by_kind(fixtures: Sequence[FixtureReport]) -> dict[str, list[FixtureReport]]:
    """Return the fixtures grouped by kind, in order of first appearance."""
    groups: dict[str, list[FixtureReport]] = {}
    for fixture in fixtures:
        groups.setdefault(fixture.kind, []).append(fixture)
    return groups


def _line(fixture: FixtureReport) -> str:
    word = "PASS" if fixture.passed else "FAIL"
    last = fixture.last
    line = (
        f"{word}  {fixture.id:<18} {last.place:<8}{round(last.ms):>5}ms  "
        f"{fixture.passes}/{fixture.runs}"
    )
    return f"{line}  {'; '.join(fixture.reasons)}" if fixture.reasons else line
