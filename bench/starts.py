"""The first answer of a new process, its memory, the first plan token, and `--help`.

Edge: starts processes.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.answers import Failed
from bench.child import Child, own_python
from bench.measures import Measure
from bench.peer_binding import Binding
from bench.peer_server import Server
from bench.recorded import head_only, request_json
from bench.run import skipped
from goliath_local.bench import median, ratio
from goliath_local.model import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.answers import Peer
    from bench.recorded import RecordedTurn
    from bench.run import Run
    from goliath_local.model import Request

SECTION = "start"
_NATIVE = ("llama_cpp", "numpy", "xllamacpp")


def measure(run: Run) -> Iterator[Measure]:
    """Yield the figures of starting."""
    yield from _help(run.amounts.rounds)
    yield from _first_answers(run)
    yield from _first_tokens(run)


def _help(rounds: int) -> Iterator[Measure]:
    command = [str(Path(sys.executable).with_name("goliath-local")), "--help"]
    if not Path(command[0]).exists():
        command = [sys.executable, "-m", "goliath_local", "--help"]
    seconds = []
    for _ in range(max(rounds, 3)):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(time.perf_counter() - started)
    name = "goliath-local --help"
    yield Measure(section=SECTION, name=name, unit="s", samples=tuple(seconds))
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "goliath_local", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    imported = {line.rpartition("|")[2].strip() for line in listed.splitlines()}
    count = len(imported.intersection(_NATIVE))
    yield Measure(
        section=SECTION,
        name="goliath-local --help: native modules imported",
        unit="count",
        samples=(count,),
    )


def _first_answers(run: Run) -> Iterator[Measure]:
    turns = _spread(run.turns, run.amounts.starts)
    restarted, new, memory, server, binding = [], [], [], [], []
    for turn in turns:
        _start_ours(run, turn, states=run.states)  # the earlier run
        seconds, told = _start_ours(run, turn, states=run.states)
        restarted.append(seconds)
        memory.append(_over(told, run))
        new.append(_start_ours(run, turn, states=None)[0])
        server += _started_anew(Server, run, turn)
        binding += _started_anew(Binding, run, turn) if turn is turns[0] else []
    for name, samples in (
        ("ours, states of an earlier run on disk", restarted),
        ("ours, nothing on disk", new),
        ("server", [seconds for seconds, _ in server]),
        ("binding", [seconds for seconds, _ in binding]),
    ):
        if samples:
            full = f"first answer of a new process: {name}"
            yield Measure(section=SECTION, name=full, unit="s", samples=tuple(samples))
    if server:
        yield Measure(
            section=SECTION,
            name="first answer of a new process: server over ours",
            unit="ratio",
            samples=tuple(
                ratio(theirs, ours) for (theirs, _), ours in zip(server, restarted, strict=False)
            ),
        )
    yield from _memory(memory, server, binding, run)


def _memory(
    ours: list[dict[str, float]],
    server: list[tuple[float, float]],
    binding: list[tuple[float, float]],
    run: Run,
) -> Iterator[Measure]:
    prefix = "peak memory over file and KV cache"
    base = run.subject.header.file_bytes + run.subject.kv_bytes
    for who, samples in (
        ("ours", [one["over"] for one in ours]),
        ("server", [(peak - base) / 1e6 for _, peak in server if peak]),
        ("binding", [(peak - base) / 1e6 for _, peak in binding if peak]),
    ):
        if samples:
            name = f"{prefix}: {who}"
            yield Measure(section=SECTION, name=name, unit="mb", samples=tuple(samples))
    for key, name in (
        ("anonymous", "memory of our own after a turn, file pages apart: ours"),
        ("file", "file pages in memory after a turn: ours"),
    ):
        yield Measure(
            section=SECTION, name=name, unit="mb", samples=tuple(one[key] for one in ours)
        )


def _over(told: dict[str, Any], run: Run) -> dict[str, float]:
    base = run.subject.header.file_bytes + run.subject.kv_bytes
    return {
        "over": (told.get("VmHWM", 0) - base) / 1e6,
        "anonymous": told.get("RssAnon", 0) / 1e6,
        "file": told.get("RssFile", 0) / 1e6,
    }


def _start_ours(
    run: Run, turn: RecordedTurn, *, states: Path | None
) -> tuple[float, dict[str, Any]]:
    subject = run.subject
    asked = {
        "path": str(subject.path),
        "name": subject.name,
        "sha256": subject.sha256,
        "threads": subject.threads,
        "seed": subject.seed,
        "variables": dict(subject.variables),
        "states": str(states) if states else None,
        "requests": [request_json(request) for request in turn.requests],
    }
    path = run.scratch / "start.json"
    path.write_text(json.dumps(asked), encoding="utf-8")
    with Child(own_python("bench.start_ours", str(path))) as child:
        told = child.hear()
        return time.perf_counter() - child.started, told


def _started_anew(
    start: Callable[..., Any], run: Run, turn: RecordedTurn
) -> list[tuple[float, float]]:
    """Return seconds and peak bytes of a peer started anew; nothing when it cannot be."""
    started = time.perf_counter()
    try:
        peer: Peer = start(run.subject)
    except (Failed, ImportError) as error:
        skipped(f"{start.__name__} started anew", error)
        return []
    try:
        for request in turn.requests:
            peer.ask(request)
        return [(time.perf_counter() - started, peer.child.peak_bytes)]  # type: ignore[attr-defined]
    except Failed as error:
        skipped(f"{turn.fixture} on the {peer.name} started anew", error)
        return []
    finally:
        peer.close()  # type: ignore[attr-defined]


def _first_tokens(run: Run) -> Iterator[Measure]:
    plans = _spread(_plans(run), run.amounts.rounds)
    if not plans:
        return
    with run.ours(fresh=True, on_disk=False) as ours:
        _settle(ours.model, plans[0])
        cold = [_first_token_s(ours.model, plan) for plan in plans]
    with run.ours() as ours:
        # The heads are evaluated, or read from disk, and written down for the next start.
        asyncio.run(ours.model.prewarm(plans))
        _settle(ours.model, plans[0])
        warm = [_first_token_s(ours.model, plan) for plan in plans]
    restarted = []
    for plan in plans:
        with run.ours() as ours:
            restarted.append(_first_token_s(ours.model, plan))
    for state, samples in (("cold", cold), ("warm", warm), ("after a restart", restarted)):
        name = f"first plan token, {state}: ours"
        yield Measure(section=SECTION, name=name, unit="s", samples=tuple(samples))
    for name, over, under in (
        ("first plan token: warm over cold", warm, cold),
        ("first plan token: after a restart over warm", restarted, warm),
    ):
        ratios = tuple(ratio(one, other) for one, other in zip(over, under, strict=True))
        yield Measure(section=SECTION, name=name, unit="ratio", samples=ratios)
    note = f"of {len(plans)} plans"
    difference = median(restarted) - median(warm)
    name = "first plan token: what a restart adds"
    yield Measure(section=SECTION, name=name, unit="s", samples=(difference,), note=note)


def _plans(run: Run) -> list[Request]:
    firsts = [turn.requests[0] for turn in run.turns if turn.requests]
    return [request for request in firsts if request.stage is Stage.CONDUCTOR]


def _settle(model: Any, plan: Request) -> None:
    """Let the model do once what it does at its first reply only, on a prompt of its own."""
    asyncio.run(model.generate(replace(head_only(plan), system=())))


def _first_token_s(model: Any, request: Request) -> float:
    return asyncio.run(model.generate(request)).usage.first_token_s


def _spread(things: Any, count: int) -> list[Any]:
    """Return so many of them, evenly spaced."""
    things = list(things)
    count = min(count, len(things))
    return [things[at * len(things) // count] for at in range(count)] if count else []
