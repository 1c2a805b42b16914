"""What a turn knows while it runs: the one value of the harness that changes.

The records in it are frozen and replaced, never edited.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from goliath_local.budget import (
    ESTIMATE,
    Counter,
    ResultBudgets,
    Window,
    choose_counter,
    result_budgets,
)
from goliath_local.events import AnswerEvent, EscalateEvent
from goliath_local.extensions import Chain, Decided, Origin, Patch, Show, ToolInfo, copied, settle
from goliath_local.harness.result import RunResult
from goliath_local.model import Finish, Usage
from goliath_local.records import MemoryState, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.cancel import CancelToken
    from goliath_local.events import Event
    from goliath_local.harness.conversation import Conversation
    from goliath_local.harness.settings import RunOptions, Settings
    from goliath_local.records import Place, Plan, StepRecord, Stopped, Want
    from goliath_local.schema import Declared

V = TypeVar("V")


@dataclass(slots=True, kw_only=True)
class Turn:
    """One ask on its way to an answer."""

    settings: Settings
    options: RunOptions
    conversation: Conversation
    run_id: str
    cancel: CancelToken
    chain: Chain
    ask: str
    instructions: str
    facts: dict[str, str] = field(default_factory=dict)
    window: Window = field(default_factory=Window)
    counter: Counter = ESTIMATE
    """Who counts results between two model calls; the last model, if it can."""

    original: MemoryState = field(default_factory=MemoryState)
    """Memory as it was loaded; what is saved grows from this."""

    view: MemoryState = field(default_factory=MemoryState)
    """Memory as prompts show it, after `after_recall`."""

    steps: list[StepRecord] = field(default_factory=list)
    trace: list[Event] = field(default_factory=list)
    goal: Plan | None = None
    """What is to be done once what it needs first has been looked up."""

    alike: tuple[str, ...] = ()
    """What the entries are called of which the last one skipped could mean any."""

    want: Want | None = None
    """What the ask wants, as the first plan says."""

    widened: str | None = None
    """The lookup that is to be made once more, without what narrowed it."""

    nearly: str | None = None
    """The lookup that the first plan almost named instead of the one it named."""

    fit: dict[str, float] = field(default_factory=dict)
    """How much more probable the ask is for a tool than for any, in nats; of those weighed."""

    handled_by: Place = "device"
    is_noted: bool = False
    """True while memory holds a note of this turn, for the case that the process ends."""

    skipped_device: bool = False
    """True for a turn of a conversation in session fallback."""

    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"
    blamed: tuple[BaseException, Origin] | None = None
    """The error that ends the run, and whose code it came from."""

    @property
    def output(self) -> Declared | None:
        """The schema of the answer, if one was asked for."""
        return self.options.output or self.settings.output

    @property
    def seed(self) -> int | None:
        """The seed of this run's sampling."""
        return self.settings.seed if self.options.seed is None else self.options.seed

    @property
    def budgets(self) -> ResultBudgets:
        """How much tools in content mode may show."""
        return result_budgets(self.window.tokens, self.settings.budgets)

    @property
    def reason(self) -> Reason | None:
        """Why the turn left the normal path last, if it did."""
        found = [event.reason for event in self.trace if isinstance(event, EscalateEvent)]
        return found[-1] if found else None

    @property
    def confidence(self) -> float | None:
        """The chance that the answer given is right, where that was fitted for the model."""
        found = [event.confidence for event in self.trace if isinstance(event, AnswerEvent)]
        return found[-1] if found else None

    def shown_steps(self) -> tuple[StepRecord, ...]:
        """Return copies of the records so far, for hooks."""
        return copied(tuple(self.steps))

    async def fold(self, phase: str, value: V, *, show: Show[V], patch: Patch[V]) -> V | Decided:
        """Return the value as the hooks of this phase leave it, or the first decision."""
        with self.blame("extension"):
            return await self.chain.fold(phase, value, show=show, patch=patch)

    def tool_infos(self, names: tuple[str, ...]) -> tuple[ToolInfo, ...]:
        """Return what hooks may know of these tools."""
        tools = (self.settings.tools[name] for name in names)
        return tuple(
            ToolInfo(name=tool.name, description=tool.description, writes=tool.writes)
            for tool in tools
        )

    def milliseconds_since(self, started_at: float) -> float:
        """Return the time since a reading of the clock, never negative."""
        return max(0.0, (self.settings.clock() - started_at) * 1000)

    async def emit(self, event: Event) -> None:
        """Add the event to the trace and hand copies to the handlers, the agent's first."""
        self.trace.append(event)
        with self.blame("event"):
            options = self.options
            for handler in (self.settings.on_event, options.on_event, options.listen):
                if handler is not None:
                    await settle(handler(copy.deepcopy(event)))

    @contextmanager
    def blame(self, origin: Origin) -> Iterator[None]:
        """Note whose code an error comes from; the innermost note counts."""
        try:
            yield
        except BaseException as error:
            if self.blamed is None or self.blamed[0] is not error:
                self.blamed = (error, origin)
            raise

    def result(
        self,
        text: str,
        *,
        output: Any = None,
        best_effort: bool = False,
        stopped: Stopped | None = None,
    ) -> RunResult:
        """Return what the run returns, from where the turn stands."""
        return RunResult(
            text=text,
            output=output,
            handled_by=self.handled_by,
            best_effort=best_effort,
            steps=tuple(self.steps),
            trace=tuple(self.trace),
            stopped=stopped,
            confidence=self.confidence,
            reason=self.reason,
            usage=self.usage,
            finish_reason=self.finish,
            seed=self.seed,
            run_id=self.run_id,
        )


def open_turn(
    ask: str,
    options: RunOptions,
    *,
    settings: Settings,
    conversation: Conversation,
    cancel: CancelToken,
    run_id: str,
) -> Turn:
    """Return the turn as it waits to begin."""
    chain = Chain(
        settings.extensions,
        run_id=run_id,
        conversation_id=options.conversation_id,
        context=options.context,
        cancel=cancel,
    )
    return Turn(
        settings=settings,
        options=options,
        conversation=conversation,
        run_id=run_id,
        cancel=cancel,
        chain=chain,
        ask=ask,
        instructions=settings.instructions,
        counter=choose_counter(settings.lasting_model),
    )
