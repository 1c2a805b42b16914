"""The part of a file that is here while it is being fetched: `FILE.part` and its JSON sidecar.

Edge: the only place that writes weights. Bytes are hashed as they are written, the finished part
is renamed, and nothing is ever written under the final name. A part is never cut to zero but
unlinked, so that a second writer (where locks do not work) cannot harm a file already in place.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from goliath_local.catalogue.folder import path_in, read_note, sync_folder, write_note
from goliath_local.catalogue.progress import Moved, Report, amount, amount_of
from goliath_local.catalogue.verify import hash_file
from goliath_local.errors import FetchError, HashMismatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.card import Pin

SPARE_BYTES = 64 << 20
"""What stays free on the disk beside the file and five per cent of it."""

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


class Part:
    """A growing file. Open it, write to it, then finish it or close it.

    Attributes:
        have_bytes: bytes that are here and hashed.
        etag: the version of the remote file they came from; empty when unknown.
        joined: for packages, how many members are here whole, and how many bytes they are.
    """

    def __init__(self, folder: Path, pin: Pin, *, report: Report) -> None:
        self.pin = pin
        self.final = path_in(folder, pin.file)
        self.path = folder / f"{pin.file}.part"
        self.note_path = folder / f"{pin.file}.part.json"
        self.have_bytes = 0
        self.etag = ""
        self.joined = (0, 0)
        self._report = report
        self._descriptor = -1
        self._digest = hashlib.sha256()

    @property
    def is_pinned(self) -> bool:
        """True when what is here is the whole pinned file."""
        return self._digest.hexdigest() == self.pin.sha256

    def open(self, cancel: CancelToken | None = None) -> None:
        """Take up what is here, hashing it, or begin at zero."""
        note = read_note(self.note_path)
        if note.get("sha256", self.pin.sha256) != self.pin.sha256:
            self.discard()  # a part of another file under the same name
        self._read_note(note)
        with self._disk():
            self._descriptor = os.open(
                self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600
            )
        size = os.fstat(self._descriptor).st_size
        if size > self.pin.size_bytes:
            self.restart()
            return
        total = self.pin.size_bytes
        with self._disk():
            self._digest = hash_file(
                self.path,
                limit_bytes=size,
                moved=lambda done: self._report(
                    Moved(done_bytes=done, total_bytes=total, checking=True)
                ),
                cancel=cancel,
            )
        self.have_bytes = size

    def write(self, data: bytes) -> None:
        """Append bytes, hashing them.

        Raises:
            FetchError: the disk is full or broken; the part is kept.
        """
        left = memoryview(data)
        while left:
            try:
                os.lseek(self._descriptor, self.have_bytes, os.SEEK_SET)
                written = os.write(self._descriptor, left)
            except OSError as error:
                raise self._disk_error(error) from error
            self._digest.update(left[:written])
            self.have_bytes += written
            left = left[written:]
        self._report(Moved(done_bytes=self.have_bytes, total_bytes=self.pin.size_bytes))

    def note(self, *, url: str, etag: str = "", joined: tuple[int, int] | None = None) -> None:
        """Write down where the bytes come from, so that a later run can go on.

        Args:
            url: the address without secrets, or what stands for it.
            etag: version of the remote file, empty when unknown.
            joined: whole members so far, and their bytes; None leaves it as it is.
        """
        self.etag, self.joined = etag, self.joined if joined is None else joined
        with self._disk():
            write_note(
                self.note_path,
                {
                    "url": url,
                    "etag": etag,
                    "sizeBytes": self.pin.size_bytes,
                    "sha256": self.pin.sha256,
                    "joined": list(self.joined),
                },
            )

    def cut(self, size_bytes: int) -> None:
        """Keep only the first bytes, and hash them anew.

        Only what this process holds is cut; the final name is never touched.
        """
        with self._disk():
            os.ftruncate(self._descriptor, size_bytes)
        with self._disk():
            self._digest = hash_file(self.path, limit_bytes=size_bytes)
        self.have_bytes = size_bytes

    def restart(self) -> None:
        """Begin at zero, in a new file."""
        self.discard()
        with self._disk():
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(self.path, flags, 0o600)

    def finish(self) -> None:
        """Put the whole file in its place, durably, if it is the pinned one.

        Raises:
            HashMismatch: it is not; the part is gone and nothing is in place.
                FetchError: another process took the part away, or the disk failed.
        """
        if not self.is_pinned:
            actual = self._digest.hexdigest()
            self.discard()
            raise HashMismatch(path=self.final, expected=self.pin.sha256, actual=actual)
        with self._disk():
            os.fsync(self._descriptor)
            mine, there = os.fstat(self._descriptor), self.path.stat()
        self.close()
        if (mine.st_ino, mine.st_dev) != (there.st_ino, there.st_dev):
            msg = f"Another process took {self.path.name} away. Run the same command again."
            raise FetchError(msg, began=True)
        with self._disk():
            self.path.replace(self.final)
            self.note_path.unlink(missing_ok=True)
            sync_folder(self.final.parent)

    def close(self) -> None:
        """Let go of the file; what is here stays, if it is anything."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        if self.have_bytes == 0:
            self.discard()

    def discard(self) -> None:
        """Remove what is here."""
        self.close()
        with self._disk():
            for path in (self.path, self.note_path):
                path.unlink(missing_ok=True)
        self.have_bytes, self.etag, self.joined = 0, "", (0, 0)
        self._digest = hashlib.sha256()

    def _read_note(self, note: Mapping[str, object]) -> None:
        etag, joined = note.get("etag"), note.get("joined")
        self.etag = etag if isinstance(etag, str) else ""
        match joined:
            case [int(count), int(size)] if count >= 0 and size >= 0:
                self.joined = (count, size)
            case _:
                self.joined = (0, 0)

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._disk_error(error) from error

    def _disk_error(self, error: OSError) -> FetchError:
        done = amount_of(self.have_bytes, self.pin.size_bytes)
        if error.errno in _DISK_FULL:
            msg = (
                f"The disk of {self.final.parent} is full, at {done}. The part is kept; free "
                f"{amount(self.pin.size_bytes - self.have_bytes)} and run the same command to "
                "go on."
            )
        else:
            msg = (
                f"{self.path} cannot be written ({error.strerror}), at {done}. The part is "
                "kept; mend the disk and run the same command to go on."
            )
        return FetchError(msg, began=True)


def verify_space(pin: Pin, folder: Path, *, have_bytes: int = 0, extra_bytes: int = 0) -> None:
    """Raise unless the disk has room for the rest, five per cent of the file and a spare.

    Args:
        pin: the file.
        folder: where it will lie.
        have_bytes: what is here of it.
        extra_bytes: what is needed beside the file for a while.

    Raises:
        FetchError: the disk has not; nothing was asked of the network.
    """
    need = pin.size_bytes - have_bytes + pin.size_bytes // 20 + SPARE_BYTES + extra_bytes
    free = shutil.disk_usage(folder).free
    if free < need:
        msg = (
            f"{pin.name} needs {amount(need)} on the disk of {folder}, and "
            f"{amount(free)} is free. Free some, or choose another disk with --models-dir."
        )
        raise FetchError(msg)
