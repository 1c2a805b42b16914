"""Opening a chat: settings, conversation, model; then `chat_loop` goes on.

Edge.
"""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.cli import talk
from goliath_local.cli.chat_loop import Chat
from goliath_local.cli.confirm import Confirm
from goliath_local.cli.holding import ConversationBusy, Seat
from goliath_local.cli.problems import Interrupted
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.running import usable_tools
from goliath_local.cli.session import Parts
from goliath_local.cli.signals import listening, terminable
from goliath_local.cli.sources import load_fallback
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.memory import sqlite_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.ready import Found, Ready
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a `chat` was told that is not a setting."""

    conversation_id: str | None = None
    new: bool = False
    pull: bool = False


def run_chat(wish: Wish, settings: Settings, terminal: Terminal) -> int:
    """Chat until the user leaves; return the exit code."""
    if settings.json:
        raise ConfigError("chat has no --json. For scripts: goliath-local run --json")
    if wish.new and wish.conversation_id is not None:
        raise ConfigError("-c resumes a conversation, --new begins one. Give one of them.")
    if settings.seed is None:
        settings = dataclasses.replace(settings, seed=secrets.randbits(32))
    tools = usable_tools(settings)
    fallback = load_fallback(settings.fallback)
    if wish.pull:
        from goliath_local.cli.first_model import pull_if_missing

        pull_if_missing(settings, terminal)
    found = find_model(settings)
    return asyncio.run(
        _chat(wish, settings, terminal, found=found, tools=tools, fallback=fallback)
    )


async def _chat(
    wish: Wish,
    settings: Settings,
    terminal: Terminal,
    *,
    found: Found,
    tools: Sequence[Tool],
    fallback: Any,
) -> int:
    store = sqlite_memory(settings.places.conversations)
    chosen = talk.choose_conversation(store, wish.conversation_id, new=wish.new)
    seat = Seat(settings.places.locks)
    with closing(seat), terminable():
        # Not before: a signal while the seat's note is written would leave half of it.
        chosen = _seated(chosen, seat, wish, terminal)
        ready = await _load(found, settings, terminal)
        confirm = Confirm(terminal, allowed=frozenset(settings.allow), tools=tools)
        parts = Parts(
            settings=settings,
            ready=ready,
            tools=tools,
            memory=store,
            fallback=fallback,
            confirm=confirm,
        )
        chat = Chat(parts, terminal, seat, conversation_id=chosen.id)
        try:
            await chat.greet(chosen)
            return await chat.go_on()
        finally:
            await chat.stop_warming()
            ready.close()


def _seated(chosen: talk.Chosen, seat: Seat, wish: Wish, terminal: Terminal) -> talk.Chosen:
    """Open the conversation; one that nobody named gives way to a new one when it is open."""
    try:
        seat.take(chosen.id)
    except ConversationBusy as error:
        if wish.conversation_id is not None:
            raise
        who = error.holder or "another process"
        terminal.complain(f"The last conversation is open in {who}. A new one begins here.")
        chosen = talk.Chosen(id=talk.fresh_id(), is_new=True)
        seat.take(chosen.id)
    return chosen


async def _load(found: Found, settings: Settings, terminal: Terminal) -> Ready:
    cancel = CancelToken()
    with listening(lambda: cancel.cancel("Ctrl-C")):
        terminal.status(f"loading {found.label}")
        try:
            return await load(found, settings, terminal, cancel=cancel)
        except RunCancelled as error:
            raise Interrupted("Interrupted while the model was loading.") from error
        finally:
            terminal.clear_status()
