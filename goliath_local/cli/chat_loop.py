"""The chat that is going on: messages in, turns out, until the user leaves.

Edge. One `Chat` knows what is going on; slash words and turns act on it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from goliath_local.cancel import CancelToken
from goliath_local.cli import talk
from goliath_local.cli.chat_facts import figures, handed_over, headline, resumed
from goliath_local.cli.outcome import Ended, read_outcome
from goliath_local.cli.probe import opening_requests
from goliath_local.cli.problems import ExitCode, read_problem
from goliath_local.cli.session import Asked, Parts, Session, facts
from goliath_local.cli.shortened import shortened_results
from goliath_local.cli.show import TurnView
from goliath_local.cli.signals import listening
from goliath_local.cli.terminal import Styled
from goliath_local.cli.words import Leave, is_word, obey
from goliath_local.errors import ConfigError, GoliathError, RunCancelled
from goliath_local.harness import scoring_of
from goliath_local.model import ScoringModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.holding import Seat
    from goliath_local.cli.reader import Reader
    from goliath_local.cli.show import Steps, Tally
    from goliath_local.cli.terminal import Terminal
    from goliath_local.events import Event
    from goliath_local.harness import ConfirmRequest, RunResult
    from goliath_local.memory import Memory
    from goliath_local.records import StepRecord
    from goliath_local.tools import Tool

_PATIENT_PRESSES = 3
"""Ctrl-C presses within one turn after which the program ends in any case."""


class Chat:
    """A chat that is going on."""

    def __init__(
        self, parts: Parts, terminal: Terminal, seat: Seat, *, conversation_id: str
    ) -> None:
        self.parts, self.terminal, self._seat = parts, terminal, seat
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
        """Go on with another conversation.

        Raises:
            ConversationBusy: it is open in another process; this one goes on.
        """
        self._seat.take(conversation_id)
        self.conversation_id = conversation_id
        self.last_steps, self.last_events, self._view = (), (), None

    async def greet(self, chosen: talk.Chosen) -> None:
        """Show what this is, and which conversation goes on."""
        self.terminal.say(Styled(headline(self.parts), "bold"))
        if self.parts.settings.fallback:
            self.terminal.say(f"What fails here is handed to {self.parts.settings.shown_fallback}")
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
        for one in shortened_results(result.steps):
            self.terminal.say(Styled(f"  {one.words}", "dim"))
        for line in handed_over(result, self.parts.settings.shown_fallback):
            self.terminal.complain(Styled(f"  {line}", "yellow"))
        if outcome.left_to_say:
            self.terminal.complain(Styled(f"  {outcome.left_to_say}", "yellow"))
        if self.session.trace_error is not None:
            self.terminal.complain(
                f"The trace was not written: {read_problem(self.session.trace_error).message}"
            )
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
        """Give up evaluating ahead, at the end of the chat."""
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            await asyncio.wait([self._warming])  # whatever it ends by, the chat ends as it would

    async def _warm(self) -> None:
        """Evaluate what the questions of a turn begin with, while the user types.

        A turn that begins meanwhile waits for the one in hand: the plan's, which it needs, or one
        that it likely needs later.
        """
        model = self.parts.ready.model
        prewarm = getattr(model, "prewarm", None)
        if prewarm is None or not self.terminal.can_ask:
            return
        with suppress(GoliathError):
            opening = await opening_requests(
                self.tools,
                model=model,
                window=self.parts.ready.window,
                max_steps=self.parts.settings.max_steps,
                facts=facts,
            )
            for request in opening:
                if self._view is None:
                    await prewarm([request])
            if self._view is None and self.tools and isinstance(model, ScoringModel):
                await model.score(scoring_of("?", ["?"]))

    def _meter(self) -> str:
        if self._view is None:
            return ""
        tally = self._view.tally
        return f"ctx {tally.context_tokens:,}/{tally.window:,}"
