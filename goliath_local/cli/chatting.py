"""The chat: messages in, turns out, until the user leaves.

Edge. One `Chat` knows what is going on; slash words and turns act on it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.cli import talk
from goliath_local.cli.chat_facts import figures, headline, resumed
from goliath_local.cli.confirm import Confirm
from goliath_local.cli.outcome import Ended, read_outcome
from goliath_local.cli.probe import first_request
from goliath_local.cli.problems import ExitCode, Interrupted, read_problem
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.running import usable_tools
from goliath_local.cli.session import Asked, Parts, Session, facts
from goliath_local.cli.show import TurnView
from goliath_local.cli.signals import listening, terminable
from goliath_local.cli.sources import load_fallback
from goliath_local.cli.terminal import Styled
from goliath_local.cli.words import Leave, is_word, obey
from goliath_local.errors import ConfigError, GoliathError, RunCancelled
from goliath_local.memory import sqlite_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.reader import Reader
    from goliath_local.cli.ready import Found, Ready
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.show import Steps, Tally
    from goliath_local.cli.terminal import Terminal
    from goliath_local.events import Event
    from goliath_local.harness import ConfirmRequest, RunResult
    from goliath_local.memory import Memory
    from goliath_local.records import StepRecord
    from goliath_local.tools import Tool

_PATIENT_PRESSES = 3
"""Ctrl-C presses within one turn after which the program ends in any case."""


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
    with terminable():
        ready = await _load(found, settings, terminal)
        confirm = Confirm(terminal, allowed=frozenset(settings.allow))
        parts = Parts(
            settings=settings,
            ready=ready,
            tools=tools,
            memory=store,
            fallback=fallback,
            confirm=confirm,
        )
        chat = Chat(parts, terminal, conversation_id=chosen.id)
        try:
            await chat.greet(chosen)
            return await chat.go_on()
        finally:
            await chat.stop_warming()
            ready.close()


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


class Chat:
    """A chat that is going on."""

    def __init__(self, parts: Parts, terminal: Terminal, *, conversation_id: str) -> None:
        self.parts, self.terminal = parts, terminal
        self.session = Session(parts)
        self.conversation_id = conversation_id
        self.steps: Steps = parts.settings.steps
        self.stats = parts.settings.stats
        self.last_steps: Sequence[StepRecord] = ()
        self.last_events: Sequence[Event] = ()
        self._view: TurnView | None = None
        self._warming: asyncio.Task[None] | None = None
        self._needed_yes = False
        parts.confirm.on_ask = self._on_ask

    @property
    def tools(self) -> Sequence[Tool]:
        """What the model can do."""
        return self.parts.tools

    @property
    def memory(self) -> Memory:
        """Of the conversation that is going on."""
        if self.parts.memory is None:
            raise ConfigError("This chat has no memory.")
        return self.parts.memory(self.conversation_id)

    @property
    def tally(self) -> Tally | None:
        """What the last turn cost; None before the first."""
        return self._view.tally if self._view is not None else None

    def go_on_with(self, conversation_id: str) -> None:
        """Go on with another conversation."""
        self.conversation_id = conversation_id
        self.last_steps, self.last_events, self._view = (), (), None

    async def greet(self, chosen: talk.Chosen) -> None:
        """Show what this is, and which conversation goes on."""
        self.terminal.say(Styled(headline(self.parts), "bold"))
        if self.parts.settings.fallback:
            self.terminal.say(f"What fails here is handed to {self.parts.settings.fallback}")
        if self.terminal.can_ask:
            self.terminal.say("Type /help. Ctrl-C stops an answer, Ctrl-D leaves.")
        if chosen.saved_at is not None:
            state = await self.memory.load()
            for line in resumed(chosen, state, now_s=time.time()):
                self.terminal.say(Styled(line, "dim"))
        self.terminal.say()

    async def go_on(self) -> int:
        """Read and answer messages until the user leaves; return the exit code."""
        reader = await self._reader()
        self._warming = asyncio.ensure_future(self._warm())
        while True:
            try:
                text = await reader.read(self._meter())
            except KeyboardInterrupt:
                self.terminal.complain("(Ctrl-D leaves)")
                continue
            except EOFError:
                break
            if not text:
                continue
            try:
                await self._take(text)
            except Leave:
                break
        return ExitCode.NEEDED_A_YES if self._needed_yes else ExitCode.DONE

    async def _reader(self) -> Reader:
        from goliath_local.cli.reader import KeyReader, LineReader

        if not self.terminal.can_ask:
            return LineReader()
        state = await self.memory.load()
        return KeyReader(exchange.ask for exchange in reversed(state.recent))

    async def _take(self, text: str) -> None:
        try:
            if is_word(text):
                await obey(self, text)
            else:
                await self._turn(text.removeprefix("/") if text.startswith("//") else text)
        except GoliathError as error:
            self.terminal.complain(Styled(read_problem(error).message, "red"))

    async def _turn(self, ask: str) -> None:
        cancel = CancelToken()
        view = self._view = TurnView(
            self.terminal,
            steps=self.steps if self.terminal.err_is_tty else "off",
            streaming=True,
            window=self.parts.ready.window,
        )

        def interrupt() -> None:
            if not self.parts.confirm.interrupt():
                cancel.cancel("Ctrl-C")

        asked = Asked(text=ask, cancel=cancel, conversation_id=self.conversation_id)
        with listening(interrupt, presses=_PATIENT_PRESSES):
            try:
                result = await self.session.turn(asked, view)
            except RunCancelled:
                await self._keep(ask, view)
                return
            finally:
                self.last_events = tuple(view.events)
        self.last_steps = result.steps
        self._show(result, view)

    async def _keep(self, ask: str, view: TurnView) -> None:
        partial = view.interrupted()
        writing = {tool.name for tool in self.tools if tool.writes}
        self.last_steps = talk.steps_of(view.events, writing=writing)
        await talk.keep_partial(self.memory, ask, partial, self.last_steps)

    def _show(self, result: RunResult, view: TurnView) -> None:
        view.answer(result.text)
        unanswered, self.parts.confirm.unanswered = self.parts.confirm.unanswered, []
        self._needed_yes |= bool(unanswered)
        outcome = read_outcome(
            Ended(
                text=result.text,
                handled_by=result.handled_by,
                best_effort=result.best_effort,
                events=result.trace,
                needed_yes=unanswered,
                was_cut=view.tally.was_cut,
            )
        )
        # The view has told already why a turn was not finished.
        told = outcome.cure or outcome.note
        if told:
            self.terminal.complain(Styled(f"  {told}", "yellow"))
        if self.session.trace_error is not None:
            self.terminal.complain(f"The trace was not written: {self.session.trace_error}")
        if self.terminal.err_is_tty:
            view.close(place=result.handled_by)
        if self.stats:
            for line in figures(view.tally):
                self.terminal.say(Styled(f"  {line}", "dim"))
        self.terminal.say()

    def _on_ask(self, request: ConfirmRequest) -> None:
        """Complete the step line before a yes is asked for."""
        if self._view is not None:
            self._view.show_call(request.input or {})

    async def stop_warming(self) -> None:
        """Give up evaluating ahead."""
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            with suppress(asyncio.CancelledError):
                await self._warming

    async def _warm(self) -> None:
        """Evaluate what every first question begins with, while the user types."""
        prewarm = getattr(self.parts.ready.model, "prewarm", None)
        if prewarm is None or not self.terminal.can_ask:
            return
        with suppress(GoliathError):
            request = await first_request(
                "",
                self.tools,
                window=self.parts.ready.window,
                max_steps=self.parts.settings.max_steps,
                facts=facts,
            )
            await prewarm([request])

    def _meter(self) -> str:
        if self._view is None:
            return ""
        tally = self._view.tally
        return f"ctx {tally.context_tokens:,}/{tally.window:,}"
