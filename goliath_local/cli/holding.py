"""Which process has something open: a lock for each conversation of a chat, and who holds it.

Edge: disk and the list of processes. The system frees the lock of a process that died; the note
beside it only says who, and is of no other use.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from goliath_local.cli.places import make_folder
from goliath_local.cli.visible import clipped_line
from goliath_local.errors import StorageBusy
from goliath_local.memory import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_COMMAND_CHARS = 120
_ADDRESS = re.compile(r"[a-z]+://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that has something open."""

    pid: int
    command: str

    def __str__(self) -> str:
        """Return it as a message names it."""
        return f"process {self.pid} ({self.command})"


class ConversationBusy(StorageBusy):
    """A chat is going on in this conversation already.

    Attributes:
        holder: the process, None when it cannot be told.
    """

    def __init__(self, name: str, holder: Holder | None) -> None:
        super().__init__(
            f'The conversation "{name}" is open in {holder or "another process"}. Close it there, '
            "or begin another: goliath-local chat --new"
        )
        self.holder = holder


class Seat:
    """The one conversation that a chat has open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None
        self._note: Path | None = None

    def take(self, name: str) -> None:
        """Hold this conversation in place of the one before.

        Raises:
            ConversationBusy: another process holds it; the one before is kept.
        """
        make_folder(self._folder)
        stem = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        note = self._folder / f"{stem}.json"
        if note == self._note:
            return
        lock = FileLock(self._folder / f"{stem}.lock", mode=0o600)
        try:
            lock.acquire(blocking=False)
        except Timeout as error:
            raise ConversationBusy(name, _read(note)) from error
        self.close()
        self._lock, self._note = lock, note
        holder = {"pid": os.getpid(), "command": own_command()}
        with suppress(OSError):
            write_whole(note, json.dumps(holder).encode())

    def close(self) -> None:
        """Let go."""
        if self._note is not None:
            with suppress(OSError):
                self._note.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
        self._lock = self._note = None


def own_command() -> str:
    """Return this process's command line, as a message shows it."""
    return _shown(["goliath-local", *sys.argv[1:]])


def store_holders(path: Path) -> tuple[Holder, ...]:
    """Return the other processes that have this SQLite file open, its side files included."""
    return holders_of(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm"))


def holders_of(paths: Iterable[Path]) -> tuple[Holder, ...]:
    """Return the other processes of this user that have one of the files open."""
    import psutil

    wanted = {str(path.resolve()) for path in paths}
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        with suppress(psutil.Error, OSError):
            if wanted.intersection(file.path for file in process.open_files()):
                found.append(Holder(pid=process.pid, command=_shown(process.cmdline())))
    return tuple(found)


def _shown(words: Iterable[str]) -> str:
    """Return the command line for a message: cut short, no keys in its addresses."""
    return clipped_line(shlex.join(_ADDRESS.sub(_safe, word) for word in words), _COMMAND_CHARS)


def _safe(address: re.Match[str]) -> str:
    from goliath_local.wire import safe_url

    return safe_url(address[0])


def _read(note: Path) -> Holder | None:
    try:
        read = json.loads(note.read_bytes())
        return Holder(pid=int(read["pid"]), command=clipped_line(str(read["command"]), 200))
    except (OSError, ValueError, TypeError, KeyError):
        return None
