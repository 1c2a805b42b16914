"""An agent at work for the command line: one model, one set of tools, many turns, each traced.

Edge. It puts the parts together and passes what happens on: to the view, to the trace.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.agent import create_agent
from goliath_local.cli.ids import new_id
from goliath_local.cli.recorder import Watch, shown_prompt, watched
from goliath_local.cli.shortened import outputs_json, shortened_results
from goliath_local.cli.terminal import prints_to_stderr
from goliath_local.cli.tracefile import TraceFile, sweep
from goliath_local.cli.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goliath_local.agent import Agent
    from goliath_local.cancel import CancelToken
    from goliath_local.cli.confirm import Confirm
    from goliath_local.cli.ready import Ready
    from goliath_local.cli.settings import Settings
    from goliath_local.cli.show import TurnView
    from goliath_local.events import Event
    from goliath_local.harness import RunResult
    from goliath_local.memory import MemoryFactory
    from goliath_local.model import Reply, Request
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an agent is put together from."""

    settings: Settings
    ready: Ready
    tools: Sequence[Tool]
    memory: MemoryFactory | None
    fallback: Any
    confirm: Confirm


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One ask, and how its turn is to run."""

    text: str
    cancel: CancelToken
    conversation_id: str | None = None
    output_schema: Any = None


class Session:
    """The agent, and the turn that is running."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._view: TurnView | None = None
        self._trace: TraceFile | None = None
        self._loop = asyncio.get_running_loop()
        self._on_event: Callable[[Event], None] = lambda _: None
        self.trace_id: str | None = None
        """Of the latest turn; None when nothing is traced."""

        watch = Watch(
            clock=time.monotonic, on_call=self._on_call, on_answer_text=self._on_answer_text
        )
        self.agent: Agent = create_agent(
            model=watched(parts.ready.model, watch),
            tools=list(parts.tools),
            memory=parts.memory,
            fallback=parts.fallback,
            confirm=parts.confirm,
            window=parts.ready.window,
            max_steps=parts.settings.max_steps,
            facts=facts,
        )

    async def turn(
        self, asked: Asked, view: TurnView, *, on_event: Callable[[Event], None] | None = None
    ) -> RunResult:
        """Run one turn to its end.

        Args:
            asked: the ask.
            view: shows it while it runs.
            on_event: told of every event too.

        Raises:
            RunCancelled: the ask's token was cancelled.
        """
        self._view, self._on_event = view, on_event or (lambda _: None)
        self._trace = self._open_trace(asked)
        try:
            running = self.agent.run(
                asked.text,
                conversation_id=asked.conversation_id,
                output_schema=asked.output_schema,
                cancel=asked.cancel,
                on_event=self._handle,
            )
            with prints_to_stderr():
                result = await until(running, asked.cancel)
        except BaseException as error:
            view.abandon()
            self._note_end({"error": f"{type(error).__name__}: {error}"})
            raise
        self._note_end(_ending(result))
        return result

    @property
    def trace_error(self) -> OSError | None:
        """Why the latest turn could not be traced; None when it was."""
        return self._trace.error if self._trace is not None else None

    def _open_trace(self, asked: Asked) -> TraceFile | None:
        settings, ready = self.parts.settings, self.parts.ready
        if not settings.trace:
            return None
        folder = settings.places.traces
        sweep(folder, days=settings.trace_days)
        self.trace_id = new_id(now_s=time.time(), chance=secrets.randbits(80))
        trace = TraceFile(folder, self.trace_id)
        trace.turn(
            {
                "at": round(time.time() * 1000),
                "ask": asked.text,
                "conversation": asked.conversation_id,
                "model": {"name": ready.name, "sha256": ready.sha256},
                "window": ready.window,
                "threads": ready.threads,
                "seed": settings.seed,
                "tools": [tool.name for tool in self.parts.tools],
            }
        )
        return trace

    def _handle(self, event: Event) -> None:
        if self._trace is not None:
            self._trace.event(event)
        if self._view is not None:
            self._view.handle(event)
        self._on_event(event)

    def _on_call(self, request: Request, came: Reply | BaseException, seconds: float) -> None:
        if self._trace is not None:
            prompt = shown_prompt(self.parts.ready.model, request)
            self._trace.call(request, came, seconds, prompt)

    def _on_answer_text(self, piece: str) -> None:
        self._loop.call_soon_threadsafe(self._show_piece, piece)

    def _show_piece(self, piece: str) -> None:
        if self._view is not None:
            self._view.text(piece)

    def _note_end(self, facts: Mapping[str, Any]) -> None:
        if self._trace is not None:
            self._trace.result(dict(facts))


def facts() -> dict[str, str]:
    """Return what the model always has: the date."""
    return {"today": time.strftime("%A %Y-%m-%d")}


def _ending(result: RunResult) -> dict[str, Any]:
    outputs = outputs_json(shortened_results(result.steps))
    return ({"outputs": outputs} if outputs else {}) | {
        "text": result.text,
        "handledBy": result.handled_by,
        "bestEffort": result.best_effort,
        "reason": result.reason.value if result.reason else None,
        "finish": result.finish_reason,
    }
