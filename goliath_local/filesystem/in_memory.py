"""Virtual files that live as long as the object, writable or fixed. Pure but for its own state."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

from goliath_local.errors import ConfigError
from goliath_local.filesystem.backend import (
    LIST_LIMIT,
    File,
    FileInfo,
    Listing,
    listing_limit,
    missing,
    stale,
)
from goliath_local.filesystem.paths import file_path, file_text, virtual_path, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.cancel import CancelToken


class InMemoryFilesystem:
    """Files that can be changed, for as long as the object lives."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self._files: dict[str, File] = {}
        self._paths: list[str] = []
        self._changes = 0
        for given, content in (files or {}).items():
            path = file_path(given)
            if path in self._files:
                message = f"Two of the files are {path}. Name each once."
                raise ConfigError(message)
            self._put(path, file_text(path, content))

    async def read(self, path: str, *, cancel: CancelToken | None = None) -> File:
        """Return the file. Raises `FileMissing`."""
        del cancel
        path = file_path(path)
        if path not in self._files:
            raise missing(path)
        return self._files[path]

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
        start = bisect_left(self._paths, root)
        if after is not None:
            start = max(start, bisect_right(self._paths, after))
        found = (name for name in self._paths[start:] if within(name, root))
        page = [name for name, _ in zip(found, range(limit + 1), strict=False)]
        files = tuple(
            FileInfo(path=name, revision=self._files[name].revision) for name in page[:limit]
        )
        return Listing(files=files, next=page[limit - 1] if len(page) > limit else None)

    async def write(
        self, path: str, content: str, expected_revision: str | None = None
    ) -> FileInfo:
        """Create the file, or replace exactly that version. Raises `StaleFile`."""
        path = file_path(path)
        file_text(path, content)
        self._expect(path, expected_revision)
        return self._put(path, content)

    async def remove(self, path: str, expected_revision: str) -> None:
        """Remove exactly that version of the file. Raises `FileMissing` or `StaleFile`."""
        path = file_path(path)
        if path not in self._files:
            raise missing(path)
        self._expect(path, expected_revision)
        del self._files[path]
        self._paths.remove(path)

    def _expect(self, path: str, expected: str | None) -> None:
        current = self._files[path].revision if path in self._files else None
        if current != expected:
            raise stale(path, expected=expected, current=current)

    def _put(self, path: str, content: str) -> FileInfo:
        self._changes += 1
        revision = f"r{self._changes}"
        if path not in self._files:
            insort(self._paths, path)
        self._files[path] = File(path=path, revision=revision, content=content)
        return FileInfo(path=path, revision=revision)


class StaticFilesystem:
    """Files that are what they were when the object was made."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = InMemoryFilesystem(files)

    async def read(self, path: str, *, cancel: CancelToken | None = None) -> File:
        """Return the file. Raises `FileMissing`."""
        return await self._files.read(path, cancel=cancel)

    async def list(
        self,
        path: str,
        *,
        after: str | None = None,
        limit: int = LIST_LIMIT,
        cancel: CancelToken | None = None,
    ) -> Listing:
        """Return the files at or below a path, from the first one after `after`."""
        return await self._files.list(path, after=after, limit=limit, cancel=cancel)


def in_memory_filesystem(files: Mapping[str, str] | None = None) -> InMemoryFilesystem:
    """Return writable files that start as a copy of the given ones.

    Raises:
        ConfigError: two paths are the same file.
        FileError: a path or a text is not a virtual one.
    """
    return InMemoryFilesystem(files)


def static_filesystem(files: Mapping[str, str]) -> StaticFilesystem:
    """Return files that can only be read; later changes of the mapping do not reach them."""
    return StaticFilesystem(files)
