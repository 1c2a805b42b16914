"""Shows a fetch while it runs: a bar where a person looks, a line each ten per cent elsewhere.

Edge: prints, reads the clock. Other commands that may fetch a model use it too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, assert_never

from goliath_local.catalogue import (
    Fetched,
    Moved,
    Note,
    PassedOver,
    Restarted,
    Trying,
    Waiting,
    amount_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.cli.terminal import Terminal

_REDRAW_S = 0.1
_BAR_COLUMNS = range(4, 24)


class Progress:
    """Takes a fetch's notes and tells the user; one for each model that is fetched."""

    def __init__(
        self, terminal: Terminal, name: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._terminal, self._name, self._clock = terminal, name, clock
        self._drawn_s = 0.0
        self._tenth = -1
        self._first: tuple[float, int] | None = None

    def __call__(self, note: Note) -> None:
        """Tell the user about one note."""
        match note:
            case Moved():
                self._moved(note)
            case Trying(source=source):
                self._first, self._tenth = None, -1
                self._terminal.say(f"{self._name}: from {source}")
            case PassedOver(source=source, reason=reason):
                self._terminal.say(
                    f"{self._name}: nothing from {source}: {_first_sentence(reason)}"
                )
            case Waiting(owner=owner):
                self._terminal.say(f"{self._name}: {owner} is fetching it; waiting for that.")
            case Restarted(reason=reason):
                self._first, self._tenth = None, -1
                self._terminal.say(f"{self._name}: {reason}. Once more from the beginning.")
            case _:
                assert_never(note)

    def checked(self, total_bytes: int) -> Callable[[int], None]:
        """Return what to call with the bytes hashed so far."""
        return lambda done: self(Moved(done_bytes=done, total_bytes=total_bytes, checking=True))

    def finish(self, fetched: Fetched) -> None:
        """Say how it ended."""
        if fetched.already:
            self._terminal.say(f"{self._name} is here already (from {fetched.source}).")
        else:
            self._terminal.say(f"{self._name}: complete, sha256 as pinned, from {fetched.source}.")

    def _moved(self, note: Moved) -> None:
        if self._first is None:
            self._first = (self._clock(), note.done_bytes)
        if self._terminal.err_is_tty:
            self._draw(note)
        else:
            self._write(note)

    def _draw(self, note: Moved) -> None:
        now = self._clock()
        if now - self._drawn_s < _REDRAW_S and note.done_bytes < note.total_bytes:
            return
        self._drawn_s = now
        tail = "checking" if note.checking else self._speed(note, now)
        told = f"{_told(note)}  {tail}"
        room = self._terminal.columns - len(self._name) - len(told) - 4
        columns = max(_BAR_COLUMNS.start, min(room, _BAR_COLUMNS.stop))
        filled = columns * note.done_bytes // note.total_bytes
        bar = "━" * filled + "─" * (columns - filled)
        self._terminal.status(f"{self._name} {bar} {told}")

    def _write(self, note: Moved) -> None:
        tenth = 10 * note.done_bytes // note.total_bytes
        if note.checking or tenth <= self._tenth:
            return
        if self._tenth >= 0 or tenth > 0:
            self._terminal.say(f"{self._name} {_told(note)}")
        self._tenth = tenth

    def _speed(self, note: Moved, now: float) -> str:
        began_s, began_bytes = self._first or (now, note.done_bytes)
        elapsed_s = now - began_s
        if elapsed_s < 1.0 or note.done_bytes <= began_bytes:
            return ""
        per_s = (note.done_bytes - began_bytes) / elapsed_s
        left_s = (note.total_bytes - note.done_bytes) / per_s
        return f"{per_s / 1e6:.1f} MB/s, {int(left_s // 60)}:{int(left_s % 60):02} left"


def _told(note: Moved) -> str:
    percent = 100 * note.done_bytes // note.total_bytes
    return f"{percent:3} %  {amount_of(note.done_bytes, note.total_bytes)}"


def _first_sentence(text: str) -> str:
    """Return what happened, without what to do: the next source is tried already."""
    return text.splitlines()[0].partition(". ")[0].rstrip(".") + "."
