"""Every place where the program keeps something, as a trial sees it.

Edge: disk. A store can be brought from state `n - 1` to state `n`, and read back as the number
of the state it is in. Reading goes through the doors that the program itself uses, and raises
when anything in between is found.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import struct
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goliath_local.catalogue import fetch
from goliath_local.catalogue.card import FileSource, Pin
from goliath_local.catalogue.record import read_chosen, read_record, write_chosen
from goliath_local.cli.config import write_config
from goliath_local.cli.tracefile import TraceFile, read_trace, trace_paths
from goliath_local.demo import FIRST_TASKS, TaskList
from goliath_local.engine.native.snapshot import DiskShelf
from goliath_local.engine.snapshots import Snapshot
from goliath_local.errors import FileMissing, StorageError
from goliath_local.filesystem import sqlite_filesystem
from goliath_local.memory import file_memory, sqlite_memory
from goliath_local.records import MemoryState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PADDING = "x" * 9_000
MODEL_BYTES = 3_000_000


class Torn(AssertionError):
    """A store is in a state that nobody ever asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """One place."""

    name: str
    change: Callable[[Path, int], None]
    """Bring the store in that folder to the state of that number; in order, from 1."""

    read: Callable[[Path], int]
    """Return the number of the state; 0 when nothing is there yet. Raises `Torn`."""

    most: int = 1_000_000
    """The last number that can be told from the one before."""

    is_synced: bool = True
    """What was changed is there after a power cut, too."""


def _remembered(number: int) -> MemoryState:
    return MemoryState(summary=f"{number} {PADDING}")


def _number(text: str) -> int:
    number, _, rest = text.partition(" ")
    if rest not in ("", PADDING):
        raise Torn("a text that nobody saved")
    return int(number or 0)


def _save_file(folder: Path, number: int) -> None:
    asyncio.run(file_memory(folder)("one").save(_remembered(number)))


def _read_file(folder: Path) -> int:
    memory = file_memory(folder)("one")
    state = asyncio.run(memory.load())
    verify(memory.warning is None, f"memory says {memory.warning}")
    return _number(state.summary)


def _save_sqlite(folder: Path, number: int) -> None:
    asyncio.run(sqlite_memory(folder / "m.db")("one").save(_remembered(number)))


def _read_sqlite(folder: Path) -> int:
    memory = sqlite_memory(folder / "m.db")("one")
    state = asyncio.run(memory.load())
    verify(memory.warning is None, f"memory says {memory.warning}")
    _verify_sqlite(folder / "m.db")
    return _number(state.summary)


def _add_task(folder: Path, number: int) -> None:
    TaskList(folder / "tasks.sqlite").add(f"task {number}")


def _read_tasks(folder: Path) -> int:
    titles = TaskList(folder / "tasks.sqlite").titles()
    first, added = titles[: len(FIRST_TASKS)], titles[len(FIRST_TASKS) :]
    verify(tuple(first) == FIRST_TASKS, f"the list begins with {first}")
    verify(added == [f"task {n}" for n in range(1, len(added) + 1)], f"tasks {added}")
    _verify_sqlite(folder / "tasks.sqlite")
    return len(added)


def _write_trace(folder: Path, number: int) -> None:
    # As in the program, a trace never goes on where another one was cut short.
    trace = TraceFile(folder, f"{number:06}-{time.time_ns()}")
    trace.turn({"ask": f"{number}"})
    trace.result({"text": PADDING})
    if trace.error is not None:
        raise StorageError(str(trace.error))


def _read_traces(folder: Path) -> int:
    """Return how many whole traces there are; others are a turn that was cut short."""
    whole: set[int] = set()
    for path in trace_paths(folder):
        try:
            trace = read_trace(path)
        except StorageError:
            continue
        if trace.result and not trace.damaged_lines:
            verify(trace.result["text"] == PADDING, f"{path.name} says something else")
            whole.add(int(path.stem.partition("-")[0]))
    verify(whole == set(range(1, len(whole) + 1)), f"of the traces there are {whole}")
    return len(whole)


def _state(number: int) -> Snapshot:
    state = np.random.default_rng(number).integers(0, 255, 20_000).astype(np.uint8)
    return Snapshot(key=str(number), length=3, state=state)


def _keep_state(folder: Path, number: int) -> None:
    shelf = DiskShelf(folder, {"model": "m"})
    shelf.keep(_state(number))
    if not shelf.path_of(str(number)).exists():
        raise StorageError("The shelf kept nothing, which costs a slower start.")


def _read_states(folder: Path) -> int:
    """Return how many states are there, none of them with another content than was put there."""
    shelf, number = DiskShelf(folder, {"model": "m"}), 0
    while found := shelf.find(str(number + 1), length=3):
        number += 1
        verify(np.array_equal(found.state, _state(number).state), "a state is another one")
    return number


def _model(number: int) -> bytes:
    """Return a small file that the header reader takes for a model."""
    text = f"m{number}".encode()
    key = b"general.name"
    entry = struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, len(text)) + text
    arch = b"general.architecture"
    entry += struct.pack("<Q", len(arch)) + arch + struct.pack("<IQ", 8, 5) + b"llama"
    tensor = struct.pack("<Q", 1) + b"a" + struct.pack("<IQIQ", 1, MODEL_BYTES // 4, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 2) + entry + tensor
    return head + bytes(-len(head) % 32) + bytes([number % 250 + 1]) * MODEL_BYTES


def _pin(folder: Path, number: int) -> Pin:
    data = _model(number)
    source = folder.parent / "sources" / f"m{number}.gguf"
    if not source.exists():
        source.parent.mkdir(exist_ok=True)
        source.write_bytes(data)
    return Pin(
        name=f"m{number}",
        file=f"m{number}.gguf",
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        sources=(FileSource(path=source, link=False),),
    )


def _fetch_model(folder: Path, number: int) -> None:
    fetch(_pin(folder, number), folder)


def _read_models(folder: Path) -> int:
    """Return the number of the last model that is there; whatever is there is whole."""
    number = 0
    while (path := folder / f"m{number + 1}.gguf").exists():
        number += 1
        verify(path.read_bytes() == _model(number), f"{path.name} is another file")
        record = read_record(folder, path.name)
        verify(record is None or record.size_bytes == path.stat().st_size, "a wrong record")
    return number


def _choose(folder: Path, number: int) -> None:
    write_chosen(folder, f"m{number}")


def _read_choice(folder: Path) -> int:
    return int((read_chosen(folder) or "m0")[1:])


def _write_config(folder: Path, _number: int) -> None:
    write_config(folder / "config.toml")


def _read_config(folder: Path) -> int:
    path = folder / "config.toml"
    text = path.read_text() if path.exists() else None
    if text is None:
        return 0
    verify(text.startswith("# goliath-local") and text.endswith("\n"), f"config {text[:20]!r}")
    verify(text.count("\n# ") > 10, "half a config")
    return 1


def _write_note(folder: Path, number: int) -> None:
    async def write() -> None:
        files = sqlite_filesystem(folder / "files.sqlite")
        try:
            revision = (await files.read("/a")).revision
        except FileMissing:
            revision = None
        await files.write("/a", f"{number} {PADDING}", revision)

    asyncio.run(write())


def _read_note(folder: Path) -> int:
    path = folder / "files.sqlite"
    if not path.exists():
        return 0
    try:
        number = _number(asyncio.run(sqlite_filesystem(path).read("/a")).content)
    except FileMissing:
        number = 0
    _verify_sqlite(path)
    return number


def _verify_sqlite(path: Path) -> None:
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("PRAGMA integrity_check").fetchone()
            verify(found == ("ok",), f"integrity_check: {found}")


def verify(holds: bool, what: str) -> None:
    """Raise `Torn` unless it holds."""
    if not holds:
        raise Torn(what)


STORES: dict[str, Store] = {
    store.name: store
    for store in (
        Store(name="memory-file", change=_save_file, read=_read_file),
        Store(name="memory-sqlite", change=_save_sqlite, read=_read_sqlite),
        Store(name="tasks", change=_add_task, read=_read_tasks),
        Store(name="traces", change=_write_trace, read=_read_traces, is_synced=False),
        Store(name="states", change=_keep_state, read=_read_states),
        Store(name="models", change=_fetch_model, read=_read_models),
        Store(name="choice", change=_choose, read=_read_choice),
        Store(name="config", change=_write_config, read=_read_config, most=1),
        Store(name="virtual-files", change=_write_note, read=_read_note),
    )
}
