"""Children of a process that has a model loaded (F9).

Edge: loads a model, forks or spawns. As a program, `python -m scripts.trials.forks FILE METHOD
THREADS`, it is one trial: prints `fine`, or ends with an error. In a forked child the first use
has to raise within a second and say what to do; a spawned one loads a model of its own; and the
parent goes on.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goliath_local.engine import EngineSettings, load_model
from goliath_local.errors import ModelUnavailable
from goliath_local.model import Part, Request, Stage

if TYPE_CHECKING:
    from goliath_local.engine import LocalModel

ROOT = Path(__file__).parents[2]
METHODS: Final = ("fork", "spawn", "forkserver")
TRIAL_S = 150
REFUSED = 7
"""Exit code of a forked child that was told to spawn."""

_inherited: list[LocalModel] = []


def forked(model: Path, count: int, threads: int) -> tuple[Counter[str], list[str]]:
    """Try each method so many times; return what was fine, and the faults."""
    fine: Counter[str] = Counter()
    faults = []
    for method in METHODS * count:
        command = [sys.executable, "-X", "dev", "-W", "error", "-m", __spec__.name]
        try:
            ended = subprocess.run(
                [*command, str(model), method, str(threads)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=TRIAL_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            faults.append(f"{method} with {threads} threads did not end")
            continue
        if (ended.returncode, ended.stdout, ended.stderr) == (0, "fine\n", ""):
            fine[method] += 1
        else:
            faults.append(f"{method}: exit {ended.returncode}, {ended.stderr[-500:]}")
    return fine, faults


def _opened(path: str, threads: int) -> LocalModel:
    return load_model(Path(path), settings=EngineSettings(deterministic=True, threads=threads))


def _text(model: LocalModel) -> str:
    request = Request(
        stage=Stage.ANSWER, system=(), user=(Part(name="ask", text="Say hello."),), max_tokens=6
    )
    return asyncio.run(model.generate(request)).text


def _use_inherited() -> None:
    began = time.process_time()
    try:
        _text(_inherited[0])
    except ModelUnavailable as error:
        is_told = "spawn" in str(error) and time.process_time() - began < 1
        sys.exit(REFUSED if is_told else 1)


def _use_own(path: str, threads: int, wanted: str) -> None:
    with _opened(path, threads) as model:
        sys.exit(0 if _text(model) == wanted else 1)


def main() -> None:
    """Run one trial."""
    path, method, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with _opened(path, threads) as model:
        before = _text(model)
        _inherited.append(model)
        context = multiprocessing.get_context(method)
        if method == "fork":
            child = context.Process(target=_use_inherited)  # type: ignore[attr-defined]
        else:
            child = context.Process(target=_use_own, args=(path, threads, before))  # type: ignore[attr-defined]
        child.start()
        child.join()
        wanted = REFUSED if method == "fork" else 0
        if child.exitcode != wanted:
            sys.exit(f"the child ended with {child.exitcode}, not {wanted}")
        if _text(model) != before:
            sys.exit("the parent says something else now")
        _inherited.clear()
    sys.stdout.write("fine\n")


if __name__ == "__main__":
    main()
