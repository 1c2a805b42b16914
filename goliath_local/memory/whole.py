"""Files that are whole or absent: the one writer of this room, and what is set aside.

Edge: disk. A file appears under its name only when every byte of it is on the disk. Whatever
fails on the way leaves the earlier file as it was. Source: reliability promise 2.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from goliath_local.errors import StorageBusy, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

WAIT_S = 10.0
"""How long another process may hold a store before it counts as busy."""

_ASIDE = 5
_STALE_S = 3600.0
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF}
"""What file systems say that cannot sync a folder, and need not."""


def write_whole(path: Path, *pieces: bytes | memoryview) -> None:
    """Put the bytes under the path, mode 0600; afterwards they are there even without power.

    Args:
        path: where.
        pieces: the bytes, in order; never joined, for they may be tens of megabytes.

    Raises:
        StorageError: they could not be written; what was under the path still is.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        _write_new(temporary, pieces)
        os.replace(temporary, path)  # noqa: PTH105 - tests put a failing `os` in place
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - as above
        raise storage_error("write", path, error) from error


def make_private_folder(folder: Path) -> None:
    """Make the folder, for its owner only, and sweep the remains of writes that were killed.

    Raises:
        StorageError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("make the folder", folder, error) from error
    sweep(folder)


def sweep(folder: Path, *, now: float | None = None) -> None:
    """Remove temporary files that are older than an hour; what cannot be removed stays."""
    oldest = (time.time() if now is None else now) - _STALE_S
    for left in _found(folder, ".*.tmp"):
        with contextlib.suppress(OSError):
            if left.stat().st_mtime < oldest:
                left.unlink()


def set_aside(path: Path, data: bytes | None = None, *, clock: Callable[[], float]) -> Path:
    """Keep unreadable bytes as NAME.bad-TIME, the newest five of them, and return where.

    Args:
        path: the file they come from.
        data: the bytes, when they are at hand; otherwise the file itself is renamed.
        clock: gives epoch seconds.
    """
    aside = aside_place(path, clock())
    if data is not None:
        write_whole(aside, data)
    else:
        try:
            os.replace(path, aside)  # noqa: PTH105 - as above
        except OSError as error:
            raise storage_error("set aside", path, error) from error
    for old in sorted(_found(path.parent, f"{glob.escape(path.name)}.bad-*Z"))[:-_ASIDE]:
        for left in (old, *_found(old.parent, f"{glob.escape(old.name)}-*")):
            with contextlib.suppress(OSError):
                left.unlink()
    return aside


def aside_place(path: Path, now: float) -> Path:
    """Return where unreadable bytes of that file go at that time, epoch seconds."""
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return path.with_name(f"{path.name}.bad-{stamp}")


def traces_of(path: Path) -> tuple[Path, ...]:
    """Return what else holds bytes of the file: set aside, or left by a write that was killed.

    Raises:
        StorageError: the folder cannot be looked into.
    """
    name = glob.escape(path.name)
    folder = path.parent
    try:
        return (*folder.glob(f"{name}.bad-*"), *folder.glob(f".{name}.*.tmp"))
    except OSError as error:
        raise storage_error("look into", folder, error) from error


@contextmanager
def held(lock_file: Path, *, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold what the lock file stands for against other processes and threads.

    Raises:
        StorageBusy: somebody else held it all the time.
    """
    lock = FileLock(lock_file, timeout=wait_s, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise busy_error(lock_file.parent, wait_s) from error
    except OSError as error:
        raise storage_error("lock", lock_file, error) from error
    try:
        yield
    finally:
        lock.release()


def storage_error(doing: str, path: Path, error: Exception) -> StorageError:
    """Return the error of a file operation, in words."""
    cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return StorageError(
        f"Could not {doing} {path}: {cause}. Look at the free space and the rights there."
    )


def busy_error(path: Path, wait_s: float) -> StorageBusy:
    """Return the error of a store that others do not let go of."""
    return StorageBusy(
        f"{path} was in use by another process for {wait_s:g} s. Try again when it is done."
    )


def _found(folder: Path, pattern: str) -> list[Path]:
    """Return what is there; nothing when the disk does not say, since tidying can wait."""
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _write_new(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    binary = getattr(os, "O_BINARY", 0)  # Windows would write line ends of its own.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, 0o600)
    try:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    flags = getattr(os, "O_DIRECTORY", None)
    if flags is None:
        return
    descriptor = os.open(folder, os.O_RDONLY | flags)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)
