"""What a back end of virtual files is: a place that reads, lists and perhaps changes texts.

Pure. Folders are implicit: a file `/a/b` makes `/a` appear. Any object with these methods is a
back end; they may be plain or async. `tests/laws/backend.py` tells whether it is a good one.
Source: behaviour spec, section 8.2.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from goliath_local.errors import ConfigError, FileError, FileMissing, StaleFile, StorageError

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken

LIST_LIMIT = 64
LIST_LIMIT_MAX = 256

T = TypeVar("T")
Eventually: TypeAlias = T | Awaitable[T]
"""The value, or something to await that gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file and the version it has."""

    path: str
    revision: str
    """Changes whenever the file does, also when it is deleted and made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file with what is in it."""

    path: str
    revision: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Some files in code-point order of their paths."""

    files: tuple[FileInfo, ...]
    next: str | None
    """The last path of `files` if more follow, to be handed back as `after`; else None."""


class FileBackend(Protocol):
    """Files that can be read."""

    def read(self, path: str, *, cancel: CancelToken | None = None) -> Eventually[File]:
        """Return the file. Raises `FileMissing`."""
        ...

    def list(
        self,
        path: str,
        *,
        after: str | None = None,
        limit: int = LIST_LIMIT,
        cancel: CancelToken | None = None,
    ) -> Eventually[Listing]:
        """Return the files at or below a path, all levels, from the first one after `after`."""
        ...


class WritableBackend(FileBackend, Protocol):
    """Files that can be changed as well. A back end without these methods is read-only."""

    def write(
        self, path: str, content: str, expected_revision: str | None = None
    ) -> Eventually[FileInfo]:
        """Create the file (no revision) or replace exactly that version. Raises `StaleFile`."""
        ...

    def remove(self, path: str, expected_revision: str) -> Eventually[None]:
        """Remove exactly that version of the file. Raises `FileMissing` or `StaleFile`."""
        ...


async def settled(value: Eventually[T]) -> T:
    """Return the value, awaited if it has to be."""
    return await value if inspect.isawaitable(value) else value


def is_writable(backend: object) -> bool:
    """Return whether files of this back end can be changed."""
    return callable(getattr(backend, "write", None)) and callable(getattr(backend, "remove", None))


def listing_limit(limit: object) -> int:
    """Return the limit.

    Raises:
        ConfigError: it is not a whole number from 1 to 256.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= LIST_LIMIT_MAX:
        message = f"A listing has 1 to {LIST_LIMIT_MAX} files, not {limit!r}."
        raise ConfigError(message)
    return limit


def advanced(after: str | None, following: str) -> str:
    """Return where a listing goes on.

    Raises:
        StorageError: the back end would have us go in circles.
    """
    if after is not None and following <= after:
        message = (
            f"A back end of files says that {following} comes after {after}. "
            "Its list must be in code-point order and end with next None."
        )
        raise StorageError(message)
    return following


def missing(path: str) -> FileMissing:
    """Return the error for a file that is not there."""
    return FileMissing(path, "there is no such file. Use glob to see which files there are.")


def read_only(path: str) -> FileError:
    """Return the error for a file that cannot be changed."""
    return FileError(path, "files here can only be read.")


def stale(path: str, *, expected: str | None, current: str | None) -> FileError:
    """Return the error for a version that is not the expected one (None: no file)."""
    if current is None:
        return missing(path)
    if expected is None:
        return StaleFile(path, "the file exists already. Give its revision to replace it.")
    return StaleFile(path, f"its revision is {current}, not {expected}. Read it again first.")
