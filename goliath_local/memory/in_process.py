"""Memories that live in the program, and those over an application's own key-value store.

Edge, thinly: `key_value_memory` calls the application's store.
"""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping
from typing import Any, Protocol, TypeAlias

from goliath_local.memory.read import Reading, read_memory
from goliath_local.memory.write import OUTPUT_BYTES, memory_text
from goliath_local.records import MemoryState

DEFAULT_KEY = "goliath.memory"
_ASIDE = 5
"""How many unreadable texts are kept."""


class KeyValueStore(Protocol):
    """One text a key. Both methods may be async."""

    def get_item(self, key: str) -> Any:
        """Return the text, or None."""
        ...

    def set_item(self, key: str, text: str) -> Any:
        """Keep the text."""
        ...


StoreLike: TypeAlias = KeyValueStore | MutableMapping[str, str]


def empty_memory() -> MemoryState:
    """Return the state of a conversation in which nothing was said."""
    return MemoryState()


class InMemory:
    """A memory that lasts as long as the object."""

    def __init__(self, initial: MemoryState | None = None) -> None:
        self._state = initial or MemoryState()

    async def load(self) -> MemoryState:
        """Return the state; it is frozen, so sharing it is copying it."""
        return self._state

    async def save(self, state: MemoryState) -> None:
        """Keep the state."""
        self._state = state


class KeyValueMemory:
    """A memory that is one JSON text under one key.

    A text that cannot be read wholly is copied to `KEY.bad-1` … `KEY.bad-5` before anything is
    saved over it; `warning` then says what was wrong.
    """

    def __init__(self, store: StoreLike, key: str, *, output_bytes: int) -> None:
        self._store = store
        self._key = key
        self._output_bytes = output_bytes
        self.warning: str | None = None

    async def load(self) -> MemoryState:
        """Return what the text says; whatever in it is not sound is left out."""
        return (await self._read())[0].state

    async def save(self, state: MemoryState) -> None:
        """Replace the text."""
        reading, text = await self._read()
        if reading.problems:
            await self._set_aside(text)
        await self._set(self._key, memory_text(state, output_bytes=self._output_bytes))
        self.warning = None

    async def _read(self) -> tuple[Reading, str]:
        text = await self._get(self._key)
        if not isinstance(text, str | bytes):
            return Reading(state=MemoryState()), ""
        reading = read_memory(text)
        self.warning = warning_of(f"The memory under {self._key!r}", reading.problems)
        return reading, text if isinstance(text, str) else text.decode("utf-8", "replace")

    async def _set_aside(self, text: str) -> None:
        slots = [f"{self._key}.bad-{number}" for number in range(1, _ASIDE + 1)]
        for slot in slots[:-1]:
            if await self._get(slot) in (None, text):
                await self._set(slot, text)
                return
        await self._set(slots[-1], text)

    async def _get(self, key: str) -> Any:
        store = self._store
        found = store.get(key) if isinstance(store, MutableMapping) else store.get_item(key)
        return await found if inspect.isawaitable(found) else found

    async def _set(self, key: str, text: str) -> None:
        store = self._store
        if isinstance(store, MutableMapping):
            store[key] = text
            return
        done = store.set_item(key, text)
        if inspect.isawaitable(done):
            await done


def in_memory(initial: MemoryState | None = None) -> InMemory:
    """Return a memory that lasts as long as the object."""
    return InMemory(initial)


def key_value_memory(
    store: StoreLike, key: str = DEFAULT_KEY, *, output_bytes: int = OUTPUT_BYTES
) -> KeyValueMemory:
    """Return a memory that is one JSON text in an application's store.

    Args:
        store: has `get_item` and `set_item`, sync or async, or is a mapping.
        key: of the text.
        output_bytes: longest JSON of a tool output that is stored.
    """
    return KeyValueMemory(store, key, output_bytes=output_bytes)


def warning_of(what: str, problems: tuple[str, ...]) -> str | None:
    """Return one sentence on what was wrong, or None when nothing was."""
    if not problems:
        return None
    shown = "; ".join(problems[:3]) + (" …" if len(problems) > 3 else "")
    return f"{what} is not wholly readable: {shown}. What is sound is used, the rest kept aside."
