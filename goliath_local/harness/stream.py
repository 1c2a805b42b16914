"""A run as it happens: events, pieces of the answer, and fields of a structured one.

Edge: a task of its own runs the turn. Leaving the iteration early cancels the run.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.events import Event, FieldEvent, RetryEvent, TextEvent
from goliath_local.harness.fields import FieldReader
from goliath_local.model import Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from goliath_local.harness.result import RunResult

StreamItem: TypeAlias = Event | TextEvent | FieldEvent
Run: TypeAlias = "Callable[[Callable[[Event], None], Callable[[str], None]], Awaitable[RunResult]]"
"""Runs the turn with a listener for events and one for pieces of the answer."""


class TurnStream:
    """Iterate over it for what happens; await `result()` for what came of it.

    The run starts with the first of the two. An error of the run is raised by both.
    """

    def __init__(self, run: Run, *, structured: bool) -> None:
        self._run = run
        self._structured = structured
        self._fields = FieldReader()
        self._items: asyncio.Queue[StreamItem | None] = asyncio.Queue()
        self._task: asyncio.Task[RunResult] | None = None

    async def __aiter__(self) -> AsyncIterator[StreamItem]:
        task = self._started()
        try:
            while (item := await self._items.get()) is not None:
                yield item
            await task
        finally:
            await self.aclose()

    async def result(self) -> RunResult:
        """Return the result of the run, waiting for its end."""
        return await self._started()

    async def aclose(self) -> None:
        """Cancel the run if it is still going, and wait until it has stopped."""
        if self._task is None or self._task.done():
            return
        self._task.cancel()
        await asyncio.wait({self._task})

    def _started(self) -> asyncio.Task[RunResult]:
        if self._task is None:
            self._loop = asyncio.get_running_loop()
            self._thread = threading.get_ident()
            self._task = asyncio.ensure_future(self._whole())
        return self._task

    async def _whole(self) -> RunResult:
        try:
            return await self._run(self._take_event, self._take_text)
        finally:
            self._put(None)

    def _take_event(self, event: Event) -> None:
        if isinstance(event, RetryEvent) and event.stage == Stage.ANSWER:
            self._fields = FieldReader()
        self._put(event)

    def _take_text(self, piece: str) -> None:
        # A model may write from a thread of its own.
        if threading.get_ident() == self._thread:
            self._show(piece)
        else:
            self._loop.call_soon_threadsafe(self._show, piece)

    def _show(self, piece: str) -> None:
        self._put(TextEvent(text=piece))
        if self._structured:
            for name, value in self._fields.feed(piece):
                self._put(FieldEvent(name=name, value=value))

    def _put(self, item: StreamItem | None) -> None:
        self._items.put_nowait(item)
