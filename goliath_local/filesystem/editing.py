"""Changing a virtual file: write, edit, delete, each on exactly the version that was meant.

Drives a back end. Source: behaviour spec, section 8.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from goliath_local.errors import FileError
from goliath_local.filesystem.backend import (
    File,
    FileBackend,
    FileInfo,
    WritableBackend,
    is_writable,
    read_only,
    settled,
    stale,
)
from goliath_local.filesystem.paths import file_text

if TYPE_CHECKING:
    from goliath_local.records import Json


async def write_file(
    backend: FileBackend, path: str, content: str, *, revision: str | None
) -> dict[str, Json]:
    """Create a file, or replace exactly the given version of it."""
    file_text(path, content)
    return _written(await settled(_writable(backend, path).write(path, content, revision)))


async def edit_file(
    backend: FileBackend, path: str, *, revision: str, old_text: str, new_text: str
) -> dict[str, Json]:
    """Put a new text in the place of one that occurs exactly once.

    Raises:
        StaleFile: the file is not that version.
        FileError: the old text is not there, or there more than once.
    """
    writable = _writable(backend, path)
    file = await settled(backend.read(path))
    if file.revision != revision:
        raise stale(path, expected=revision, current=file.revision)
    content = _replaced(file, old_text, new_text)
    return _written(await settled(writable.write(path, file_text(path, content), revision)))


async def delete_file(backend: FileBackend, path: str, *, revision: str) -> dict[str, Json]:
    """Remove exactly the given version of one file; never a folder."""
    await settled(_writable(backend, path).remove(path, revision))
    return {"path": path, "deleted": True}


def _writable(backend: FileBackend, path: str) -> WritableBackend:
    if not is_writable(backend):
        raise read_only(path)
    return cast("WritableBackend", backend)


def _written(info: FileInfo) -> dict[str, Json]:
    return {"path": info.path, "revision": info.revision}


def _replaced(file: File, old_text: str, new_text: str) -> str:
    if not old_text:
        raise FileError(file.path, "old_text is empty. Give the text to be replaced.")
    first = file.content.find(old_text)
    if first < 0:
        raise FileError(file.path, "old_text is not in the file. Copy it exactly, with spaces.")
    # From one character on, so that overlapping occurrences count: "aa" is in "aaa" twice.
    if file.content.find(old_text, first + 1) >= 0:
        raise FileError(file.path, "old_text is there more than once. Give more of the text.")
    return file.content[:first] + new_text + file.content[first + len(old_text) :]
