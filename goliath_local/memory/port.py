"""What a memory is: something that can load and save the state of one conversation.

Pure. `tests/laws/memory.py` says what every memory keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from goliath_local.records import Exchange, MemoryState


@runtime_checkable
class Memory(Protocol):
    """Storage for one conversation. Not a checkpoint of a running turn."""

    async def load(self) -> MemoryState:
        """Return what was saved last; empty memory when nothing was."""
        ...

    async def save(self, state: MemoryState) -> None:
        """Keep the state in place of the earlier one, wholly or not at all."""
        ...


@runtime_checkable
class NotesTurns(Memory, Protocol):
    """A memory that a crash between a call and its result leaves with a trace of the call."""

    async def note(self, exchange: Exchange | None) -> None:
        """Keep the turn that is under way, its last step without a result; None for none.

        If this process ends before the next `save` or `note`, the turn loads as an exchange
        whose last step is interrupted.
        """
        ...


MemoryFactory: TypeAlias = Callable[[str | None], Memory]
"""Gives each conversation its memory; None is the default conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """One conversation in a store, as it is listed."""

    conversation_id: str | None
    """None is the default conversation."""

    exchanges: int
    """How many are kept word for word."""

    saved_at: float
    """Epoch seconds of the last save."""


class ConversationStore(Protocol):
    """One place for the memories of many conversations; a `MemoryFactory` too."""

    def __call__(self, conversation_id: str | None = None) -> Memory:
        """Return the memory of the conversation; touches nothing yet."""
        ...

    def conversations(self) -> tuple[StoredConversation, ...]:
        """Return what is stored, the last saved first."""
        ...

    def remove(self, conversation_id: str | None = None) -> bool:
        """Remove all that is stored of the conversation; False when there was nothing."""
        ...
