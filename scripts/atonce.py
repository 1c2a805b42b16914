"""Several processes at one store, and several pulls of one model (L3, L4).

    python scripts/atonce.py --way saves --count 50 --rounds 10      # 8 processes, both stores
    python scripts/atonce.py --way pulls --rounds 100                # 2 to 6 threads and processes

Every save has to be there, and every pull has to leave the one right file, fetched once where
locks work; in every fourth round of pulls they lie. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import filelock  # noqa: E402 - after the path

from goliath_local.catalogue import fetch  # noqa: E402
from goliath_local.errors import GoliathError  # noqa: E402
from goliath_local.memory import file_memory, sqlite_memory  # noqa: E402
from tests.catalogue.maker import card, large_gguf  # noqa: E402
from tests.catalogue.server import serving  # noqa: E402

if TYPE_CHECKING:
    from tests.catalogue.server import Handler

PROCESSES = 8
CONTENT = large_gguf(500_000)
MOST_FETCHED = 1.1
_SAVE = [sys.executable, "-W", "error", str(ROOT / "tests/memory/store_child.py")]
_PULL = """
import sys
from pathlib import Path
from goliath_local.catalogue import fetch
from tests.catalogue.maker import card, large_gguf
fetch(card(large_gguf(500_000)), Path(sys.argv[1]))
"""


def saves(kind: str, folder: Path, count: int) -> list[str]:
    """Let eight processes save at once; return what is not as it should be."""
    children = [
        subprocess.Popen(
            [*_SAVE, kind, str(folder), "save", f"p{number}", str(count)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    faults = []
    for child in children:
        _, err = child.communicate()
        if child.returncode or err:
            faults.append(f"exit {child.returncode}: {err[-300:]}")
    store: Any = sqlite_memory(folder / "m.db") if kind == "sqlite" else file_memory(folder)
    wanted = {
        f"p{number}": [f"p{number} {n}" for n in range(count)] for number in range(PROCESSES)
    }
    for name, asks in wanted.items():
        if _asks(store, name) != asks:
            faults.append(f"{kind} {name}: {len(_asks(store, name))} of {count} saves are there")
    if sorted(_asks(store, "shared")) != sorted(ask for asks in wanted.values() for ask in asks):
        faults.append(f"{kind} shared: {len(_asks(store, 'shared'))} saves are there")
    return faults


def _asks(store: Any, name: str) -> list[str]:
    return [one.ask for one in asyncio.run(store(name).load()).recent]


def pulls(folder: Path, chance: random.Random, *, locks_lie: bool) -> list[str]:
    """Pull one model several times at once; return what is not as it should be."""
    faults: list[str] = []
    with serving(CONTENT, _slowly) as place:
        os.environ["HF_ENDPOINT"] = place.url
        count, as_processes = chance.choice([2, 6]), not locks_lie and chance.random() < 0.5
        if as_processes:
            command = [sys.executable, "-c", _PULL, str(folder)]
            children = [subprocess.Popen(command, cwd=ROOT) for _ in range(count)]
            faults += [f"a pull ended with {one.wait()}" for one in children if one.wait()]
        else:
            faults += _in_threads(folder, count, locks_lie=locks_lie)
        if locks_lie:
            fetch(card(CONTENT), folder)
        elif place.sent_bytes > MOST_FETCHED * len(CONTENT):
            faults.append(f"{place.sent_bytes:,} bytes were sent for {len(CONTENT):,}")
    if (folder / "tiny.gguf").read_bytes() != CONTENT:
        faults.append("the file is another one")
    return faults


def _in_threads(folder: Path, count: int, *, locks_lie: bool) -> list[str]:
    failed: list[str] = []

    def pull() -> None:
        try:
            fetch(card(CONTENT), folder)
        except GoliathError as error:
            failed.append(str(error))

    threads = [threading.Thread(target=pull) for _ in range(count)]
    lie = mock.patch.object(filelock.FileLock, "acquire", return_value=None)
    with lie if locks_lie else mock.patch.dict(os.environ):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # Where locks lie, one may be told that its part was taken away.
    return [] if locks_lie else failed


def _slowly(handler: Handler) -> None:
    content = handler.place.content
    for at in range(handler.begin_honestly(content), len(content), 50_000):
        handler.send(content[at : min(at + 50_000, len(content))])
        time.sleep(0.005)


def main() -> int:
    """Run what is asked for and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--way", choices=["saves", "pulls"], required=True)
    parser.add_argument("--count", type=int, default=20, help="saves of each process in a round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, faults = random.Random(options.seed), []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if options.way == "pulls":
                faults += pulls(folder / "models", chance, locks_lie=number % 4 == 3)
            else:
                (folder / "sqlite").mkdir()
                faults += saves("sqlite", folder / "sqlite", options.count)
                faults += saves("file", folder / "files", options.count)
    for fault in faults:
        print(f"  FAULT {fault}")
    each = f" of {PROCESSES} x {2 * options.count} saves a store" if options.way == "saves" else ""
    print(f"{options.way}: {options.rounds} rounds{each}, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
