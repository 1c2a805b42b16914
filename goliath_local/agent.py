"""Where the parts meet: `create_agent` checks the options, `Agent` runs turns.

Edge: the clock and the run's identity come from here.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any

from goliath_local.budget import result_budgets
from goliath_local.errors import ConfigError
from goliath_local.extensions import Named, check_extensions
from goliath_local.harness import (
    Confirm,
    Conversations,
    Fallback,
    OnEvent,
    RunOptions,
    Settings,
    TurnStream,
    choose_window,
    deadline,
    is_factory,
    open_turn,
    run_turn,
    tell_failure,
)
from goliath_local.memory import in_memory
from goliath_local.prompts import example_turns, read_example, render
from goliath_local.schema import SchemaSource, declare
from goliath_local.tools import Tool, tools_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goliath_local.cancel import CancelToken
    from goliath_local.harness import Conversation, RunResult, Turn


def create_agent(  # noqa: PLR0913 - one option each, all by keyword
    *,
    model: Any,
    tools: Mapping[str, Tool] | Iterable[Tool] | None = None,
    memory: Any = None,
    fallback: Fallback | None = None,
    confirm: Confirm | None = None,
    window: int | Callable[[], Any] | None = None,
    count_tokens: Callable[[str], Any] | None = None,
    budgets: Mapping[str, int] | None = None,
    max_steps: int = 5,
    instructions: str | None = None,
    facts: Mapping[str, str] | Callable[[], Any] | None = None,
    examples: Sequence[Mapping[str, Any]] = (),
    built_in_examples: bool = True,
    output_schema: SchemaSource = None,
    extensions: Sequence[Named] = (),
    on_event: OnEvent | None = None,
    min_confidence: float | None = None,
    temperature: float = 0.0,
    seed: int | None = None,
    session_probe_after: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Agent:
    """Return an agent.

    Args:
        model: a model, or a function that makes one for every generation; None escalates.
        tools: what it can do, at most about five; keyed by their own names.
        memory: an object with `load` and `save`, which serves the default conversation only, or a
            function (conversation_id) -> memory. Default: in this process, one a conversation.
        fallback: finishes a turn elsewhere; takes the request and, if it wants it, `cancel`.
        confirm: asked before a write runs. Without one, ordinary writes run unasked and tools
            with `requires_confirmation` do not run.
        window: tokens of prompt and reply together, or a function that says so for each turn.
            Default: what the model reports, else 4096.
        count_tokens: counts the tokens of a text. Default: the model's tokenizer, else an
            estimate.
        budgets: `tool_result_tokens` and `retrieved_context_tokens`.
        max_steps: steps of a turn, the closing answer included.
        instructions: one or two sentences, the first line of nearly every prompt.
        facts: what the model should always have, as texts, or a function called once a turn.
        examples: worked plans: `ask` and `steps`, each `{tool, brief}`, the last `{answer}`.
        built_in_examples: False leaves out the package's own worked plans.
        output_schema: a pydantic model, a type or a JSON Schema for the closing answer.
        extensions: objects with a name and hooks, in order.
        on_event: called with every event as it happens.
        min_confidence: turns less sure than this, 0 to 1, are handed over: by the chance that the
            turn is right where that was fitted for the model, else by a plan's least certain
            choice.
        temperature: of the sampling; 0 always takes the likeliest token.
        seed: of the sampling.
        session_probe_after: seconds after which a conversation whose model failed tries it again.
        clock: seconds since the epoch.

    Raises:
        ConfigError: an option is not what it has to be.
        SchemaError: `output_schema` is no schema.
    """
    _verify_steps(max_steps)
    _verify_share(min_confidence)
    if not callable(window):
        known = choose_window(window, None if is_factory(model) else model)
        result_budgets(known.tokens, budgets)
    settings = Settings(
        model=model,
        tools=tools_by_name(tools),
        fallback=fallback,
        confirm=confirm,
        window=window,
        count_tokens=count_tokens,
        budgets=budgets,
        max_steps=max_steps,
        instructions=render("shared.persona") if instructions is None else instructions,
        facts=facts,
        examples=tuple(
            turn
            for source in examples
            for turn in example_turns(read_example(source), max_steps=max_steps)
        ),
        built_in_examples=built_in_examples,
        output=None if output_schema is None else declare(output_schema),
        extensions=check_extensions(extensions),
        on_event=on_event,
        min_confidence=min_confidence,
        temperature=temperature,
        seed=seed,
        session_probe_after=session_probe_after,
        clock=clock,
    )
    return Agent(settings, Conversations((lambda _: in_memory()) if memory is None else memory))


class Agent:
    """Turns asks into answers. Made by `create_agent`."""

    def __init__(self, settings: Settings, conversations: Conversations) -> None:
        self._settings = settings
        self._conversations = conversations

    async def run(
        self,
        ask: str,
        *,
        conversation_id: str | None = None,
        confirm: Confirm | None = None,
        output_schema: SchemaSource = None,
        cancel: CancelToken | None = None,
        on_event: OnEvent | None = None,
        context: Any = None,
        seed: int | None = None,
        timeout_s: float | None = None,
    ) -> RunResult:
        """Run one turn and return its result.

        Args:
            ask: what the user wants, in one text.
            conversation_id: which line of turns this belongs to; None is the default one.
            confirm: replaces the agent's handler for this run.
            output_schema: replaces the agent's schema for this run.
            cancel: stops the run.
            on_event: called after the agent's, with every event of this run.
            context: the application's own data, for tools and hooks, by reference.
            seed: replaces the agent's.
            timeout_s: cancels the run after this time, waiting in line included.

        Raises:
            ConfigError: an option is wrong, or the run would wait for itself.
            RunCancelled: it was cancelled, or ran out of time.
            BudgetError: a prompt was over its limit and extensions are registered.
            ExtensionError: a hook raised or returned what it may not.
            Exception: whatever the application's own memory, confirm, fallback, facts or event
                handler raised.
        """
        options = RunOptions(
            conversation_id=conversation_id,
            confirm=confirm,
            output=None if output_schema is None else declare(output_schema),
            on_event=on_event,
            context=context,
            seed=seed,
        )
        return await self._run(ask, options, cancel=cancel, timeout_s=timeout_s)

    def run_sync(self, ask: str, **options: Any) -> RunResult:
        """Run one turn from code that is not async; takes the options of `run`.

        Raises:
            ConfigError: there is an event loop in this thread already; await `run` there.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(ask, **options))
        raise ConfigError("run_sync was called inside an event loop. Write: await agent.run(...)")

    def stream(
        self,
        ask: str,
        *,
        output_schema: SchemaSource = None,
        cancel: CancelToken | None = None,
        on_event: OnEvent | None = None,
        timeout_s: float | None = None,
        **more: Any,
    ) -> TurnStream:
        """Return the run as an async iterator; takes the options of `run`.

        It yields every event, `TextEvent` for each piece of the answer, and for a structured one
        `FieldEvent` for each finished field. `await stream.result()` gives the result.
        """
        output = None if output_schema is None else declare(output_schema)

        async def run(listen: OnEvent, on_text: Callable[[str], None]) -> RunResult:
            options = RunOptions(
                output=output, on_event=on_event, listen=listen, on_text=on_text, **more
            )
            return await self._run(ask, options, cancel=cancel, timeout_s=timeout_s)

        return TurnStream(run, structured=(output or self._settings.output) is not None)

    @property
    def context_window(self) -> int:
        """Tokens of the window: of the last turn, or as configured or reported."""
        conversation = self._conversations.find(None)
        if conversation is not None and conversation.window is not None:
            return conversation.window.tokens
        given = self._settings.window
        return choose_window(
            None if callable(given) else given, self._settings.lasting_model
        ).tokens

    @property
    def session_fallback(self) -> bool:
        """True when the default conversation has given up on the device."""
        return self.is_session_fallback()

    def is_session_fallback(self, conversation_id: str | None = None) -> bool:
        """Return whether the conversation has given up on the device."""
        found = self._conversations.find(conversation_id)
        return found is not None and found.in_fallback

    def reset_session_fallback(self, conversation_id: str | None = None) -> None:
        """Trust the device again in this conversation."""
        found = self._conversations.find(conversation_id)
        if found is not None:
            found.reset()

    def forget(self, conversation_id: str | None = None) -> None:
        """Drop what this process knows of the conversation; stored data stays."""
        self._conversations.forget(conversation_id)

    async def _run(
        self,
        ask: Any,
        options: RunOptions,
        *,
        cancel: CancelToken | None,
        timeout_s: float | None,
    ) -> RunResult:
        if not isinstance(ask, str):
            message = f"The ask is {type(ask).__name__}. Give one text."
            raise ConfigError(message)
        conversation = await self._conversations.open(options.conversation_id)
        async with deadline(cancel, timeout_s) as token:
            turn = open_turn(
                ask,
                options,
                settings=self._settings,
                conversation=conversation,
                cancel=token,
                run_id=uuid.uuid4().hex,
            )
            return await self._in_line(turn, conversation)

    async def _in_line(self, turn: Turn, conversation: Conversation) -> RunResult:
        try:
            await conversation.line.enter()
        except asyncio.CancelledError as error:
            await tell_failure(turn, error)
            raise
        with conversation.occupied():
            result = await run_turn(turn)
            if result.stopped is None and not turn.skipped_device:
                conversation.note_health(result.trace, now=self._settings.clock())
            return result


def _verify_steps(max_steps: Any) -> None:
    whole = isinstance(max_steps, int) and not isinstance(max_steps, bool)
    if not whole or max_steps < 0:
        message = f"max_steps is {max_steps!r}. Write a whole number, 0 or more."
        raise ConfigError(message)


def _verify_share(least: Any) -> None:
    if least is not None and not (isinstance(least, int | float) and 0 <= least <= 1):
        message = f"min_confidence is {least!r}. Write a share from 0 to 1, or leave it out."
        raise ConfigError(message)
