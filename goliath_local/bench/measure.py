"""A whole benchmark of one model file.

Edge: opens the file twice, first the bare network, then the engine around it, and watches what
else this machine is doing.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goliath_local.bench.figures import mean, outer_thirds, ratio
from goliath_local.bench.quiet import Watch
from goliath_local.bench.raw import Trials, measure_raw, verify_trials
from goliath_local.bench.rows import Report, Row, Setup
from goliath_local.bench.turn import measure_turns
from goliath_local.catalogue import read_gguf_header
from goliath_local.engine import EngineSettings, load_model, open_bare
from goliath_local.engine.native import Aborted, StopFlag, native_build
from goliath_local.errors import RunCancelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.bench.raw import Timed
    from goliath_local.cancel import CancelToken

WINDOW_TOKENS: Final = EngineSettings().window_tokens

_HOT: Final = 0.9
"""Last third over first third: below it the machine was held back, by heat or by its host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The model that is measured, and how it is set up."""

    path: Path
    name: str
    sha256: str | None
    settings: EngineSettings


def measure(
    subject: Subject,
    trials: Trials,
    *,
    version: str,
    with_turns: bool,
    cancel: CancelToken,
    on_row: Callable[[Row], None],
) -> Report:
    """Return the report; each row is handed out as soon as it is there.

    Blocks for as long as it takes, so call it beside the event loop.

    Raises:
        ConfigError: a trial is impossible.
        RunCancelled: it was told to stop.
    """
    window = read_gguf_header(subject.path).trained_window_tokens or WINDOW_TOKENS
    verify_trials(trials, window_tokens=min(window, WINDOW_TOKENS))
    watch = Watch()
    # Turns first: the memory they take is then the engine's own, with nothing before it.
    turns = _turns(subject, trials.repetitions, cancel, on_row) if with_turns else []
    setup, timed = _bare(subject, trials, version=version, cancel=cancel, on_row=on_row)
    rows = (*(one.row for one in timed), *_heat_rows(timed), *turns)
    return Report(setup=setup, rows=rows, doubts=(*watch.spell().doubts, *_heat_doubts(timed)))


def peak_memory_bytes() -> int:
    """Return the most memory this process ever had resident, files mapped into it included."""
    if sys.platform == "linux":
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def processor_name() -> str:
    """Return what the processor calls itself, as far as anybody says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _bare(
    subject: Subject,
    trials: Trials,
    *,
    version: str,
    cancel: CancelToken,
    on_row: Callable[[Row], None],
) -> tuple[Setup, list[Timed]]:
    flag = StopFlag()
    forget = cancel.on_cancel(flag.stop)
    timed = []
    started_at = dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")
    try:
        with open_bare(subject.path, subject.settings) as bare:
            bare.session.use_flag(flag)
            for one in measure_raw(bare.session, trials, vocabulary_tokens=bare.vocabulary_tokens):
                timed.append(one)
                on_row(one.row)
            setup = Setup(
                model=subject.name,
                sha256=subject.sha256,
                size_bytes=bare.size_bytes,
                parameters=bare.parameters,
                threads=bare.threads,
                batch_tokens=subject.settings.batch_tokens,
                gpu_layers=str(subject.settings.gpu_layers),
                flash_attention=subject.settings.flash_attention,
                build=native_build(),
                processor=processor_name(),
                version=version,
                seed=trials.seed,
                at=started_at,
            )
    except Aborted as error:
        raise RunCancelled(cancel.reason) from error
    finally:
        forget()
    return setup, timed


def _turns(
    subject: Subject, repetitions: int, cancel: CancelToken, on_row: Callable[[Row], None]
) -> list[Row]:
    started = time.perf_counter()
    model = load_model(
        subject.path, name=subject.name, sha256=subject.sha256, settings=subject.settings
    )
    load_s = time.perf_counter() - started
    with model:
        rows = asyncio.run(measure_turns(model, repetitions=repetitions, cancel=cancel))
    found = [
        Row(test="load", unit="s", samples=(load_s,)),
        *rows,
        Row(test="memory, peak", unit="MB", samples=(peak_memory_bytes() / 1e6,)),
    ]
    for row in found:
        on_row(row)
    return found


def _heat_rows(timed: list[Timed]) -> list[Row]:
    rows = []
    for one in timed:
        first, last = outer_thirds(one.token_s)
        for name, third in (("first third", first), ("last third", last)):
            if third:
                speed = 1 / mean(third)
                rows.append(Row(test=f"{one.row.test}, {name}", unit="t/s", samples=(speed,)))
    return rows


def _heat_doubts(timed: list[Timed]) -> tuple[str, ...]:
    doubts = []
    for one in timed:
        first, last = outer_thirds(one.token_s)
        share = ratio(mean(first), mean(last)) if first else 1.0
        if share < _HOT:
            doubts.append(f"{one.row.test}: the last third ran at {share:.0%} of the first; heat?")
    return tuple(doubts)
