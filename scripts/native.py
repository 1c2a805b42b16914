"""The native layer under strain: long life, loads, wrong order of life, short memory.

    python scripts/native.py --way flat --count 300      # replies; memory after the fiftieth
    python scripts/native.py --way loads --count 50      # load, reply, close
    python scripts/native.py --way life --count 200      # random open, ask, cancel, close, drop
    python scripts/native.py --way life --count 20 --lives 10  # so many in each child
    python scripts/native.py --way short --count 20      # address space short of the need
    python scripts/native.py --way swapped --count 10    # the file changes while tokens come
    python scripts/native.py --way forks --count 5 --threads 2
    python scripts/native.py --way busy --count 3        # decoding beside busy processes

Each trial is a child process with a time limit, run with `-X dev -W error`, so a signal is a
result; whatever a child writes to stderr is a fault. Needs an installed model. Exit code 1 when
anything falls short.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import functools
import gc
import itertools
import json
import logging
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from goliath_local.catalogue import find_card, installed_path  # noqa: E402 - after the path
from goliath_local.engine import EngineSettings, LocalModel, load_model  # noqa: E402
from goliath_local.model import Part, Request, Stage  # noqa: E402
from scripts.trials import forks, swaps  # noqa: E402
from scripts.trials.life import STEPS, Life, Watch  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLAT_BYTES = 20 << 20
"""How far memory may grow after the fiftieth reply."""

LOAD_BYTES = 1 << 20
"""How far memory may grow with each load."""

BUSY_MEAN, BUSY_WORST = 4, 10
"""How many times the quiet mean a token may take beside as many busy processes as cores."""

WARM_UP = 50
STEP_S = 90.0
"""How long one step of a life may take; with a core of its own it takes two seconds at most."""

_PLAN = {
    "type": "object",
    "properties": {"kind": {"enum": ["tool", "answer"]}, "brief": {"type": "string"}},
    "required": ["kind", "brief"],
}


def path_of(name: str) -> Path:
    """Return the file of the installed model of that name."""
    path = installed_path(find_card(name))
    if path is None:
        sys.exit(f"{name} is not installed. Get it: goliath-local models pull {name}")
    return path


def open_tiny(name: str, *, threads: int | None = None) -> LocalModel:
    """Load the installed model of that name; more threads than cores is a starved machine."""
    settings = EngineSettings(deterministic=True, threads=threads)
    return load_model(path_of(name), name=name, settings=settings)


def a_request(chance: random.Random, **more: Any) -> Request:
    """Return a question with a head that others share, constrained or not."""
    schema = _PLAN if chance.random() < 0.5 else None
    words = " ".join(f"word{chance.randrange(999)}" for _ in range(chance.randint(1, 60)))
    return Request(
        stage=Stage.CONDUCTOR,
        system=(Part(name="instructions", text="You plan one step at a time. " * 6),),
        user=(Part(name="ask", text=words),),
        **{"schema": schema, "max_tokens": chance.randint(1, 12), **more},
    )


def rss_bytes() -> int:
    """Return the memory this process holds."""
    import psutil

    gc.collect()
    return int(psutil.Process().memory_info().rss)


def flat(name: str, count: int, seed: int, threads: int | None) -> dict[str, Any]:
    """Reply so many times; say how memory grew after the fiftieth reply."""
    chance, grown, first = random.Random(seed), 0, 0
    with open_tiny(name, threads=threads) as model:
        for number in range(count):
            asyncio.run(model.generate(a_request(chance)))
            if number + 1 == min(WARM_UP, count):
                first = rss_bytes()
        grown = rss_bytes() - first
    return {"grown_bytes": grown, "ok": grown <= FLAT_BYTES}


def loads(name: str, count: int, seed: int, threads: int | None) -> dict[str, Any]:
    """Load, reply once and close so many times; say how memory and handles grew."""
    import psutil

    chance, first, handles = random.Random(seed), 0, 0
    for number in range(count):
        with open_tiny(name, threads=threads) as model:
            asyncio.run(model.generate(a_request(chance, max_tokens=1)))
        if number + 1 == min(5, count):
            first, handles = rss_bytes(), psutil.Process().num_fds()
    each = (rss_bytes() - first) / max(1, count - 5)
    more = psutil.Process().num_fds() - handles
    return {"bytes_a_load": round(each), "handles": more, "ok": each <= LOAD_BYTES and more == 0}


def life(name: str, lives: int, seed: int, threads: int | None) -> dict[str, Any]:
    """Live so many lives, a dozen random steps each; every outcome is a reply or a typed error."""
    watch = Watch(STEP_S)
    done = []
    for number in range(lives):
        chance = random.Random(seed * 1000 + number if number else seed)
        whole = Life(
            chance=chance,
            load=functools.partial(open_tiny, name, threads=threads),
            ask=functools.partial(a_request, chance),
        )
        done += whole.live(watch)
    return {"done": done, "slowest": watch.slowest, "ok": len(done) == STEPS * lives}


def busy(options: argparse.Namespace) -> int:
    """Decode beside busy processes: as many as cores are judged, one and twice as many told."""
    cores = len(os.sched_getaffinity(0))
    with open_tiny(options.model, threads=options.threads) as model:
        _token_gaps(model)  # grammar, head, first pages
        quiet = [gap for _ in range(options.count) for gap in _token_gaps(model)]
        mean = statistics.mean(quiet)
        print(f"quiet: {mean * 1000:.1f} ms a token, {len(quiet)} tokens, {model.threads} threads")
        is_kept = True
        for number in sorted({1, cores, 2 * cores}):
            with _loops(number):
                gaps = [gap for _ in range(options.count) for gap in _token_gaps(model)]
            slower, worst = statistics.mean(gaps) / mean, max(gaps) / mean
            print(f"{number} busy: {slower:.1f} times the quiet mean, the worst {worst:.1f} times")
            is_kept &= number != cores or (slower <= BUSY_MEAN and worst <= BUSY_WORST)
    return os.EX_OK if is_kept else 1


def _token_gaps(model: LocalModel) -> list[float]:
    """Return the seconds between the pieces of one reply in free text."""
    heard: list[float] = []
    asked = Request(
        stage=Stage.ANSWER,
        system=(Part(name="instructions", text="You tell long stories."),),
        user=(Part(name="ask", text="Tell a long story of a town by the sea and its people."),),
        max_tokens=100,
        on_text=lambda _: heard.append(time.perf_counter()),
    )
    asyncio.run(model.generate(asked))
    return [after - before for before, after in itertools.pairwise(heard)]


@contextlib.contextmanager
def _loops(number: int) -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(number)]
    try:
        time.sleep(1)  # until they are at it
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def children(options: argparse.Namespace) -> int:
    """Run the trials of one way in children, and print what came out."""
    faults = 0
    seeds = range(options.seed, options.seed + (options.count if options.way == "life" else 1))
    for seed in seeds:
        command = [sys.executable, "-X", "dev", "-W", "error", __file__, "--child"]
        command += ["--way", options.way, "--model", options.model]
        command += ["--count", str(options.count), "--seed", str(seed)]
        command += ["--lives", str(options.lives)]
        command += ["--timeout", str(options.timeout)]
        command += ["--threads", str(options.threads)] if options.threads else []
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout + 60, check=False
        )
        last = (ended.stdout.strip().splitlines() or [""])[-1]
        said = json.loads(last) if ended.returncode == 0 and last else {}
        if ended.returncode or ended.stderr or not said.get("ok"):
            faults += 1
            print(f"  FAULT seed {seed}: exit {ended.returncode}, {last} {ended.stderr[-2000:]}")
        else:
            print(f"{options.way}, seed {seed}: {last}", flush=True)
    print(f"{options.way}: {len(seeds)} children, {faults} faults")
    return 1 if faults else 0


def short(options: argparse.Namespace) -> int:
    """Answer within more and more address space: an answer, or exit 3 with a message."""
    command = [sys.executable, "-m", "goliath_local", "run", "-m", options.model]
    command += ["Say hello."]
    need = _peak_bytes(command, options.timeout)
    # Below what the interpreter and its extension modules take, nothing of ours can speak.
    floor = _peak_bytes([*command[:3], "models", "list"], options.timeout)
    faults: list[str] = []
    codes: list[int] = []
    for number in range(options.count):
        share = 0.1 + 1.9 * number / max(1, options.count - 1)
        limit = floor + int(max(0, need - floor) * share)
        ended = subprocess.run(
            ["prlimit", f"--as={limit}", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=options.timeout,
            check=False,
        )
        codes.append(ended.returncode)
        if ended.returncode < 0 or ended.returncode == 1:
            last = (ended.stderr.strip().splitlines() or [""])[-1]
            faults.append(f"{share:.2f} x the way to the need: exit {ended.returncode}, {last}")
    for fault in faults:
        print(f"  FAULT {fault}")
    print(f"short: {floor >> 20} to {need >> 20} MiB, exits {codes}, {len(faults)} faults")
    return 1 if faults else 0


def swapped(options: argparse.Namespace) -> int:
    """Change the model file while tokens come, in each way so many times."""
    outcomes, faults = swaps.swapped(path_of(options.model), options.count, options.seed)
    for fault in faults:
        print(f"  FAULT {fault}")
    for way, outcome in outcomes.items():
        print(f"{way}: {dict(outcome)}")
    print(f"swapped: {options.count} times each, {len(faults)} faults")
    return 1 if faults else 0


def forked(options: argparse.Namespace) -> int:
    """Fork, spawn and have a server fork, so many times each, with a model loaded."""
    threads = options.threads or 1
    fine, faults = forks.forked(path_of(options.model), options.count, threads)
    for fault in faults:
        print(f"  FAULT {fault}")
    print(f"forks, {threads} threads: fine {dict(fine)}, {len(faults)} faults")
    return 1 if faults else 0


def _peak_bytes(command: list[str], timeout_s: float) -> int:
    """Return the largest address space of a run that has all it wants."""
    peak = 0
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = Path(f"/proc/{child.pid}/status")
    with contextlib.suppress(OSError):
        while child.poll() is None:
            for line in status.read_text().splitlines():
                if line.startswith("VmPeak:"):
                    peak = max(peak, int(line.split()[1]) << 10)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=min(0.05, timeout_s))
    return peak


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ways: dict[str, Callable[..., dict[str, Any]]] = {
        "flat": flat,
        "loads": loads,
        "life": life,
    }
    apart = {"short": short, "swapped": swapped, "forks": forked, "busy": busy}
    parser.add_argument("--way", choices=[*ways, *apart], required=True)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of the model; default: the free cores")
    parser.add_argument("--timeout", type=float, default=3600, help="of one child, in seconds")
    parser.add_argument("--lives", type=int, default=1, help="of one child of --way life")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way in apart:
        return apart[options.way](options)
    if not options.child:
        return children(options)
    # Under `-X dev` asyncio remarks on every step that a busy machine makes slow.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    # A child that hangs says where, and ends with 1.
    faulthandler.dump_traceback_later(options.timeout, exit=True)
    way = ways[options.way]
    count = options.lives if options.way == "life" else options.count
    said = way(options.model, count, options.seed, options.threads)
    print(json.dumps(said))
    sys.stdout.flush()
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
