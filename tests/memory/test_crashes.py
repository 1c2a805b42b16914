from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.errors import StorageBusy, StorageError
from goliath_local.memory import (
    FileMemories,
    NotesTurns,
    SqliteMemories,
    file_memory,
    sqlite_memory,
    whole,
    write_whole,
)
from goliath_local.records import Exchange, MemoryState

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).with_name("store_child.py")
BEFORE, AFTER = MemoryState(summary="before"), MemoryState(summary="after " * 4000)


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(CHILD), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(child: subprocess.Popen[str]) -> str:
    out, err = child.communicate(timeout=800)
    assert child.returncode == 0, err
    assert err == ""
    return out


async def _all_saves_are_there(kind: str, path: Path, processes: int, count: int) -> None:
    children = [start(kind, path, "save", f"p{n}", count) for n in range(processes)]
    for child in children:
        finish(child)
    store = sqlite_memory(path / "m.db") if kind == "sqlite" else file_memory(path)
    for number in range(processes):
        state = await store(f"p{number}").load()
        assert [item.ask for item in state.recent] == [f"p{number} {n}" for n in range(count)]
    shared = [item.ask for item in (await store("shared").load()).recent]
    assert sorted(shared) == sorted(f"p{p} {n}" for p in range(processes) for n in range(count))


@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_two_processes_that_save_at_once_lose_nothing(kind: str, tmp_path: Path) -> None:
    await _all_saves_are_there(kind, tmp_path, 2, 10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_eight_processes_that_save_at_once_lose_nothing(kind: str, tmp_path: Path) -> None:
    await _all_saves_are_there(kind, tmp_path, 8, 20)


@pytest.mark.parametrize("kind", ["sqlite", "file"])
def test_a_program_killed_while_saving_leaves_the_state_before_or_after(
    kind: str, tmp_path: Path
) -> None:
    assert int(finish(start(kind, tmp_path, "kill", 20, 1)).split()[1]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "file"])
def test_200_kills_at_random_moments_tear_nothing(kind: str, tmp_path: Path) -> None:
    assert int(finish(start(kind, tmp_path, "kill", 200, 2)).split()[1]) > 0


@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_a_crash_between_a_call_and_its_result_shows_the_step_as_interrupted(
    kind: str, tmp_path: Path
) -> None:
    store: Any = sqlite_memory(tmp_path / "m.db") if kind == "sqlite" else file_memory(tmp_path)
    before = MemoryState(summary="s", recent=(Exchange(ask="a", answer="b", at=1),))
    await store("one").save(before)
    child = start(kind, tmp_path, "pay")
    assert child.stdout is not None
    assert child.stdout.readline() == "noted\n"
    assert await store("one").load() == before
    child.kill()
    child.communicate()
    memory = store("one")
    state = await memory.load()
    assert memory.warning is None
    assert state.recent[0] == before.recent[0]
    (step,) = state.recent[1].steps
    assert (state.recent[1].ask, state.recent[1].best_effort) == ("pay", True)
    assert (step.tool, step.status) == ("pay", "interrupted")
    more = Exchange(ask="c", answer="d", at=9)
    await memory.save(MemoryState(summary="s", recent=(*state.recent, more)))
    assert (await store("one").load()).recent == (*state.recent, more)


@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_a_noted_turn_is_forgotten_once_it_is_saved_or_given_up(
    kind: str, tmp_path: Path
) -> None:
    store: Any = sqlite_memory(tmp_path / "m.db") if kind == "sqlite" else file_memory(tmp_path)
    memory = store("one")
    assert isinstance(memory, NotesTurns)
    await memory.save(BEFORE)
    under_way = Exchange(ask="pay", answer="", at=5, steps=())
    for end in (lambda: memory.save(BEFORE), lambda: memory.note(None)):
        await memory.note(under_way)
        assert b'"pay"' in _bytes_of(tmp_path)
        assert await store("one").load() == BEFORE
        await end()
        assert b'"pay"' not in _bytes_of(tmp_path)
        assert await memory.load() == BEFORE


def _bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_full_disk_leaves_a_sqlite_memory_as_it_was(tmp_path: Path) -> None:
    said, before, after = finish(start("sqlite", tmp_path, "full")).splitlines()
    assert said.startswith(f"Could not use {tmp_path / 'm.db'}: ")
    assert (before, after) == ("before", "after")


class FailingOs:
    """The `os` module, but a call counted from 1 fails, once or from then on."""

    COUNTED = ("open", "write", "fsync", "replace")

    def __init__(self, number: int, code: int, *, for_good: bool) -> None:
        self.number, self.code, self.for_good = number, code, for_good
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.COUNTED:
            return real

        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            count = len(self.calls)
            if count == self.number or (self.for_good and count > self.number):
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments, **options)

        return call


async def _saved(memory: Any) -> str | None:
    """Save; return what was said when that was not possible."""
    try:
        await memory.save(AFTER)
    except StorageError as error:
        return str(error)
    return None


ERRORS = [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES]


@pytest.mark.parametrize("code", ERRORS, ids=lambda code: errno.errorcode[code])
@pytest.mark.parametrize("for_good", [False, True])
async def test_an_error_at_any_call_of_a_save_leaves_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, for_good: bool
) -> None:
    store = file_memory(tmp_path)
    number = 0
    while True:
        number += 1
        await store(None).save(BEFORE)
        failing = FailingOs(number, code, for_good=for_good)
        with monkeypatch.context() as patch:
            patch.setattr(whole, "os", failing)
            said = await _saved(store(None))
        assert said is None or {str(tmp_path / "default.json"), os.strerror(code)} <= set(
            said.removeprefix("Could not write ").partition(". Look at")[0].split(": ", 1)
        )
        state = await store(None).load()
        # Once the file is in its place, only the folder was left to be synced.
        assert state == (AFTER if "replace" in failing.calls[: number - 1] else BEFORE)
        assert not list(tmp_path.glob("*.tmp"))
        await store(None).save(AFTER)
        assert await store(None).load() == AFTER
        if number > len(failing.calls):
            break
    assert number > 6


class PowerCut(BaseException):
    """The power went."""


class RecordingOs:
    """The `os` module until the power goes; knows which bytes never reached the disk."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.calls = 0
        self.open_paths: dict[int, Path] = {}
        self.unsynced: set[Path] = set()

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in FailingOs.COUNTED:
            return real

        def call(first: Any, *rest: Any, **options: Any) -> Any:
            if self.calls >= self.last:
                raise PowerCut
            self.calls += 1
            result = real(first, *rest, **options)
            if name == "open":
                self.open_paths[result] = Path(first)
            elif name == "write":
                self.unsynced.add(self.open_paths[first])
            elif name == "fsync":
                self.unsynced.discard(self.open_paths[first])
            return result

        return call


def _lost(path: Path) -> None:
    path.write_bytes(b"")


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _zero_filled(path: Path) -> None:
    path.write_bytes(b"\x00" * path.stat().st_size)


@pytest.mark.parametrize("damage", [_lost, _cut_short, _zero_filled])
async def test_a_power_cut_at_any_call_leaves_the_state_before_or_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    done = 0
    for last in range(12):
        folder = tmp_path / str(last)
        await file_memory(folder)(None).save(BEFORE)
        recording = RecordingOs(last)
        with monkeypatch.context() as patch:
            patch.setattr(whole, "os", recording)
            try:
                file_memory(folder)(None)._write(AFTER)
                done += 1
            except PowerCut:
                pass
        for path in recording.unsynced:
            damage(path)
        state = await file_memory(folder)(None).load()
        assert state in (BEFORE, AFTER)
        assert done == 0 or state == AFTER
        await file_memory(folder)(None).save(AFTER)
    assert done > 0


def test_what_a_killed_write_left_is_swept_after_an_hour(tmp_path: Path) -> None:
    old, new = tmp_path / ".a.json.1.ab.tmp", tmp_path / ".a.json.2.cd.tmp"
    for path in (old, new):
        path.touch()
    os.utime(old, (time.time() - 4000,) * 2)
    whole.make_private_folder(tmp_path)
    assert not old.exists()
    assert new.exists()


async def test_a_folder_that_cannot_be_listed_is_saved_into_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "glob", refuse)
    store = file_memory(tmp_path)
    await store(None).save(AFTER)
    assert await store(None).load() == AFTER
    with pytest.raises(StorageError, match="look into"):
        store.remove(None)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """Whatever is created is open to all, unless somebody takes care."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_what_is_kept_is_for_its_owner_only(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    store: Any = sqlite_memory(folder / "m.db") if kind == "sqlite" else file_memory(folder)
    modes = set()
    await store("one").save(AFTER)
    if kind == "sqlite":
        with closing(sqlite3.connect(folder / "m.db")) as connection:
            connection.execute("SELECT * FROM goliath_memory_v1").fetchall()
            await store("one").save(BEFORE)
            modes |= {path.stat().st_mode & 0o777 for path in folder.iterdir()}
            assert (folder / "m.db-wal").exists()
    modes |= {path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_folder_that_cannot_be_made_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for store in (
        file_memory(tmp_path / "file" / "x"),
        sqlite_memory(tmp_path / "file" / "x" / "m.db"),
    ):
        with pytest.raises(StorageError, match="file"):
            await store(None).save(BEFORE)


async def test_a_sqlite_memory_waits_for_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await sqlite_memory(path)("one").save(BEFORE)
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.2, other.rollback).start()
        await sqlite_memory(path)("one").save(AFTER)
        assert await sqlite_memory(path)("one").load() == AFTER


async def test_a_sqlite_memory_held_too_long_is_busy_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await sqlite_memory(path)("one").save(BEFORE)
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy, match="in use by another process"):
            await SqliteMemories(path, wait_s=0.1)("one").save(AFTER)
        # Reading goes on meanwhile.
        assert await sqlite_memory(path)("one").load() == BEFORE


async def test_a_folder_held_too_long_is_busy_and_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileMemories(tmp_path, wait_s=0.1)
    await store("one").save(BEFORE)
    with whole.held(tmp_path / ".lock"), pytest.raises(StorageBusy):
        await store("one").save(AFTER)
    assert await store("one").load() == BEFORE


async def test_a_write_ahead_log_is_used_where_it_works(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await sqlite_memory(path)("one").save(BEFORE)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_without_shared_memory_the_plain_journal_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect

    def connect(path: Path, **options: Any) -> sqlite3.Connection:
        # Locks by files and maps no memory, as network file systems do.
        return real(f"file:{path}?vfs=unix-dotfile", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", connect)
    path = tmp_path / "m.db"
    await sqlite_memory(path)("one").save(AFTER)
    assert await sqlite_memory(path)("one").load() == AFTER
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_write_whole_replaces_a_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert target.read_text() == "mine"
    assert not link.is_symlink()
