"""Conversations as JSON files in a folder, one a conversation.

Edge: disk. Several processes may share the folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.memory.in_process import warning_of
from goliath_local.memory.json_text import MOST_BYTES
from goliath_local.memory.merge import merge
from goliath_local.memory.port import StoredConversation
from goliath_local.memory.read import Reading, read_memory
from goliath_local.memory.unfinished import recalled, unfinished_json
from goliath_local.memory.whole import (
    WAIT_S,
    held,
    make_private_folder,
    set_aside,
    storage_error,
    traces_of,
    write_whole,
)
from goliath_local.memory.write import OUTPUT_BYTES, memory_text
from goliath_local.records import MemoryState

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.records import Exchange

_DEFAULT_NAME = "default.json"
_LOCK_NAME = ".lock"
"""One for the whole folder: a lock a conversation would outlive the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A file as it was read."""

    reading: Reading
    data: bytes | None
    """Its bytes; None when it was too large to be read."""

    is_there: bool


class FileMemory:
    """The memory of one conversation in one file.

    `warning` says, after a load, what in the file could not be used; None when all was sound.
    """

    def __init__(
        self,
        path: Path,
        conversation_id: str | None = None,
        *,
        output_bytes: int = OUTPUT_BYTES,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._conversation_id = conversation_id
        self._output_bytes = output_bytes
        self._wait_s = wait_s
        self._clock = clock
        self._base: MemoryState | None = None
        self.warning: str | None = None

    async def load(self) -> MemoryState:
        """Return what the file says; whatever in it is not sound is left out.

        Raises:
            StorageError: the file is there and cannot be read.
        """
        found = await asyncio.to_thread(self._read)
        self._base = recalled(found.reading)
        self.warning = warning_of(str(self._path), found.reading.problems)
        return self._base

    async def save(self, state: MemoryState) -> None:
        """Replace the file; what another process saved meanwhile is merged in.

        Raises:
            StorageError: it could not be written, and is as it was.
        """
        await asyncio.to_thread(self._write, state)

    async def note(self, exchange: Exchange | None) -> None:
        """Keep the turn that is under way; see `NotesTurns`.

        Raises:
            StorageError: it could not be written, and is as it was.
        """
        await asyncio.to_thread(self._write, None, exchange)

    def _write(self, state: MemoryState | None, under_way: Exchange | None = None) -> None:
        """Write the state, or with None the stored one, and the turn that is under way."""
        make_private_folder(self._path.parent)
        with held(self._path.with_name(_LOCK_NAME), wait_s=self._wait_s):
            found = self._read()
            if found.reading.problems and found.is_there:
                set_aside(self._path, found.data, clock=self._clock)
            stored = recalled(found.reading)
            text = memory_text(
                stored if state is None else merge(base=self._base, theirs=stored, ours=state),
                output_bytes=self._output_bytes,
                conversation=self._conversation_id,
                unfinished=unfinished_json(under_way),
            )
            write_whole(self._path, text.encode())
            self._base = read_memory(text).state

    def _read(self) -> _Found:
        empty = Reading(state=MemoryState())
        try:
            with self._path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return _Found(reading=empty, data=None, is_there=False)
        except OSError as error:
            raise storage_error("read", self._path, error) from error
        reading = read_memory(data)
        return _Found(
            reading=reading, data=data if len(data) <= MOST_BYTES else None, is_there=True
        )


class FileMemories:
    """A folder of conversations; calling it gives the memory of one."""

    def __init__(
        self,
        folder: Path,
        *,
        output_bytes: int = OUTPUT_BYTES,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._output_bytes = output_bytes
        self._wait_s = wait_s
        self._clock = clock

    def __call__(self, conversation_id: str | None = None) -> FileMemory:
        """Return the memory of the conversation; touches nothing yet."""
        return FileMemory(
            self._path(conversation_id),
            conversation_id,
            output_bytes=self._output_bytes,
            wait_s=self._wait_s,
            clock=self._clock,
        )

    def conversations(self) -> tuple[StoredConversation, ...]:
        """Return what is stored, the last saved first."""
        found = [self._listed(path) for path in self._folder.glob("*.json")]
        there = [item for item in found if item is not None]
        return tuple(sorted(there, key=lambda item: item.saved_at, reverse=True))

    def remove(self, conversation_id: str | None = None) -> bool:
        """Remove the conversation's file and what was set aside from it."""
        path = self._path(conversation_id)
        if not self._folder.is_dir():
            return False
        removed = False
        with held(self._folder / _LOCK_NAME, wait_s=self._wait_s):
            for file in (path, *traces_of(path)):
                try:
                    file.unlink()
                    removed = True
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise storage_error("remove", file, error) from error
        return removed

    def _path(self, conversation_id: str | None) -> Path:
        return self._folder / file_name(conversation_id)

    def _listed(self, path: Path) -> StoredConversation | None:
        try:
            with path.open("rb") as file:
                reading = read_memory(file.read(MOST_BYTES + 1))
            saved_at = path.stat().st_mtime
        except OSError:
            return None
        if path.name != file_name(reading.conversation_id):
            return None
        return StoredConversation(
            conversation_id=reading.conversation_id,
            exchanges=len(reading.state.recent),
            saved_at=saved_at,
        )


def file_memory(folder: str | Path, *, output_bytes: int = OUTPUT_BYTES) -> FileMemories:
    """Return a store that keeps each conversation as a JSON file in the folder.

    Args:
        folder: made when something is saved, for its owner only.
        output_bytes: longest JSON of a tool output that is stored.
    """
    return FileMemories(Path(folder), output_bytes=output_bytes)


def file_name(conversation_id: str | None) -> str:
    """Return the file name of a conversation: readable, harmless everywhere, its own.

    Ids that a file system may take for one another ("A" and "a", or two spellings of "é") get
    different names, since the name ends in a hash of the exact id.
    """
    if conversation_id is None:
        return _DEFAULT_NAME
    readable = re.sub(r"[^a-z0-9]+", "-", conversation_id.lower())[:32].strip("-")
    digest = hashlib.sha256(conversation_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{readable or 'id'}-{digest}.json"
