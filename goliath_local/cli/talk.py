"""Which conversation a chat goes on with, and what is kept of it.

Edge: reads and writes the conversations' file.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.cli.ids import ID_CHARS, is_id, new_id
from goliath_local.cli.visible import clipped_line
from goliath_local.errors import ConfigError
from goliath_local.records import Exchange, MemoryState, StepRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from goliath_local.events import Event
    from goliath_local.memory import ConversationStore, Memory

_KEPT_EXCHANGES = 3
_OFFERED = 20
INTERRUPTED = "(interrupted)"
"""Stands for an answer of which nothing had come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A conversation to go on with."""

    id: str
    is_new: bool
    saved_at: float | None = None
    """Epoch seconds; None for a new one."""


def choose_conversation(store: ConversationStore, wanted: str | None, *, new: bool) -> Chosen:
    """Return the conversation: the wanted one, a new one, or the chat that was last saved.

    Raises:
        ConfigError: the name is blank, or the beginning of several.
    """
    if wanted is not None and not wanted.strip():
        raise ConfigError(
            "The conversation's name is blank. See: goliath-local conversations list"
        )
    stored = {
        one.conversation_id: one
        for one in store.conversations()
        if one.conversation_id is not None
    }
    if wanted is not None:
        name = find_conversation(list(stored), wanted)
        found = stored.get(name)
        return Chosen(id=name, is_new=found is None, saved_at=found.saved_at if found else None)
    chats = [one for name, one in stored.items() if is_id(name) and len(name) == ID_CHARS]
    if new or not chats:
        return Chosen(id=fresh_id(), is_new=True)
    last = chats[0]
    return Chosen(id=last.conversation_id or "", is_new=False, saved_at=last.saved_at)


def find_conversation(names: list[str], wanted: str) -> str:
    """Return the stored name that is wanted, by its whole or by its beginning; else the wanted.

    Raises:
        ConfigError: it is the beginning of several.
    """
    if wanted in names or not is_id(wanted):
        return wanted
    found = [name for name in names if name.startswith(wanted.upper()) and len(name) == ID_CHARS]
    if len(found) > 1:
        msg = f'{len(found)} conversations begin with "{wanted}". Give more of the name.'
        raise ConfigError(msg)
    return found[0] if found else wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A conversation as it is offered."""

    id: str
    saved_at: float
    last_ask: str
    """Cut to one line; empty when nothing is kept word for word."""


async def recent(store: Any, *, wanted: str | None = None) -> list[Stored]:
    """Return the last used conversations, or the one wanted by number, name or beginning.

    Raises:
        ConfigError: what is wanted is the beginning of several.
    """
    found = [one for one in store.conversations() if one.conversation_id is not None]
    found = found[:_OFFERED]
    if wanted is not None:
        number = int(wanted) if wanted.isdecimal() and len(wanted) < 3 else 0
        name = find_conversation([one.conversation_id for one in found], wanted)
        found = found[number - 1 : number] or [one for one in found if one.conversation_id == name]
    return [
        Stored(
            id=one.conversation_id,
            saved_at=one.saved_at,
            last_ask=await _last_ask(store(one.conversation_id)),
        )
        for one in found
    ]


async def _last_ask(memory: Memory) -> str:
    state = await memory.load()
    return clipped_line(state.recent[-1].ask, 50) if state.recent else ""


def fresh_id() -> str:
    """Return the name of a new conversation."""
    return new_id(now_s=time.time(), chance=secrets.randbits(80))


async def keep_partial(
    memory: Memory, ask: str, partial: str, steps: tuple[StepRecord, ...]
) -> None:
    """Remember a turn that was broken off, marked as partial, with what its tools had done."""
    if not partial.strip() and not steps:
        return
    state = await memory.load()
    exchange = Exchange(
        ask=ask,
        answer=partial.strip() or INTERRUPTED,
        at=round(time.time() * 1000),
        best_effort=True,
        steps=steps,
    )
    recent = (*state.recent, exchange)[-_KEPT_EXCHANGES:]
    await memory.save(replace(state, recent=recent))


def steps_of(events: Iterable[Event], *, writing: Set[str]) -> tuple[StepRecord, ...]:
    """Return the tool steps that finished, read from a turn's events.

    Args:
        events: of the turn, in order.
        writing: names of the tools that write.
    """
    brief, found = "", list[StepRecord]()
    for event in events:
        match event.type:
            case "plan":
                brief = event.brief
            case "tool":
                found.append(
                    StepRecord(
                        index=len(found),
                        kind="tool",
                        brief=brief,
                        tool=event.tool,
                        input=event.input,
                        result=event.result,
                        writes=event.tool in writing,
                        failed=event.status == "failed",
                        skipped=event.status == "skipped",
                        cached=event.status == "cached",
                    )
                )
            case _:
                pass
    return tuple(found)


async def undo(memory: Memory) -> Exchange | None:
    """Forget the newest exchange and return it; None when there was none."""
    state = await memory.load()
    if not state.recent:
        return None
    await memory.save(replace(state, recent=state.recent[:-1]))
    return state.recent[-1]


async def clear(memory: Memory) -> None:
    """Forget everything of the conversation."""
    await memory.load()
    await memory.save(MemoryState())


def ago(seconds: float) -> str:
    """Return a span of time in its largest unit."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"
