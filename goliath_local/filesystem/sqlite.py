"""Virtual files in a SQLite table. Edge: disk.

Each check of a revision and the change that follows are one statement, so that of two writers
with the same revision exactly one succeeds, in whatever process they are. Paths are ordered by
their UTF-8 bytes, which is code-point order. Source: behaviour spec, section 8.2.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from goliath_local.errors import ConfigError, StorageError
from goliath_local.filesystem.backend import (
    LIST_LIMIT,
    File,
    FileInfo,
    Listing,
    listing_limit,
    missing,
    settled,
    stale,
)
from goliath_local.filesystem.paths import file_path, file_text, virtual_path

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken

T = TypeVar("T")
ConnectionFactory: TypeAlias = Callable[[], sqlite3.Connection | Awaitable[sqlite3.Connection]]
Database: TypeAlias = str | os.PathLike[str] | sqlite3.Connection | ConnectionFactory

BUSY_TIMEOUT_S = 10.0
_CREATE = (
    "CREATE TABLE IF NOT EXISTS goliath_files_v1 (namespace TEXT NOT NULL, path TEXT NOT NULL, "
    "path_key BLOB NOT NULL, content TEXT NOT NULL, revision TEXT NOT NULL, "
    "PRIMARY KEY (namespace, path))",
    "CREATE INDEX IF NOT EXISTS goliath_files_v1_order ON goliath_files_v1 (namespace, path_key)",
)
_READ = "SELECT revision, content FROM goliath_files_v1 WHERE namespace = ? AND path = ?"
_LIST = (
    "SELECT path, revision FROM goliath_files_v1 WHERE namespace = ? AND path_key > ? "
    "AND (path_key = ? OR (path_key >= ? AND path_key < ?)) ORDER BY path_key LIMIT ?"
)
_INSERT = (
    "INSERT INTO goliath_files_v1 (namespace, path, path_key, content, revision) "
    "VALUES (?, ?, ?, ?, ?) ON CONFLICT (namespace, path) DO NOTHING"
)
_UPDATE = (
    "UPDATE goliath_files_v1 SET content = ?, revision = ? "
    "WHERE namespace = ? AND path = ? AND revision = ?"
)
_DELETE = "DELETE FROM goliath_files_v1 WHERE namespace = ? AND path = ? AND revision = ?"


class SqliteFilesystem:
    """The files of one namespace of a database."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace

    async def read(self, path: str, *, cancel: CancelToken | None = None) -> File:
        """Return the file. Raises `FileMissing`."""
        del cancel
        path = file_path(path)
        row = await self._run(lambda db: db.execute(_READ, (self._namespace, path)).fetchone())
        if row is None:
            raise missing(path)
        return File(path=path, revision=row[0], content=row[1])

    async def list(
        self,
        path: str,
        *,
        after: str | None = None,
        limit: int = LIST_LIMIT,
        cancel: CancelToken | None = None,
    ) -> Listing:
        """Return the files at or below a path, from the first one after `after`."""
        del cancel
        root, limit = virtual_path(path), listing_limit(limit)
        # Files below /notes lie between the bytes "/notes/" and "/notes0": 0 follows / in ASCII.
        below = root.rstrip("/").encode()
        values = (self._namespace, _key(after), root.encode(), below + b"/", below + b"0")
        rows = await self._run(lambda db: db.execute(_LIST, (*values, limit + 1)).fetchall())
        files = tuple(FileInfo(path=name, revision=revision) for name, revision in rows[:limit])
        return Listing(files=files, next=files[-1].path if len(rows) > limit else None)

    async def write(
        self, path: str, content: str, expected_revision: str | None = None
    ) -> FileInfo:
        """Create the file, or replace exactly that version. Raises `StaleFile`."""
        path = file_path(path)
        file_text(path, content)
        revision = secrets.token_hex(5)
        if expected_revision is None:
            values = (self._namespace, path, path.encode(), content, revision)
            await self._change(path, _INSERT, values, expected=None)
        else:
            change = (content, revision, self._namespace, path, expected_revision)
            await self._change(path, _UPDATE, change, expected=expected_revision)
        return FileInfo(path=path, revision=revision)

    async def remove(self, path: str, expected_revision: str) -> None:
        """Remove exactly that version of the file. Raises `FileMissing` or `StaleFile`."""
        path = file_path(path)
        values = (self._namespace, path, expected_revision)
        await self._change(path, _DELETE, values, expected=expected_revision)

    async def _change(
        self, path: str, statement: str, values: tuple[object, ...], *, expected: str | None
    ) -> None:
        def change(db: sqlite3.Connection) -> str | None:
            if db.execute(statement, values).rowcount == 1:
                return None
            row = db.execute(_READ, (self._namespace, path)).fetchone()
            raise stale(path, expected=expected, current=None if row is None else row[0])

        await self._run(change)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        database = self._database
        if isinstance(database, str | os.PathLike):
            return await asyncio.to_thread(_in_own_connection, Path(database), work)
        connection = database
        if not isinstance(connection, sqlite3.Connection):
            connection = await settled(connection())
            # Kept once it is there; a factory that raised is asked again next time.
            self._database = connection
        return _in_connection(connection, work)


def sqlite_filesystem(db: Database, namespace: str = "default") -> SqliteFilesystem:
    """Return the files of a namespace, kept in a SQLite database.

    Args:
        db: path of the database, a connection, or a function that gives one when it is first
            needed. A connection stays the caller's: it is never closed here, and a transaction
            that is open on it is left to the caller to commit.
        namespace: files of different namespaces do not see each other. Not a security boundary.

    Raises:
        ConfigError: the namespace is blank, or the path is no file.
    """
    if not namespace.strip():
        raise ConfigError("The namespace is blank. Give the files a name, such as default.")
    if isinstance(db, str | os.PathLike) and str(db) in {"", ":memory:"}:
        raise ConfigError("Give a file, a connection, or use in_memory_filesystem.")
    return SqliteFilesystem(db, namespace)


def _key(after: str | None) -> bytes:
    return b"" if after is None else after.encode("utf-8", "surrogatepass")


def _in_own_connection(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    with _told_as_storage(path):
        # Made by us, the file is for its owner alone; sqlite would follow the umask.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            # EXTRA syncs the folder when the journal goes: then a change outlasts a power cut.
            connection.execute("PRAGMA synchronous = EXTRA")
            return _in_transaction(connection, work)


def _in_connection(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with _told_as_storage(None):
        if connection.in_transaction:
            return _prepared(connection, work)
        return _in_transaction(connection, work)


def _in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    with connection:
        return _prepared(connection, work)


def _prepared(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    for statement in _CREATE:
        connection.execute(statement)
    return work(connection)


@contextmanager
def _told_as_storage(path: Path | None) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        place = "the database" if path is None else str(path)
        message = f"Files in {place} cannot be read or written: {error}. Check it and its rights."
        raise StorageError(message) from error
