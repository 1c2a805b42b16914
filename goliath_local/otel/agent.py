"""An agent whose turns are reported as spans. Edge: runs the agent it wraps."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from opentelemetry.trace import TracerProvider

    from goliath_local.otel.spans import TurnSpans


def traced(
    agent: Any,
    *,
    name: str = "goliath-local",
    model: str | None = None,
    provider: str = "llama.cpp",
    content: bool = False,
    tracer_provider: TracerProvider | None = None,
) -> TracedAgent:
    """Return the agent with every turn reported as spans.

    Args:
        agent: what `create_agent` returned.
        name: `gen_ai.agent.name`.
        model: `gen_ai.request.model`, since an event does not name it.
        provider: `gen_ai.provider.name`.
        content: put asks, answers, arguments and results of tools into the spans too.
        tracer_provider: in place of the global one.

    Raises:
        ConfigError: the `otel` extra is missing.
    """
    try:
        from opentelemetry import trace

        # Here and not above: the room can be looked at without the extra.
        from goliath_local.otel.spans import About, TurnSpans
    except ModuleNotFoundError as error:
        message = "Spans need an extra: pip install 'goliath-local[otel]'."
        raise ConfigError(message) from error
    common = {"gen_ai.provider.name": provider} | (
        {"gen_ai.request.model": model} if model else {}
    )
    tracer = trace.get_tracer("goliath_local", tracer_provider=tracer_provider)
    about = About(tracer=tracer, name=name, model=model, common=common, content=content)

    def begin(ask: str, options: dict[str, Any]) -> TurnSpans:
        return TurnSpans(about, ask, options)

    return TracedAgent(agent, begin)


class TracedAgent:
    """An agent whose turns are reported; everything else it is asked goes to the agent itself."""

    def __init__(self, agent: Any, begin: Callable[[str, dict[str, Any]], TurnSpans]) -> None:
        self._agent, self._begin = agent, begin

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    async def run(self, ask: str, **options: Any) -> Any:
        """Run one turn; takes the options of `Agent.run`."""
        turn = self._begin(ask, options)
        options["on_event"] = turn.listener(options.get("on_event"))
        with turn.current():
            try:
                result = await self._agent.run(ask, **options)
            except BaseException as error:
                turn.failed(error)
                raise
        turn.finished(result)
        return result

    def run_sync(self, ask: str, **options: Any) -> Any:
        """Run one turn from code that is not async; takes the options of `Agent.run`."""
        turn = self._begin(ask, options)
        options["on_event"] = turn.listener(options.get("on_event"))
        with turn.current():
            try:
                result = self._agent.run_sync(ask, **options)
            except BaseException as error:
                turn.failed(error)
                raise
        turn.finished(result)
        return result

    def stream(self, ask: str, **options: Any) -> TracedStream:
        """Return the run as an async iterator; takes the options of `Agent.stream`."""
        turn = self._begin(ask, options)
        options["on_event"] = turn.listener(options.get("on_event"))
        return TracedStream(self._agent.stream(ask, **options), turn)


class TracedStream:
    """A `TurnStream` whose turn is reported."""

    def __init__(self, stream: Any, turn: TurnSpans) -> None:
        self._stream, self._turn = stream, turn
        self._task: asyncio.Task[Any] | None = None

    async def __aiter__(self) -> AsyncIterator[Any]:
        task = self._started()
        try:
            async for item in self._stream:
                yield item
        finally:
            await self._stream.aclose()
            # The iteration raises what the run raised; here it only has to be over.
            with suppress(Exception, asyncio.CancelledError):
                await task

    async def result(self) -> Any:
        """Return the result of the run, waiting for its end."""
        return await self._started()

    async def aclose(self) -> None:
        """Cancel the run if it is still going, and wait until it has stopped."""
        await self._stream.aclose()

    def _started(self) -> asyncio.Task[Any]:
        if self._task is None:
            # The task takes the context along, so spans of tools find their place.
            with self._turn.current():
                self._task = asyncio.ensure_future(self._reported())
        return self._task

    async def _reported(self) -> Any:
        try:
            result = await self._stream.result()
        except BaseException as error:
            self._turn.failed(error)
            raise
        self._turn.finished(result)
        return result
