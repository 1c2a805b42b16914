"""The SQLite file under the memories: opened, made, locked, and its failures in words.

Edge: disk. Every operation opens the file anew, so nothing is carried over a fork or between
threads. A write-ahead log is used where a probing write through it succeeds; network file
systems often cannot. Source: reliability trials F1, F2, L3.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.errors import StorageError
from goliath_local.memory.whole import aside_place, busy_error, held, set_aside, storage_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TABLES = """
CREATE TABLE IF NOT EXISTS goliath_memory_v1 (
    conversation TEXT PRIMARY KEY, state TEXT NOT NULL, saved_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS goliath_memory_bad_v1 (
    conversation TEXT NOT NULL, state TEXT NOT NULL, found_at REAL NOT NULL
);
"""
_COLUMNS = {"conversation", "state", "saved_at"}
_UNSOUND = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Unsound(StorageError):
    """The file is no database of ours, or a damaged one."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is no sound memory: {why}. The next save sets it aside.")


@contextmanager
def connected(path: Path, *, wait_s: float) -> Iterator[sqlite3.Connection]:
    """Open the file, with its tables made; transactions are begun by hand.

    Raises:
        StorageBusy: another process held the file longer than `wait_s`.
        Unsound: it is not a sound file of ours.
        StorageError: it cannot be opened, read or written.
    """
    try:
        _create_private(path)
        with closing(sqlite3.connect(path, timeout=wait_s)) as connection:
            connection.isolation_level = None
            _prepare(connection, path, wait_s)
            yield connection
    except sqlite3.Error as error:
        raise _translated(error, path, wait_s) from error
    except OSError as error:
        raise storage_error("open", path, error) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block as one write: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def set_file_aside(path: Path, *, wait_s: float, clock: Callable[[], float]) -> None:
    """Rename an unsound file to NAME.bad-TIME, unless another process has done so.

    What SQLite keeps beside it goes with it: the log may hold saves that are in no other place,
    and a new file must not find the old one's log. It goes first, so that a crash in between
    leaves a file that is still unsound, not a sound one without its log.
    """
    with held(path.with_name(f".{path.name}.aside.lock"), wait_s=wait_s):
        try:
            with connected(path, wait_s=wait_s):
                return
        except Unsound:
            now = clock()
            for suffix in ("-wal", "-journal"):
                _move(Path(f"{path}{suffix}"), Path(f"{aside_place(path, now)}{suffix}"))
            set_aside(path, clock=lambda: now)
            with suppress(OSError):
                Path(f"{path}-shm").unlink(missing_ok=True)


def _move(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error("set aside", path, error) from error


def _create_private(path: Path) -> None:
    # SQLite gives its log the rights of the file, so the file has to be private first.
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _prepare(connection: sqlite3.Connection, path: Path, wait_s: float) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = EXTRA")
    columns = _columns(connection)
    if columns and columns != _COLUMNS:
        raise Unsound(path, "the table goliath_memory_v1 has other columns")
    if columns:
        return
    # SQLite does not wait for its turn when the journal mode changes, so we do.
    with held(path.with_name(f".{path.name}.lock"), wait_s=wait_s):
        if not _columns(connection):
            _choose_journal(connection)
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")


def _choose_journal(connection: sqlite3.Connection) -> None:
    """Use a write-ahead log if a write through it succeeds, else the plain journal."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            connection.execute("CREATE TABLE IF NOT EXISTS goliath_probe_v1 (written INTEGER)")
            connection.execute("DROP TABLE goliath_probe_v1")
    except sqlite3.OperationalError as error:
        if _code(error) in _BUSY:
            raise
        connection.execute("PRAGMA journal_mode = DELETE")


def _columns(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("PRAGMA table_info(goliath_memory_v1)")}


def _translated(error: sqlite3.Error, path: Path, wait_s: float) -> StorageError:
    if _code(error) in _BUSY:
        return busy_error(path, wait_s)
    if _code(error) in _UNSOUND:
        return Unsound(path, str(error))
    return storage_error("use", path, error)


def _code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
