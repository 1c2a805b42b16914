"""Many conversations in one SQLite file, shared by threads and processes.

Edge: disk. Every operation opens the file anew, so nothing is carried over a fork or between
threads. A write-ahead log is used where a probing write through it succeeds; network file
systems often cannot. Source: reliability trials F1, F2, L3.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.errors import StorageError
from goliath_local.memory.in_process import warning_of
from goliath_local.memory.json_text import MOST_BYTES
from goliath_local.memory.merge import merge
from goliath_local.memory.port import StoredConversation
from goliath_local.memory.read import Reading, read_memory
from goliath_local.memory.whole import (
    WAIT_S,
    busy_error,
    held,
    make_private_folder,
    set_aside,
    storage_error,
)
from goliath_local.memory.write import OUTPUT_BYTES, memory_text
from goliath_local.records import MemoryState

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
_ASIDE = 5
_UNSOUND = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DEFAULT = ""
"""Key of the default conversation; ids are never blank."""


class _Unsound(StorageError):
    """The file is no database of ours, or a damaged one."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is no sound memory: {why}. The next save sets it aside.")


class SqliteMemory:
    """The memory of one conversation in the file.

    `warning` says, after a load, what of it could not be used; None when all was sound.
    """

    def __init__(self, store: SqliteMemories, conversation_id: str | None) -> None:
        self._store = store
        self._key = _key(conversation_id)
        self._base: MemoryState | None = None
        self.warning: str | None = None

    async def load(self) -> MemoryState:
        """Return what is stored; whatever in it is not sound is left out.

        Raises:
            StorageBusy: another process held the file too long.
            StorageError: the file cannot be read.
        """
        reading = await asyncio.to_thread(self._store.read, self._key)
        self._base = reading.state
        self.warning = warning_of(str(self._store.path), reading.problems)
        return self._base

    async def save(self, state: MemoryState) -> None:
        """Replace what is stored; what another process saved meanwhile is merged in.

        Raises:
            StorageBusy: another process held the file too long; nothing was changed.
            StorageError: it could not be written; nothing was changed.
        """
        self._base = await asyncio.to_thread(self._store.write, self._key, state, self._base)


class SqliteMemories:
    """One SQLite file of conversations; calling it gives the memory of one."""

    def __init__(
        self,
        path: Path,
        *,
        output_bytes: int = OUTPUT_BYTES,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self._output_bytes = output_bytes
        self._wait_s = wait_s
        self._clock = clock

    def __call__(self, conversation_id: str | None = None) -> SqliteMemory:
        """Return the memory of the conversation; touches nothing yet."""
        return SqliteMemory(self, conversation_id)

    def conversations(self) -> tuple[StoredConversation, ...]:
        """Return what is stored, the last saved first."""
        if not self.path.exists():
            return ()
        query = (
            "SELECT conversation, CAST(state AS BLOB), saved_at FROM goliath_memory_v1 "
            "WHERE length(state) <= ? ORDER BY saved_at DESC, conversation"
        )
        with self._connected() as connection:
            rows = connection.execute(query, (MOST_BYTES,)).fetchall()
        return tuple(
            StoredConversation(
                conversation_id=None if key == _DEFAULT else key,
                exchanges=len(read_memory(state).state.recent),
                saved_at=saved_at,
            )
            for key, state, saved_at in rows
        )

    def remove(self, conversation_id: str | None = None) -> bool:
        """Remove all that is stored of the conversation, free pages of the file included."""
        if not self.path.exists():
            return False
        key = (_key(conversation_id),)
        with self._connected() as connection:
            with _transaction(connection):
                gone = connection.execute(
                    "DELETE FROM goliath_memory_v1 WHERE conversation = ?", key
                ).rowcount
                gone += connection.execute(
                    "DELETE FROM goliath_memory_bad_v1 WHERE conversation = ?", key
                ).rowcount
            # secure_delete overwrites pages; the vacuum leaves none over, also not in the log.
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone > 0

    def read(self, key: str) -> Reading:
        """Return what is stored under the key; an unsound file reads as empty, with a problem."""
        if not self.path.exists():
            return Reading(state=MemoryState())
        try:
            with self._connected() as connection:
                return _stored(connection, key)[0]
        except _Unsound as error:
            return Reading(state=MemoryState(), problems=(str(error),))

    def write(self, key: str, state: MemoryState, base: MemoryState | None) -> MemoryState:
        """Store the state and return what is stored now.

        Args:
            key: of the conversation.
            state: to be stored.
            base: what the caller started from; None overwrites whatever is there.
        """
        make_private_folder(self.path.parent)
        try:
            return self._written(key, state, base)
        except _Unsound:
            self._set_file_aside()
            return self._written(key, state, base)

    def _written(self, key: str, state: MemoryState, base: MemoryState | None) -> MemoryState:
        with self._connected() as connection, _transaction(connection):
            reading, text = _stored(connection, key)
            if reading.problems and text is not None:
                self._keep_row(connection, key, text)
            if base is not None and reading.state != base:
                state = merge(base=base, theirs=reading.state, ours=state)
            new = memory_text(state, output_bytes=self._output_bytes)
            connection.execute(
                "INSERT INTO goliath_memory_v1 VALUES (?, ?, ?) ON CONFLICT (conversation) "
                "DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at",
                (key, new, self._clock()),
            )
            return read_memory(new).state

    def _keep_row(self, connection: sqlite3.Connection, key: str, text: bytes) -> None:
        connection.execute(
            "INSERT INTO goliath_memory_bad_v1 VALUES (?, ?, ?)", (key, text, self._clock())
        )
        connection.execute(
            "DELETE FROM goliath_memory_bad_v1 WHERE conversation = ? AND rowid NOT IN ("
            "SELECT rowid FROM goliath_memory_bad_v1 WHERE conversation = ? "
            "ORDER BY rowid DESC LIMIT ?)",
            (key, key, _ASIDE),
        )

    def _set_file_aside(self) -> None:
        with held(self.path.with_name(f".{self.path.name}.aside.lock"), wait_s=self._wait_s):
            try:
                with self._connected():
                    return  # Another process has been here first.
            except _Unsound:
                set_aside(self.path, clock=self._clock)
                for suffix in ("-wal", "-shm", "-journal"):
                    Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            _create_private(self.path)
            with closing(sqlite3.connect(self.path, timeout=self._wait_s)) as connection:
                connection.isolation_level = None
                self._prepare(connection)
                yield connection
        except sqlite3.Error as error:
            raise self._translated(error) from error
        except OSError as error:
            raise storage_error("open", self.path, error) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
        columns = _columns(connection)
        if columns and columns != _COLUMNS:
            raise _Unsound(self.path, "the table goliath_memory_v1 has other columns")
        if columns:
            return
        # SQLite does not wait for its turn when the journal mode changes, so we do.
        with held(self.path.with_name(f".{self.path.name}.lock"), wait_s=self._wait_s):
            if not _columns(connection):
                _choose_journal(connection)
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")

    def _translated(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return busy_error(self.path, self._wait_s)
        if code in _UNSOUND:
            return _Unsound(self.path, str(error))
        return storage_error("use", self.path, error)


def sqlite_memory(path: str | Path, *, output_bytes: int = OUTPUT_BYTES) -> SqliteMemories:
    """Return a store that keeps many conversations in one SQLite file.

    Args:
        path: of the file; made when something is saved, for its owner only.
        output_bytes: longest JSON of a tool output that is stored.
    """
    return SqliteMemories(Path(path), output_bytes=output_bytes)


def _create_private(path: Path) -> None:
    # SQLite gives its log the rights of the file, so the file has to be private first.
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _columns(connection: sqlite3.Connection) -> set[str]:
    return {row[1] for row in connection.execute("PRAGMA table_info(goliath_memory_v1)")}


def _choose_journal(connection: sqlite3.Connection) -> None:
    """Use a write-ahead log if a write through it succeeds, else the plain journal."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        with _transaction(connection):
            connection.execute("CREATE TABLE IF NOT EXISTS goliath_probe_v1 (written INTEGER)")
            connection.execute("DROP TABLE goliath_probe_v1")
    except sqlite3.OperationalError as error:
        if (error.sqlite_errorcode & 0xFF) in _BUSY:
            raise
        connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block as one write: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _stored(connection: sqlite3.Connection, key: str) -> tuple[Reading, bytes | None]:
    """Return what a row says, and its bytes; none when there is no row."""
    query = "SELECT CAST(state AS BLOB) FROM goliath_memory_v1 WHERE conversation = ?"
    row = connection.execute(query, (key,)).fetchone()
    return (Reading(state=MemoryState()), None) if row is None else (read_memory(row[0]), row[0])


def _key(conversation_id: str | None) -> str:
    # SQLite takes no lone surrogates.
    text = _DEFAULT if conversation_id is None else conversation_id
    return text.encode("utf-8", "backslashreplace").decode()
