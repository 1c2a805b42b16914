"""A program that saves, for tests that stop it or run it several times at once.

`store_child.py STORE PATH save NAME COUNT` appends COUNT exchanges to the conversations NAME and
`shared`. `store_child.py STORE PATH kill COUNT SEED` kills a saving fork of itself COUNT times
and says what it found afterwards. `store_child.py STORE PATH pay` notes a call and waits.
`store_child.py sqlite PATH full` saves with no room left.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from goliath_local.errors import StorageError
from goliath_local.memory import FileMemories, SqliteMemories
from goliath_local.records import Exchange, MemoryState, StepRecord

PADDING = "x" * 20_000
PATIENCE_S = 200.0


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")


def opened(kind: str, path: str) -> Any:
    # On a machine that is busy enough, 10 s pass before everybody had a turn.
    if kind == "sqlite":
        return SqliteMemories(Path(path) / "m.db", wait_s=PATIENCE_S)
    return FileMemories(Path(path), wait_s=PATIENCE_S)


async def append(memory: Any, ask: str) -> None:
    state = await memory.load()
    exchange = Exchange(ask=ask, answer="yes", at=time.time() * 1000)
    await memory.save(replace(state, recent=(*state.recent, exchange)))


async def save(store: Any, name: str, count: int) -> None:
    for number in range(count):
        await append(store(name), f"{name} {number}")
        await append(store("shared"), f"{name} {number}")


async def save_for_ever(store: Any, *, tell: int, after: int) -> None:
    """Save without end; tell through the pipe once so many saves are done."""
    memory = store("one")
    start = int((await memory.load()).summary.partition(" ")[0] or 0)
    for number in range(start + 1, start + 1000):
        if number == start + 1 + after:
            os.write(tell, b"x")
        await memory.save(MemoryState(summary=f"{number} {PADDING}"))


def kill(kind: str, path: str, count: int, seed: int) -> None:
    chance = random.Random(seed)
    last = 0
    for _ in range(count):
        after = chance.randint(0, 3)
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            asyncio.run(save_for_ever(opened(kind, path), tell=tell, after=after))
            os._exit(0)
        os.close(tell)
        os.read(told, 1)
        os.close(told)
        time.sleep(chance.uniform(0, 0.01))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        memory = opened(kind, path)("one")
        state = asyncio.run(memory.load())
        number, _, rest = state.summary.partition(" ")
        assert memory.warning is None, memory.warning
        assert rest in ("", PADDING), "a torn text"
        assert int(number or 0) >= last, "an older state came back"
        last = int(number or 0)
        if kind == "sqlite" and (Path(path) / "m.db").exists():
            with closing(sqlite3.connect(Path(path) / "m.db")) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    say(f"saves {last}")


async def pay(store: Any) -> None:
    memory = store("one")
    await memory.load()
    call = StepRecord(index=0, kind="tool", brief="pay", tool="pay", input={}, writes=True)
    await memory.note(Exchange(ask="pay", answer="", at=5, steps=(call,)))
    say("noted")
    sys.stdout.flush()
    time.sleep(60)


def full(path: str) -> None:
    store = opened("sqlite", path)
    asyncio.run(store("one").save(MemoryState(summary="before")))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, resource.RLIM_INFINITY))
    try:
        asyncio.run(store("one").save(MemoryState(summary="y" * 200_000)))
    except StorageError as error:
        say(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    say(asyncio.run(store("one").load()).summary)
    asyncio.run(store("one").save(MemoryState(summary="after")))
    say(asyncio.run(store("one").load()).summary)


if __name__ == "__main__":
    kind, path, what, *rest = sys.argv[1:]
    if what == "save":
        asyncio.run(save(opened(kind, path), rest[0], int(rest[1])))
    elif what == "kill":
        kill(kind, path, int(rest[0]), int(rest[1]))
    elif what == "pay":
        asyncio.run(pay(opened(kind, path)))
    else:
        full(path)
