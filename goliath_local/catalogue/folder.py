"""The models folder as a private place: made, written to and locked the one right way.

Edge: disk. Folders are 0700 and files 0600. A small file is written whole or not at all: beside
its place, synced, renamed, and the folder synced too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.catalogue.manifest import is_plain_file_name
from goliath_local.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.records import Json

_NOTE_LIMIT_BYTES = 1 << 20
_OLD_S = 3600.0
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What file systems say that cannot sync a folder, and need not."""


def open_folder(folder: Path) -> Path:
    """Make the folder, readable by its owner alone, if it is not there; return it resolved.

    Raises:
        StorageError: something that is not a folder is in its place, or it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder.resolve()
    except OSError as error:
        msg = (
            f"The models folder {folder} cannot be made ({error.strerror}). Free the place, or "
            "choose another with --models-dir or GOLIATH_MODELS_DIR."
        )
        raise StorageError(msg) from error


@contextlib.contextmanager
def told_as_storage(what: str, path: Path) -> Iterator[None]:
    """Tell an error of the disk in words.

    Args:
        what: what cannot be done with it, such as `written`.
        path: the file or folder.

    Raises:
        StorageError: the block raised an `OSError`.
    """
    try:
        yield
    except OSError as error:
        msg = (
            f"{path} cannot be {what} ({error.strerror}). Look at the free space and the rights "
            "there, then run the same command again."
        )
        raise StorageError(msg) from error


def path_in(folder: Path, file: str) -> Path:
    """Return where a file of that name lies; the name cannot lead out of the folder.

    Raises:
        ConfigError: the name is not a plain file name.
    """
    if not is_plain_file_name(file):
        msg = f"{file!r} is not a plain file name. Give a name without folders."
        raise ConfigError(msg)
    return folder / file


def sync_folder(folder: Path) -> None:
    """Make sure that a rename in the folder outlasts a power cut, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file so that a reader finds the old bytes or the new ones, never a part."""
    _sweep(path.parent, ".*.tmp")
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    fresh = Path(name)  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_note(path: Path, note: dict[str, Json]) -> None:
    """Write a small JSON file whole."""
    write_whole(path, json.dumps(note, indent=1, sort_keys=True).encode() + b"\n")


def read_note(path: Path) -> dict[str, Json]:
    """Return a small JSON file's object; empty when it is absent, damaged or something else.

    A note can always be made anew from the file it speaks of, so a damaged one is no error.
    """
    try:
        if path.stat().st_size > _NOTE_LIMIT_BYTES:
            return {}
        note = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def sweep(folder: Path) -> None:
    """Remove what an interrupted write left behind over an hour ago."""
    _sweep(folder, ".*.tmp")
    _sweep(folder, ".wheels-*")


def _sweep(folder: Path, pattern: str) -> None:
    with contextlib.suppress(OSError):
        for old in list(folder.glob(pattern)):
            with contextlib.suppress(OSError):
                if time.time() - old.stat().st_mtime > _OLD_S:
                    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inside in path.iterdir():
            _remove(inside)
        path.rmdir()
    else:
        path.unlink()
