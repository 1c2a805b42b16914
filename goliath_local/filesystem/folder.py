"""A read-only view of a real folder as virtual files. Edge: disk.

Nothing outside the folder is ever opened: each step of a path is opened relative to the folder
before it and must not be a link, so that a link swapped in between two steps changes nothing.
Only regular files of at most 1 MiB are files here; pipes, devices and sockets are not opened for
reading. Reading wants UTF-8 text without NUL.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.errors import ConfigError, FileError, NotText, StorageError
from goliath_local.filesystem.backend import (
    LIST_LIMIT,
    File,
    FileInfo,
    Listing,
    listing_limit,
    missing,
)
from goliath_local.filesystem.paths import MAX_FILE_BYTES, file_path, virtual_path
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goliath_local.cancel import CancelToken

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG}


class FolderFilesystem:
    """The regular text files below a folder."""

    def __init__(self, root: Path, *, hidden: bool) -> None:
        self._root = root
        self._hidden = hidden

    async def read(self, path: str, *, cancel: CancelToken | None = None) -> File:
        """Return the file. Raises `FileMissing` or `NotText`."""
        del cancel
        return await asyncio.to_thread(self._read, file_path(path))

    async def list(
        self,
        path: str,
        *,
        after: str | None = None,
        limit: int = LIST_LIMIT,
        cancel: CancelToken | None = None,
    ) -> Listing:
        """Return the files at or below a path, from the first one after `after`."""
        root, limit = virtual_path(path), listing_limit(limit)
        found = await asyncio.to_thread(self._list, root, after or "", limit + 1, cancel)
        next_ = found[limit - 1].path if len(found) > limit else None
        return Listing(files=tuple(found[:limit]), next=next_)

    def _read(self, path: str) -> File:
        *folders, name = path[1:].split("/")
        if not self._shows_all([*folders, name]):
            raise missing(path)
        with _told_as_file(path), self._opened(folders) as folder:
            file = os.open(name, _FILE, dir_fd=folder)
            try:
                return _file(path, file)
            finally:
                os.close(file)

    def _list(
        self, path: str, after: str, count: int, cancel: CancelToken | None
    ) -> Sequence[FileInfo]:
        segments = path[1:].split("/") if path != "/" else []
        if not self._shows_all(segments):
            return []
        with suppress(FileError), _told_as_file(path):
            with suppress(NotADirectoryError), self._opened(segments) as folder:
                walk = self._walk(folder, path.rstrip("/"), after, cancel)
                return list(islice(walk, count))
            with self._opened(segments[:-1]) as folder:
                info = _info(path, os.stat(segments[-1], dir_fd=folder, follow_symlinks=False))
                return [info] if info is not None and path > after else []
        return []

    def _walk(
        self, folder: int, prefix: str, after: str, cancel: CancelToken | None
    ) -> Iterator[FileInfo]:
        """Yield the files below an open folder in code-point order of their paths."""
        if cancel is not None:
            cancel.raise_if_cancelled()
        for name, is_folder in _entries(folder):
            path = f"{prefix}/{name}"
            if not self._shows(name) or _is_passed(path, after, is_folder=is_folder):
                continue
            # What is gone or locked by now is left out, as is what no virtual path can name.
            with suppress(OSError, FileError):
                virtual_path(path)
                if is_folder:
                    inner = os.open(name, _FOLDER, dir_fd=folder)
                    try:
                        yield from self._walk(inner, path, after, cancel)
                    finally:
                        os.close(inner)
                    continue
                info = _info(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
                if info is not None:
                    yield info

    @contextmanager
    def _opened(self, folders: Sequence[str]) -> Iterator[int]:
        """Open a folder step by step from the root, following no link."""
        try:
            here = os.open(self._root, _FOLDER)
        except OSError as error:
            reason = f"The folder {self._root} cannot be opened: {error.strerror}. Check it."
            raise StorageError(reason) from error
        try:
            for name in folders:
                inner = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = inner
            yield here
        finally:
            os.close(here)

    def _shows(self, name: str) -> bool:
        return self._hidden or not name.startswith(".")

    def _shows_all(self, names: Sequence[str]) -> bool:
        return all(self._shows(name) for name in names)


def folder_filesystem(path: str | os.PathLike[str], *, hidden: bool = False) -> FolderFilesystem:
    """Return a read-only view of a real folder.

    Args:
        path: the folder; the virtual `/` is this one.
        hidden: show names that start with a dot, too.

    Raises:
        ConfigError: it is not a folder, or this system cannot open files relative to one.
    """
    root = typed_path(Path(path)).resolve()
    if not root.is_dir():
        message = f"{path} is not a folder. Give one that is there."
        raise ConfigError(message)
    if os.open not in os.supports_dir_fd:
        raise ConfigError("A view of a real folder needs a system that can open relative to one.")
    return FolderFilesystem(root, hidden=hidden)


def _entries(folder: int) -> list[tuple[str, bool]]:
    """Return names and whether they are folders, in the order of the paths below them."""
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    # The slash after a folder's name counts: /a-b is before /a/b, which is before /a0.
    return sorted(found, key=lambda entry: entry[0] + "/" if entry[1] else entry[0])


def _is_passed(path: str, after: str, *, is_folder: bool) -> bool:
    """Return whether the file, or everything in the folder, comes no later than `after`."""
    if not is_folder:
        return path <= after
    return after > path + "/" and not after.startswith(path + "/")


def _file(path: str, descriptor: int) -> File:
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        kind = "a folder" if stat.S_ISDIR(about.st_mode) else "no plain file"
        raise NotText(path, f"that is {kind}. Use glob to see which files there are.")
    content = b""
    while len(content) <= MAX_FILE_BYTES:
        piece = os.read(descriptor, MAX_FILE_BYTES + 1 - len(content))
        if not piece:
            return File(path=path, revision=_revision(about), content=_text(path, content))
        content += piece
    raise NotText(path, f"it is over {MAX_FILE_BYTES:,} bytes, more than can be read.")


def _text(path: str, content: bytes) -> str:
    if b"\0" in content:
        raise NotText(path, "it holds binary data, not text.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(path, f"byte {error.start + 1:,} of it is not UTF-8 text.") from error


def _info(path: str, about: os.stat_result) -> FileInfo | None:
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_FILE_BYTES:
        return None
    return FileInfo(path=path, revision=_revision(about))


def _revision(about: os.stat_result) -> str:
    seen = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:10]


@contextmanager
def _told_as_file(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_THERE:
            raise missing(path) from error
        raise FileError(path, f"it cannot be read: {error.strerror}.") from error
