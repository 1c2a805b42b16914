from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.memory import (
    Memory,
    file_memory,
    in_memory,
    key_value_memory,
    sqlite_memory,
)
from tests.laws.memory import MEMORY_LAWS, STORE_LAWS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.laws.memory import OpenMemory, OpenStore


class Store:
    """A key-value store, plain."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def get_item(self, key: str) -> str | None:
        return self.texts.get(key)

    def set_item(self, key: str, text: str) -> None:
        self.texts[key] = text


class AsyncStore(Store):
    """A key-value store that has to be awaited."""

    async def get_item(self, key: str) -> str | None:  # type: ignore[override]  # async on purpose
        return self.texts.get(key)

    async def set_item(self, key: str, text: str) -> None:  # type: ignore[override]  # as above
        self.texts[key] = text


def _same(memory: Any) -> OpenMemory:
    return lambda: memory


MEMORIES: dict[str, Callable[[Path], OpenMemory]] = {
    "in process": lambda folder: _same(in_memory()),
    "key-value": lambda folder: _key_value(Store()),
    "async key-value": lambda folder: _key_value(AsyncStore()),
    "mapping": lambda folder: _key_value({}),
    "file": lambda folder: lambda: file_memory(folder / "chats")("one"),
    "sqlite": lambda folder: lambda: sqlite_memory(folder / "chats" / "memory.db")("one"),
}


def _key_value(store: Any) -> OpenMemory:
    return lambda: key_value_memory(store, "chat")


STORES: dict[str, Callable[[Path], OpenStore]] = {
    "file": lambda folder: lambda: file_memory(folder / "chats"),
    "sqlite": lambda folder: lambda: sqlite_memory(folder / "chats" / "memory.db"),
}


@pytest.mark.parametrize("kind", MEMORIES)
@pytest.mark.parametrize("law", MEMORY_LAWS, ids=lambda law: law.__name__)
async def test_every_memory_keeps_the_laws(kind: str, law: Any, tmp_path: Path) -> None:
    open_memory = MEMORIES[kind](tmp_path)
    assert isinstance(open_memory(), Memory)
    await law(open_memory)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("law", STORE_LAWS, ids=lambda law: law.__name__)
async def test_every_store_keeps_the_laws(kind: str, law: Any, tmp_path: Path) -> None:
    await law(STORES[kind](tmp_path))
