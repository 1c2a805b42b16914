"""Decoding beside one busy process, against decoding alone. Edge: starts a process that spins."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.answers import Failed
from bench.measures import Measure
from bench.peer_server import Server
from bench.run import skipped
from goliath_local.bench import median, ratio
from goliath_local.model import Part, Request, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.ours import Ours
    from bench.run import Run

SECTION = "neighbour"
_SPIN = "while True: pass"


@dataclass(slots=True)
class _Pace:
    """Replies of one kind."""

    speeds: list[float] = field(default_factory=list)
    slowest: list[float] = field(default_factory=list)
    """Slowest token over the median, of each reply."""


def measure(run: Run) -> Iterator[Measure]:
    """Yield speeds alone and in company, ours and the server's."""
    request = _story(run.amounts.decode_tokens)
    with run.ours(on_disk=False) as ours:
        alone = _pace(ours, request, run.amounts.rounds)
        with busy_neighbour():
            beside = _pace(ours, request, run.amounts.rounds)
    yield from _speeds("ours", alone.speeds, beside.speeds)
    for place, pace in (("alone", alone), ("beside a busy process", beside)):
        name = f"slowest token over median, {place}: ours"
        yield Measure(section=SECTION, name=name, unit="ratio", samples=tuple(pace.slowest))
    try:
        server = Server(run.subject)
    except (Failed, ImportError) as error:
        skipped("the server", error)
        return
    try:
        alone_tps = _server_pace(server, request, run.amounts.rounds)
        with busy_neighbour():
            beside_tps = _server_pace(server, request, min(run.amounts.rounds, 2))
    finally:
        server.close()
    yield from _speeds("server", alone_tps, beside_tps)


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one processor busy."""
    with subprocess.Popen([sys.executable, "-c", _SPIN]) as spinning:
        try:
            yield
        finally:
            spinning.kill()


def _speeds(who: str, alone: list[float], beside: list[float]) -> Iterator[Measure]:
    for place, samples in (("alone", alone), ("beside a busy process", beside)):
        name = f"decoding {place}: {who}"
        yield Measure(section=SECTION, name=name, unit="tokens_per_s", samples=tuple(samples))
    yield Measure(
        section=SECTION,
        name=f"decoding beside a busy process over alone: {who}",
        unit="ratio",
        samples=tuple(ratio(speed, median(alone)) for speed in beside),
    )


def _story(tokens: int) -> Request:
    text = "Tell a long story about a lighthouse keeper, with many details, without an end."
    return Request(
        stage=Stage.ANSWER,
        system=(Part(name="instructions", text="You tell stories."),),
        user=(Part(name="ask", text=text),),
        max_tokens=tokens,
    )


def _pace(ours: Ours, request: Request, rounds: int) -> _Pace:
    pace = _Pace()
    for _ in range(rounds):
        stamps: list[float] = []
        asked = Request(
            stage=request.stage,
            system=request.system,
            user=request.user,
            max_tokens=request.max_tokens,
            on_text=lambda _text, kept=stamps: kept.append(time.perf_counter()),
        )
        usage = asyncio.run(ours.model.generate(asked)).usage
        gaps = [after - before for before, after in itertools.pairwise(stamps)]
        pace.speeds.append(ratio(usage.completion_tokens, usage.decode_s))
        pace.slowest.append(ratio(max(gaps, default=0.0), median(gaps)))
    return pace


def _server_pace(server: Server, request: Request, rounds: int) -> list[float]:
    answers = [server.ask(request) for _ in range(rounds)]
    return [ratio(answer.completion_tokens, answer.decode_s) for answer in answers]
