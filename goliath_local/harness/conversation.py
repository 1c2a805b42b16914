"""Conversations: each has its memory, its line of turns, its health and its last window."""

from __future__ import annotations

import contextvars
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.events import EscalateEvent
from goliath_local.extensions import settle
from goliath_local.harness.line import Line
from goliath_local.records import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goliath_local.budget import Window
    from goliath_local.events import Event
    from goliath_local.harness.settings import Settings

SESSION_FALLBACK_AFTER = 3
"""Turns in a row that end in a model error before the device is given up on."""

COUNTS_AGAINST_DEVICE = frozenset({Reason.MODEL_ERROR, Reason.MODEL_UNAVAILABLE})
"""The reasons that such turns end with."""


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The state of one conversation id in this process; nothing of it is stored."""

    id: str | None
    memory: Any = None
    line: Line = field(default_factory=Line)
    opening: Line = field(default_factory=Line)
    window: Window | None = None
    """The last known one."""

    failures: int = 0
    """Turns in a row that ended in a model error."""

    failed_at: float = 0.0
    """When the last of them ended, or was last tried again."""

    @property
    def in_fallback(self) -> bool:
        """True when the device is given up on."""
        return self.failures >= SESSION_FALLBACK_AFTER

    def skips_device(self, settings: Settings) -> bool:
        """Return whether the next turn goes straight to the fallback.

        With a probe time one turn is let through each time it has passed.
        """
        if not self.in_fallback or settings.fallback is None:
            return False
        probe_after = settings.session_probe_after
        now = settings.clock()
        if probe_after is not None and now - self.failed_at >= probe_after:
            self.failed_at = now
            return False
        return True

    def note_health(self, trace: Sequence[Event], *, now: float) -> None:
        """Count a turn that returned: one more failure, or well again."""
        reasons = {event.reason for event in trace if isinstance(event, EscalateEvent)}
        if reasons & COUNTS_AGAINST_DEVICE:
            self.failures += 1
            self.failed_at = now
        else:
            self.failures = 0

    def reset(self) -> None:
        """Trust the device again."""
        self.failures = 0

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Mark the code inside as a turn of this conversation; the line was entered before."""
        inside = _Inside(conversation=self)
        token = _turns_around.set((*_turns_around.get(), inside))
        try:
            yield
        finally:
            inside.is_over = True
            _turns_around.reset(token)
            self.line.leave()

    def refuse_reentry(self) -> None:
        """Raise `ConfigError` when the caller is inside a turn of this very conversation."""
        for around in _turns_around.get():
            if around.conversation is self and not around.is_over:
                message = (
                    f"run was called for {_spoken(self.id)} from inside a turn of the same one, "
                    "and would wait for itself. Use another conversation_id, or run it afterwards."
                )
                raise ConfigError(message)


class Conversations:
    """The conversations of one agent, by id."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._known: dict[str | None, Conversation] = {}

    async def open(self, conversation_id: str | None) -> Conversation:
        """Return the conversation, with its memory; the same object every time.

        Raises:
            ConfigError: the id is blank or no string, or the one memory there is serves only the
                default conversation.
        """
        self._verify(conversation_id)
        with self._lock:
            found = self._known.setdefault(conversation_id, Conversation(id=conversation_id))
        found.refuse_reentry()
        await found.opening.enter()
        try:
            if found.memory is None:
                found.memory = await self._memory_for(conversation_id)
        except BaseException:
            self.forget(conversation_id)
            raise
        finally:
            found.opening.leave()
        return found

    def find(self, conversation_id: str | None) -> Conversation | None:
        """Return the conversation if it was used before."""
        return self._known.get(conversation_id)

    def forget(self, conversation_id: str | None) -> None:
        """Drop what this process knows of the conversation; stored data stays."""
        with self._lock:
            self._known.pop(conversation_id, None)

    def _verify(self, conversation_id: Any) -> None:
        is_text = isinstance(conversation_id, str) and conversation_id.strip()
        if conversation_id is not None and not is_text:
            message = f"conversation_id is {conversation_id!r}. Give a text that is not blank."
            raise ConfigError(message)
        if conversation_id is not None and _is_store(self._memory):
            message = (
                "One memory object serves only the default conversation, not "
                f"{conversation_id!r}. Give create_agent a function (conversation_id) -> memory."
            )
            raise ConfigError(message)

    async def _memory_for(self, conversation_id: str | None) -> Any:
        if _is_store(self._memory):
            return self._memory
        memory = await settle(self._memory(conversation_id))
        if not _is_store(memory):
            name = type(memory).__name__
            message = f"The memory factory gave {name}; return an object with load and save."
            raise ConfigError(message)
        return memory


@dataclass(slots=True, kw_only=True)
class _Inside:
    """One turn that the current code runs in."""

    conversation: Conversation
    is_over: bool = False


_turns_around: contextvars.ContextVar[tuple[_Inside, ...]] = contextvars.ContextVar(
    "turns around this code", default=()
)


def _is_store(memory: Any) -> bool:
    return hasattr(memory, "load") and hasattr(memory, "save") and not isinstance(memory, type)


def _spoken(conversation_id: str | None) -> str:
    return "the default conversation" if conversation_id is None else repr(conversation_id)
