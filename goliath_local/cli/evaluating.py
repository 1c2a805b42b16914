"""One eval from the command line to the exit code.

Edge: loads a model, plays, writes the record. The user's own tools run here: those that write or
ask first only pretend to.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.cli.places import verify_target
from goliath_local.cli.problems import ExitCode, Interrupted
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.signals import listening
from goliath_local.cli.sources import load_tools
from goliath_local.cli.terminal import prints_to_stderr
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.evals import format_report, format_scores, run_evals
from goliath_local.evals.about import about_run
from goliath_local.evals.bfcl_run import run_bfcl
from goliath_local.evals.figures import figures, format_larger, larger_cards
from goliath_local.evals.gate import format_gates, judge_figure, judge_paired, read_figure_gate
from goliath_local.evals.keeping import Outcomes, append_attempt, begin_record, load_outcomes
from goliath_local.evals.kept_text import kept_lines
from goliath_local.evals.loading import room_for_heads
from goliath_local.evals.progress import Progress
from goliath_local.evals.record import RecordingModel
from goliath_local.evals.report import Report
from goliath_local.evals.results import attempt_json, read_attempt
from goliath_local.evals.scene import verify_playable
from goliath_local.evals.sets import read_set

if TYPE_CHECKING:
    from goliath_local.cli.ready import Found
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.evals.gate import FigureGate, GateResult
    from goliath_local.evals.results import Kept
    from goliath_local.evals.sets import EvalSet
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalJob:
    """What an `eval run` was told that is not a setting."""

    name: str
    with_tools: bool = False
    limit: int | None = None
    runs: int = 1
    out: Path | None = None
    gates: tuple[str, ...] = ()


async def run_eval(job: EvalJob, settings: Settings, terminal: Terminal) -> int:
    """Play the set and return the exit code; everything cheap is checked before the load."""
    if job.out is not None:
        job = replace(job, out=verify_target(job.out))
    chosen = _limited(read_set(job.name), job.limit)
    tools = load_tools(settings.tools, settings.places) if job.with_tools else None
    if tools is not None and job.name == "builtin":
        raise ConfigError(
            "The built-in cases have their own tools. Name a file of yours, or leave -T out."
        )
    _verify_playable(chosen, tools)
    gates = [_read_gate(text) for text in job.gates]
    found = find_model(settings)
    if job.out is not None:
        begin_record(job.out)
    player = _Player(job, settings, terminal, chosen=chosen, tools=tools, found=found)
    report = await player.play()
    results = tuple(_judge(name, gate, report) for name, gate in gates)
    if settings.json:
        terminal.document(_document(report, results))
    else:
        player.show(report)
        if results:
            terminal.put(f"\n{format_gates(results)}")
    return ExitCode.DONE if all(gate.is_met for gate in results) else ExitCode.GATE_NOT_MET


def _verify_playable(chosen: EvalSet, tools: tuple[Tool, ...] | None) -> None:
    """Raise unless the cases can be played; who left the tools out is told how to name them."""
    try:
        verify_playable(chosen.fixtures, chosen.toolsets, own=tools)
    except ConfigError as error:
        if tools is not None:
            raise
        msg = f"{error} Are they your own? Name them: -T FILE.py"
        raise ConfigError(msg) from error


class _Player:
    """An eval on its way."""

    def __init__(
        self,
        job: EvalJob,
        settings: Settings,
        terminal: Terminal,
        *,
        chosen: EvalSet,
        tools: tuple[Tool, ...] | None,
        found: Found,
    ) -> None:
        self._job, self._settings, self._terminal = job, settings, terminal
        self._set, self._tools, self._found = chosen, tools, found
        self._failed: list[Kept] = []
        self._recorder: RecordingModel | None = None

    async def play(self) -> Report:
        """Load the model and play every case."""
        cancel = CancelToken()
        total = len(self._set.fixtures) * self._job.runs + len(self._set.cases)
        with listening(lambda: cancel.cancel("Ctrl-C")):
            self._terminal.status(f"  loading {self._found.label}")
            room = None if self._found.path is None else room_for_heads(self._found.path)
            ready = await load(
                self._found,
                self._settings,
                self._terminal,
                cancel=cancel,
                steady=True,
                snapshot_memory_bytes=room,
            )
            self._progress = Progress(total=total, clock=time.monotonic)
            self._recorder = RecordingModel(ready.model)
            try:
                with prints_to_stderr():
                    return await self._played(self._recorder, cancel)
            except RunCancelled as error:
                kept = f" What was played is in {self._job.out}." if self._job.out else ""
                message = f"Interrupted after {self._progress.done} of {total} attempts.{kept}"
                raise Interrupted(message) from error
            finally:
                ready.close()
                self._terminal.clear_status()

    async def _played(self, model: RecordingModel, cancel: CancelToken) -> Report:
        self._about = about_run(
            set_name=self._set.name,
            model=self._found.name,
            sha256=self._found.sha256,
            seed=self._settings.seed or 0,
        )
        if not self._set.cases:
            return await run_evals(
                model,
                self._set.fixtures,
                runs=self._job.runs,
                toolsets=self._set.toolsets,
                tools=self._tools,
                cancel=cancel,
                metadata=self._about,
                on_attempt=self._note,
                seed=self._settings.seed or 0,
                max_steps=self._settings.max_steps,
            )
        reports = []
        for case in self._set.cases:
            cancel.raise_if_cancelled()
            reports.append(await run_bfcl(model, case))
            self._note(case, reports[-1].attempts[0])
        return Report(fixtures=tuple(reports), metadata=self._about)

    def _note(self, fixture: Any, attempt: Any) -> None:
        recorder = self._recorder
        calls = [] if recorder is None else recorder.calls
        if recorder is not None:
            recorder.calls = []
        raw = attempt_json(fixture, attempt, calls, about=self._about)
        if self._job.out is not None:
            append_attempt(self._job.out, raw)
        if not attempt.passed:
            self._failed.append(read_attempt(raw))
        line = self._progress.line(fixture.id, attempt)
        if self._terminal.err_is_tty:
            self._terminal.status(line)
        else:
            self._terminal.say(line)

    def show(self, report: Report) -> None:
        """Print the table, the failures with their steps, the scores, and what more would cost."""
        terminal = self._terminal
        terminal.put(format_report(report))
        for kept in self._failed:
            terminal.put("")
            for line in kept_lines(kept, with_prompts=False):
                terminal.put(line)
        terminal.put(f"\n{format_scores(report)}")
        seconds = figures(report)["seconds"]
        terminal.put(f"{'median seconds a case':<22} {seconds:>6.1f}")
        larger = self._larger(seconds)
        if larger:
            terminal.put(f"\n{larger}")
        if self._failed and self._job.out is not None:
            terminal.say(f"With prompts: goliath-local eval show {self._job.out} ID")
        elif self._failed:
            terminal.say(
                "Keep the prompts too with -o FILE, and see: goliath-local eval show FILE"
            )

    def _larger(self, seconds: float) -> str:
        from goliath_local.catalogue import cards, read_machine

        if self._found.path is None:
            return ""
        return format_larger(
            larger_cards(
                cards(),
                size_bytes=self._found.path.stat().st_size,
                seconds=seconds,
                available_bytes=read_machine().available_bytes,
            )
        )


def _limited(chosen: EvalSet, limit: int | None) -> EvalSet:
    return replace(chosen, fixtures=chosen.fixtures[:limit], cases=chosen.cases[:limit])


def _read_gate(text: str) -> tuple[str, FigureGate | Outcomes]:
    """Return the gate: a figure's bound, or the outcomes of a record."""
    gate = read_figure_gate(text)
    if gate is not None:
        return text, gate
    if not Path(text).is_file():
        msg = (
            f"--gate {text}: that is neither a figure with a bound, as in 'pass>=0.8', nor the "
            "file of a record."
        )
        raise ConfigError(msg)
    return text, load_outcomes(Path(text))


def _judge(name: str, gate: FigureGate | Outcomes, report: Report) -> GateResult:
    if isinstance(gate, Outcomes):
        after = {fixture.id: fixture.passed for fixture in report.fixtures}
        return judge_paired(name, gate.passed, after)
    return judge_figure(gate, figures(report))


def _document(report: Report, gates: tuple[GateResult, ...]) -> dict[str, Any]:
    return {
        "about": dict(report.metadata),
        "figures": dict(figures(report)),
        "verdicts": {verdict.value: count for verdict, count in report.verdicts.items()},
        "faults": {fault.value: count for fault, count in report.faults.items()},
        "invalidCalls": list(report.invalid_calls),
        "fixtures": [
            {
                "id": fixture.id,
                "kind": fixture.kind,
                "passed": fixture.passed,
                "passes": fixture.passes,
                "runs": fixture.runs,
                "verdicts": [attempt.verdict.value for attempt in fixture.attempts],
                "reasons": list(fixture.reasons),
                "seconds": round(fixture.last.ms / 1000, 3),
            }
            for fixture in report.fixtures
        ],
        "gates": [{"gate": gate.name, "met": gate.is_met, "text": gate.text} for gate in gates],
    }
