"""One page of a file: where it starts, how far it goes.

Pure. The pages of a file, put together, are the file. Source: behaviour spec, section 8.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.errors import FileError, StaleFile
from goliath_local.filesystem.cursors import Cursors, Position, Query, handle_of
from goliath_local.filesystem.pages import Room, longest, render_read

if TYPE_CHECKING:
    from goliath_local.filesystem.backend import File
    from goliath_local.records import Json

READ_CHARS = 16_384
"""Most characters one page is chosen from."""


def page_start(file: File, *, offset: int, paused: Position | None) -> Position:
    """Return where a page starts: where a cursor paused, else at line `offset`, from 0.

    Raises:
        FileError: the cursor does not fit the file as it is now, or comes with an offset.
    """
    if paused is None:
        at = _line_start(file.content, offset)
        return Position(offset=at, line=offset + 1)
    if offset:
        raise FileError(file.path, "give a cursor or an offset, not both.")
    verify_unchanged(file, paused)
    return paused


def verify_unchanged(file: File, paused: Position) -> None:
    """Raise unless a file is still what it was when a page paused inside it.

    Raises:
        StaleFile: it changed.
        FileError: the position is not one inside the file.
    """
    if file.revision != paused.revision:
        reason = "the file has changed since. Start again without a cursor."
        raise StaleFile(file.path, reason)
    if not 0 <= paused.offset <= len(file.content):
        reason = "the cursor points beyond the end. Start again without a cursor."
        raise FileError(file.path, reason)


def read_page(
    file: File, query: Query, start: Position, *, limit: int, room: Room, cursors: Cursors
) -> dict[str, Json]:
    """Return up to `limit` lines from the start, as many characters of them as fit.

    Raises:
        FileError: not one character fits.
    """
    first = start.offset
    end = min(_lines_end(file.content, first, limit), first + READ_CHARS)

    def page(length: int) -> dict[str, Json]:
        handle = None
        if first + length < len(file.content):
            handle = handle_of(query, _pause(file, start, length))
        return {
            "path": file.path,
            "revision": file.revision,
            "line": start.line,
            "continued": first > 0 and file.content[first - 1] != "\n",
            "nextCursor": handle,
            "content": file.content[first : first + length],
        }

    def fits(length: int) -> bool:
        return room.holds(render_read(page(length)))

    length = end - first
    if not fits(length):
        length = longest(length - 1, fits)
        if length == 0:
            reason = f"not one character fits into {room.max_tokens} tokens. Widen the budget."
            raise FileError(file.path, reason)
    if first + length < len(file.content):
        cursors.issue(query, _pause(file, start, length))
    return page(length)


def _pause(file: File, start: Position, length: int) -> Position:
    passed = file.content.count("\n", start.offset, start.offset + length)
    return Position(
        path=file.path,
        revision=file.revision,
        offset=start.offset + length,
        line=start.line + passed,
    )


def _line_start(content: str, line: int) -> int:
    """Return where a line starts, counted from 0; the end of the content if there is none."""
    at = 0
    for _ in range(line):
        at = content.find("\n", at) + 1
        if at == 0:
            return len(content)
    return at


def _lines_end(content: str, start: int, lines: int) -> int:
    """Return where the given number of lines from the start ends, newline included."""
    at = start
    for _ in range(lines):
        at = content.find("\n", at) + 1
        if at == 0:
            return len(content)
    return at
