"""Pages of glob and grep: files in path order, until the page, the patience or the files end.

Drives a back end; decides nothing about the world. A page ends when it is full, when the next
match does not fit the result budget, after `max_files` files, or after about 65,536 characters
of content. It has a cursor whenever something is left to look at. Over many files a search is a
live view: each page sees the files as they are. Source: behaviour spec, section 8.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goliath_local.errors import FileError, FileMissing, NotText, StaleFile
from goliath_local.filesystem.backend import File, FileBackend, FileInfo, advanced, settled
from goliath_local.filesystem.cursors import START, Cursors, Position, Query
from goliath_local.filesystem.glob import Glob, matches
from goliath_local.filesystem.pages import SPARE_TOKENS, Room, longest, render_search
from goliath_local.filesystem.reading import verify_unchanged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from goliath_local.cancel import CancelToken
    from goliath_local.records import Json

SCAN_CHARS = 65_536
EXCERPT_CHARS = 100
EXCERPT_LEAD_CHARS = 30

_ANY_HANDLE = "cursor00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a search looks."""

    backend: FileBackend
    base: str
    cancel: CancelToken | None = None

    async def files(self, after: str | None) -> AsyncIterator[FileInfo]:
        """Yield the files at or below the base, in path order, after a path."""
        while True:
            if self.cancel is not None:
                self.cancel.raise_if_cancelled()
            listing = await settled(self.backend.list(self.base, after=after, cancel=self.cancel))
            for info in listing.files:
                yield info
            if listing.next is None:
                return
            after = advanced(after, listing.next)

    async def read(self, path: str) -> File:
        """Return a file. Raises `FileMissing` or `NotText`."""
        return await settled(self.backend.read(path, cancel=self.cancel))


@dataclass(slots=True, kw_only=True)
class Page:
    """The matches of one page, as they come."""

    room: Room
    max_matches: int
    max_files: int
    matches: list[dict[str, Json]] = field(default_factory=list)
    finished_files: int = 0
    scanned_chars: int = 0

    @property
    def is_tired(self) -> bool:
        """True once enough was looked at for one page."""
        return self.scanned_chars >= SCAN_CHARS

    def take(self, match: dict[str, Json]) -> bool:
        """Add a match if there is room for it, and return whether there was."""
        if len(self.matches) >= self.max_matches or not self._holds(match):
            return False
        self.matches.append(match)
        return True

    def take_shortened(self, match: dict[str, Json]) -> bool:
        """Add a match; if it is the first and does not fit, shorten its excerpt."""
        if self.take(match):
            return True
        if self.matches:
            return False
        excerpt = match["excerpt"]
        kept = longest(len(excerpt), lambda n: self._holds(match | {"excerpt": excerpt[:n]}))
        return self.take(match | {"excerpt": excerpt[:kept]})

    def _holds(self, match: dict[str, Json]) -> bool:
        page = {"matches": [*self.matches, match], "nextCursor": _ANY_HANDLE}
        return self.room.holds(render_search(page), spare_tokens=SPARE_TOKENS)


async def glob_page(
    source: Source, query: Query, *, glob: Glob, start: Position, page: Page, cursors: Cursors
) -> dict[str, Json]:
    """Return a page of the files whose paths match.

    Raises:
        FileError: a single match does not fit the result budget.
    """
    done = start.after
    paused = None
    async for info in source.files(start.after):
        if page.finished_files >= page.max_files:
            paused = Position(after=done)
            break
        if matches(glob, info.path) and not page.take(_named(info.path, info.revision)):
            _refuse_if_alone(page, info.path)
            paused = Position(after=done)
            break
        done = info.path
        page.finished_files += 1
    return _output(page, query, paused, cursors)


async def grep_page(
    source: Source, query: Query, *, start: Position, page: Page, cursors: Cursors
) -> dict[str, Json]:
    """Return a page of the lines that contain the query's pattern, one match a line.

    Raises:
        StaleFile: the file it paused in has changed.
        FileError: a single match does not fit the result budget.
    """
    find = _finder(query)
    done = start.after
    async for path in _paths(source, start):
        if page.finished_files >= page.max_files or page.is_tired:
            return _output(page, query, Position(after=done), cursors)
        file = await _text(source, path, start)
        if file is not None:
            paused = _grep_file(file, start if path == start.path else START, find, page)
            if paused is not None:
                return _output(page, query, paused, cursors)
        done = path
        page.finished_files += 1
    return _output(page, query, None, cursors)


async def _paths(source: Source, start: Position) -> AsyncIterator[str]:
    """Yield the file the search paused inside, if it did, and those that follow."""
    if start.path is not None:
        yield start.path
    async for info in source.files(start.path or start.after):
        yield info.path


async def _text(source: Source, path: str, start: Position) -> File | None:
    """Return a file to look into; None if nothing can be found in it."""
    if path != start.path:
        try:
            return await source.read(path)
        except (FileMissing, NotText):
            # Gone since it was listed, or a picture.
            return None
    try:
        file = await source.read(path)
    except FileMissing as error:
        raise StaleFile(path, "the file is gone. Start again without a cursor.") from error
    verify_unchanged(file, start)
    return file


def _grep_file(
    file: File, start: Position, find: Callable[[str], int | None], page: Page
) -> Position | None:
    """Look into a file; return where the page paused in it, None if it is finished."""
    for offset, number, line in _lines(file.content, start):
        here = Position(path=file.path, revision=file.revision, offset=offset, line=number)
        if page.is_tired:
            return here
        found = find(line)
        if found is not None:
            match = _named(file.path, file.revision) | {
                "line": number,
                "excerpt": _excerpt(line, found),
            }
            if not page.take_shortened(match):
                _refuse_if_alone(page, file.path)
                return here
        page.scanned_chars += len(line) + 1
    return None


def _lines(content: str, start: Position) -> Iterator[tuple[int, int, str]]:
    """Yield offset, 1-based number and text of each line from a position."""
    offset, number = start.offset, start.line
    while offset < len(content):
        end = content.find("\n", offset)
        end = len(content) if end < 0 else end
        yield offset, number, content[offset:end]
        offset, number = end + 1, number + 1


def _finder(query: Query) -> Callable[[str], int | None]:
    flags = re.IGNORECASE if query.ignore_case else 0
    literal = re.compile(re.escape(query.pattern), flags)

    def find(line: str) -> int | None:
        found = literal.search(line)
        return None if found is None else found.start()

    return find


def _excerpt(line: str, found: int) -> str:
    start = max(0, found - EXCERPT_LEAD_CHARS)
    return line[start : start + EXCERPT_CHARS].rstrip("\r")


def _named(path: str, revision: str) -> dict[str, Json]:
    return {"path": path, "revision": revision}


def _refuse_if_alone(page: Page, path: str) -> None:
    if not page.matches:
        reason = f"its match does not fit into {page.room.max_tokens} tokens. Narrow the search."
        raise FileError(path, reason)


def _output(
    page: Page, query: Query, paused: Position | None, cursors: Cursors
) -> dict[str, Json]:
    handle = None if paused is None else cursors.issue(query, paused)
    return {"matches": page.matches, "nextCursor": handle}
