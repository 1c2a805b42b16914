"""One process at a time fetches a file; the others wait and are told for whom.

Edge: disk. The system frees the lock of a process that died.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

import filelock

from goliath_local.catalogue.folder import read_note, told_as_storage, write_note
from goliath_local.catalogue.progress import Report, Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goliath_local.cancel import CancelToken

_POLL_S = 0.2


@contextlib.contextmanager
def one_at_a_time(
    folder: Path, file: str, *, report: Report, cancel: CancelToken | None
) -> Iterator[None]:
    """Hold the file's lock; wait for it as long as its owner lives.

    Raises:
        StorageError: the folder takes no locks.
    """
    lock = filelock.FileLock(folder / f".{file}.lock", mode=0o600, thread_local=False)
    owner = folder / f".{file}.owner"
    _acquire(lock, owner, report, cancel)
    try:
        # Who waits is told for whom; that is worth no failure.
        with contextlib.suppress(OSError):
            write_note(owner, {"pid": os.getpid()})
        yield
    finally:
        with contextlib.suppress(OSError):
            owner.unlink(missing_ok=True)
        lock.release()


def _acquire(
    lock: filelock.BaseFileLock, owner: Path, report: Report, cancel: CancelToken | None
) -> None:
    told = False
    while True:
        if _is_free(lock, owner.parent):
            return
        if not told:
            pid = read_note(owner).get("pid")
            report(Waiting(owner=f"process {pid}" if pid else "another process"))
            told = True
        if cancel is not None:
            cancel.raise_if_cancelled()
        time.sleep(_POLL_S)


def _is_free(lock: filelock.BaseFileLock, folder: Path) -> bool:
    with told_as_storage("locked", folder):
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:  # an OSError as well, but no fault of the disk
            return False
    return True
