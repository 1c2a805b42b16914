"""A model file that changes while tokens come from it (F5).

Edge: copies the file, starts a child that replies from the copy and saves turns meanwhile, and
does something to the copy at a random moment. Unlinking and replacing must not be noticed. What
is cut short may end the child, and then the store has to be whole. As a program,
`python -m scripts.trials.swaps FILE STORE`, it is that child.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goliath_local.engine import EngineSettings, load_model
from goliath_local.memory import sqlite_memory
from goliath_local.model import Part, Request, Stage
from goliath_local.records import Exchange, MemoryState

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
REPLIES = 2
REPLY_TOKENS = 60
CHILD_S = 120


def _replace(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(bytes(path.stat().st_size))
    other.replace(path)


def _truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _rewrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xa5" * (1 << 20))


WAYS: Final[dict[str, Callable[[Path], None]]] = {
    "unlink": Path.unlink,
    "replace": _replace,
    "rewrite": _rewrite,
    "truncate": _truncate,
}
_UNNOTICED: Final = ("unlink", "replace")


def swapped(model: Path, count: int, seed: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """Do each thing so many times; return what became of the children, and the faults."""
    chance = random.Random(seed)
    outcomes: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        calm, _ = _run(model, folder / "calm.sqlite", lambda: None, 0.0)
        for way, number in itertools.product(WAYS, range(count)):
            path, store = folder / f"{way}.gguf", folder / f"{way}{number}.sqlite"
            shutil.copyfile(model, path)
            said, code = _run(path, store, lambda w=way, p=path: WAYS[w](p), chance.uniform(0, 1))  # type: ignore[misc]
            what = "the same text" if said == calm else "another text"
            outcomes[way][what if code == 0 else f"ended with {code}"] += 1
            if way in _UNNOTICED and (code or said != calm):
                faults.append(f"{way} was noticed: exit {code}, {said[:200]!r}")
            elif code > 0:
                faults.append(f"{way}: exit {code}, {said[-300:]!r}")
            faults += [f"{way}: {fault}" for fault in _faults_in(store)]
            path.unlink(missing_ok=True)
    return outcomes, faults


def _run(path: Path, store: Path, act: Callable[[], None], after_s: float) -> tuple[str, int]:
    """Start a child, act on the file some time after its first token; return text and exit."""
    command = [sys.executable, "-m", "scripts.trials.swaps", str(path), str(store)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    if child.stdout.readline() == "begun\n":
        time.sleep(after_s)
        act()
    try:
        said, _ = child.communicate(timeout=CHILD_S)
    except subprocess.TimeoutExpired:
        child.kill()
        return "it did not end", 1
    return said, child.returncode


def _faults_in(store: Path) -> list[str]:
    with closing(sqlite3.connect(store)) as connection:
        sound = connection.execute("PRAGMA integrity_check").fetchone()
    memory = sqlite_memory(store)("one")
    state = asyncio.run(memory.load())
    is_whole = sound == ("ok",) and memory.warning is None and len(state.recent) == 1
    return [] if is_whole else [f"the store: {sound}, {memory.warning}, {len(state.recent)} kept"]


def main() -> None:
    """Reply a few times from the file, saving all the while."""
    path, store = Path(sys.argv[1]), sqlite_memory(Path(sys.argv[2]))
    is_over = threading.Event()
    asyncio.run(store("one").save(_state(0)))
    saving = threading.Thread(target=_save, args=(store("one"), is_over), daemon=True)
    saving.start()
    is_told = False

    def tell(_text: str) -> None:
        nonlocal is_told
        if not is_told:
            is_told = True
            sys.stdout.write("begun\n")
            sys.stdout.flush()

    # Fresh: each reply reads all the weights again.
    with load_model(path, settings=EngineSettings(deterministic=True, fresh=True)) as model:
        for number in range(REPLIES):
            request = Request(
                stage=Stage.ANSWER,
                system=(),
                user=(Part(name="ask", text=f"Tell story {number}."),),
                max_tokens=REPLY_TOKENS,
                on_text=tell,
            )
            sys.stdout.write(asyncio.run(model.generate(request)).text + "\n")
    is_over.set()
    saving.join()


def _state(number: int) -> MemoryState:
    exchange = Exchange(ask=f"turn {number}", answer="x" * 5000, at=number)
    return MemoryState(summary=f"{number}", recent=(exchange,))


def _save(memory: object, is_over: threading.Event) -> None:
    for number in itertools.count(1):
        if is_over.wait(0.02):
            return
        asyncio.run(memory.save(_state(number)))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
