"""Several back ends under one tree of paths. Drives the back ends it is given.

The longest prefix wins, at a `/`. What is mounted hides the files of others below the same
prefix, in listings too, and listings are merged into one order. Source: behaviour spec, 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from goliath_local.errors import ConfigError, FileError
from goliath_local.filesystem.backend import (
    LIST_LIMIT,
    File,
    FileBackend,
    FileInfo,
    Listing,
    WritableBackend,
    advanced,
    is_writable,
    listing_limit,
    read_only,
    settled,
)
from goliath_local.filesystem.paths import file_path, virtual_path, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cancel import CancelToken


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A back end, and whether its files may be changed."""

    backend: FileBackend
    read_only: bool = False


Route: TypeAlias = FileBackend | Mount | Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A mount and the prefix it is under; the default's prefix is empty."""

    prefix: str
    mount: Mount

    @property
    def root(self) -> str:
        """The folder it is."""
        return self.prefix or "/"

    def is_before(self, after: str | None) -> bool:
        """Return whether all its files come before a path of the whole tree."""
        below = self.prefix + "/"
        return after is not None and after > below and not after.startswith(below)

    def inner_after(self, after: str | None) -> str | None:
        """Return where its own listing goes on after a path of the whole tree."""
        if after is None or not after.startswith(self.prefix + "/"):
            return None
        return after[len(self.prefix) :]

    def inner(self, path: str) -> str:
        """Return a path as the mounted back end knows it."""
        return path[len(self.prefix) :] or "/"

    def outer(self, path: str) -> str:
        """Return a path of the mounted back end as the whole tree knows it."""
        return self.prefix + path


class CompositeFilesystem:
    """Files of several back ends, told apart by prefix."""

    def __init__(self, default: FileBackend, routes: Mapping[str, Route]) -> None:
        places = [_Place(prefix="", mount=Mount(backend=default))]
        for given, route in routes.items():
            prefix = virtual_path(given)
            if prefix == "/":
                raise ConfigError("A route to / is what `default` is for. Name a folder.")
            if any(place.prefix == prefix for place in places):
                message = f"Two routes are {prefix}. Name each once."
                raise ConfigError(message)
            places.append(_Place(prefix=prefix, mount=_mount(prefix, route)))
        # Longest first: the first place whose prefix fits is the owner of a path.
        self._places = sorted(places, key=lambda place: len(place.prefix), reverse=True)

    async def read(self, path: str, *, cancel: CancelToken | None = None) -> File:
        """Return the file. Raises `FileMissing`."""
        place, inner = self._find(path)
        with _told_with_outer_path(place):
            file = await settled(place.mount.backend.read(inner, cancel=cancel))
        return replace(file, path=place.outer(file.path))

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
        found: list[FileInfo] = []
        for place in self._places:
            if within(place.root, root) or within(root, place.root):
                found += await self._files_of(place, root, after, limit + 1, cancel)
        found.sort(key=lambda info: info.path)
        files = tuple(found[:limit])
        return Listing(files=files, next=files[-1].path if len(found) > limit else None)

    async def write(
        self, path: str, content: str, expected_revision: str | None = None
    ) -> FileInfo:
        """Create the file, or replace exactly that version. Raises `StaleFile`."""
        place, inner, backend = self._find_writable(path)
        with _told_with_outer_path(place):
            info = await settled(backend.write(inner, content, expected_revision))
        return replace(info, path=place.outer(info.path))

    async def remove(self, path: str, expected_revision: str) -> None:
        """Remove exactly that version of the file. Raises `FileMissing` or `StaleFile`."""
        place, inner, backend = self._find_writable(path)
        with _told_with_outer_path(place):
            await settled(backend.remove(inner, expected_revision))

    def _owner(self, path: str) -> _Place:
        return next(place for place in self._places if within(path, place.root))

    def _find(self, path: str) -> tuple[_Place, str]:
        path = file_path(path)
        place = self._owner(path)
        if path == place.prefix:
            raise FileError(path, "that is a folder. Name a file in it.")
        return place, place.inner(path)

    def _find_writable(self, path: str) -> tuple[_Place, str, WritableBackend]:
        place, inner = self._find(path)
        if place.mount.read_only or not is_writable(place.mount.backend):
            raise read_only(place.outer(inner))
        return place, inner, cast("WritableBackend", place.mount.backend)

    async def _files_of(
        self, place: _Place, root: str, after: str | None, count: int, cancel: CancelToken | None
    ) -> Sequence[FileInfo]:
        """Return the first files of one place that are its own, after a path of the whole tree."""
        found: list[FileInfo] = []
        if place.is_before(after):
            return found
        inner_root = place.inner(root) if within(root, place.root) else "/"
        reached = place.inner_after(after)
        backend = place.mount.backend
        while len(found) < count:
            listing = await settled(backend.list(inner_root, after=reached, cancel=cancel))
            outer = (replace(info, path=place.outer(info.path)) for info in listing.files)
            found += [info for info in outer if self._owner(info.path) is place]
            if listing.next is None:
                break
            reached = advanced(reached, listing.next)
        return found[:count]


def composite_filesystem(
    default: FileBackend, routes: Mapping[str, Route] | None = None
) -> CompositeFilesystem:
    """Return the files of several back ends under one tree.

    Args:
        default: the files that lie under no route.
        routes: back end by folder, or `{"backend": …, "read_only": True}`.

    Raises:
        ConfigError: a route is the root or there twice, or is not a back end.
    """
    return CompositeFilesystem(default, routes or {})


def _mount(prefix: str, route: Route) -> Mount:
    if isinstance(route, Mapping):
        unknown = set(route) - {"backend", "read_only"}
        if unknown or "backend" not in route:
            message = f"Route {prefix} wants backend and read_only, not {sorted(route)}."
            raise ConfigError(message)
        route = Mount(backend=route["backend"], read_only=bool(route.get("read_only", False)))
    return route if isinstance(route, Mount) else Mount(backend=route)


@contextmanager
def _told_with_outer_path(place: _Place) -> Iterator[None]:
    try:
        yield
    except FileError as error:
        raise type(error)(place.outer(error.path), error.reason) from error
