"""Many conversations in one SQLite file, shared by threads and processes.

Edge: disk, through `sqlite_file`.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.memory.in_process import warning_of
from goliath_local.memory.json_text import MOST_BYTES
from goliath_local.memory.merge import merge
from goliath_local.memory.port import StoredConversation
from goliath_local.memory.read import Reading, read_memory
from goliath_local.memory.sqlite_file import Unsound, connected, set_file_aside, transaction
from goliath_local.memory.unfinished import recalled, unfinished_json
from goliath_local.memory.whole import WAIT_S, make_private_folder, storage_error, traces_of
from goliath_local.memory.write import OUTPUT_BYTES, memory_text
from goliath_local.records import MemoryState

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from goliath_local.records import Exchange, Json

_ASIDE = 5
_DEFAULT = ""
"""Key of the default conversation; ids are never blank."""


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
        self._base = recalled(reading)
        self.warning = warning_of(str(self._store.path), reading.problems)
        return self._base

    async def save(self, state: MemoryState) -> None:
        """Replace what is stored; what another process saved meanwhile is merged in.

        Raises:
            StorageBusy: another process held the file too long; nothing was changed.
            StorageError: it could not be written; nothing was changed.
        """
        self._base = await asyncio.to_thread(self._store.write, self._key, state, self._base)

    async def note(self, exchange: Exchange | None) -> None:
        """Keep the turn that is under way; see `NotesTurns`.

        Raises:
            StorageBusy: another process held the file too long; nothing was changed.
            StorageError: it could not be written; nothing was changed.
        """
        write = partial(self._store.write, self._key, None, self._base, under_way=exchange)
        self._base = await asyncio.to_thread(write)


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
        """Remove all that is stored of the conversation, free pages of the file included.

        Damaged files that were set aside go as well: nobody can tell what is in them.
        """
        self.remove_set_aside()
        if not self.path.exists():
            return False
        key = (_key(conversation_id),)
        with self._connected() as connection:
            with transaction(connection):
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

    def remove_set_aside(self) -> int:
        """Remove the damaged files that were set aside, of all conversations; return how many.

        Raises:
            StorageError: one of them cannot be removed.
        """
        left = traces_of(self.path)
        for one in left:
            try:
                one.unlink(missing_ok=True)
            except OSError as error:
                raise storage_error("remove", one, error) from error
        return len(left)

    def read(self, key: str) -> Reading:
        """Return what is stored under the key; an unsound file reads as empty, with a problem."""
        if not self.path.exists():
            return Reading(state=MemoryState())
        try:
            with self._connected() as connection:
                return _stored(connection, key)[0]
        except Unsound as error:
            return Reading(state=MemoryState(), problems=(str(error),))

    def write(
        self,
        key: str,
        state: MemoryState | None,
        base: MemoryState | None,
        *,
        under_way: Exchange | None = None,
    ) -> MemoryState:
        """Store the state and return what is stored now.

        Args:
            key: of the conversation.
            state: to be stored; None leaves what is stored.
            base: what the caller started from; None overwrites whatever is there.
            under_way: a turn that is not finished.
        """
        make_private_folder(self.path.parent)
        write = partial(self._written, key, state, base, unfinished_json(under_way))
        try:
            return write()
        except Unsound:
            set_file_aside(self.path, wait_s=self._wait_s, clock=self._clock)
            return write()

    def _written(
        self, key: str, state: MemoryState | None, base: MemoryState | None, under_way: Json
    ) -> MemoryState:
        with self._connected() as connection, transaction(connection):
            reading, text = _stored(connection, key)
            if reading.problems and text is not None:
                self._keep_row(connection, key, text)
            stored = recalled(reading)
            new = memory_text(
                stored if state is None else merge(base=base, theirs=stored, ours=state),
                output_bytes=self._output_bytes,
                unfinished=under_way,
            )
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

    def _connected(self) -> AbstractContextManager[sqlite3.Connection]:
        return connected(self.path, wait_s=self._wait_s)


def sqlite_memory(path: str | Path, *, output_bytes: int = OUTPUT_BYTES) -> SqliteMemories:
    """Return a store that keeps many conversations in one SQLite file.

    Args:
        path: of the file; made when something is saved, for its owner only.
        output_bytes: longest JSON of a tool output that is stored.
    """
    return SqliteMemories(Path(path), output_bytes=output_bytes)


def _stored(connection: sqlite3.Connection, key: str) -> tuple[Reading, bytes | None]:
    """Return what a row says, and its bytes; none when there is no row."""
    query = "SELECT CAST(state AS BLOB) FROM goliath_memory_v1 WHERE conversation = ?"
    row = connection.execute(query, (key,)).fetchone()
    return (Reading(state=MemoryState()), None) if row is None else (read_memory(row[0]), row[0])


def _key(conversation_id: str | None) -> str:
    # SQLite takes no lone surrogates.
    text = _DEFAULT if conversation_id is None else conversation_id
    return text.encode("utf-8", "backslashreplace").decode()
