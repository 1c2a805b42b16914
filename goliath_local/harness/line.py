"""Waiting in line: first come, first served, across event loops and threads."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TypeAlias

_Waiter: TypeAlias = "tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]"


class Line:
    """Lets one in at a time, in the order of arrival.

    `asyncio.Lock` belongs to one event loop; `run_sync` opens a loop for every call, possibly
    from several threads.
    """

    __slots__ = ("_busy", "_lock", "_waiting")

    def __init__(self) -> None:
        self._busy = False
        self._lock = threading.Lock()
        self._waiting: deque[_Waiter] = deque()

    async def enter(self) -> None:
        """Return when it is the caller's turn; `leave` has to follow."""
        with self._lock:
            if not self._busy:
                self._busy = True
                return
            loop = asyncio.get_running_loop()
            waiter = (loop, loop.create_future())
            self._waiting.append(waiter)
        try:
            await waiter[1]
        except BaseException:
            self._give_up(waiter)
            raise

    def leave(self) -> None:
        """Let the next one in."""
        with self._lock:
            while self._waiting:
                loop, turn = self._waiting.popleft()
                if _called(loop, turn):
                    return
            self._busy = False

    def _give_up(self, waiter: _Waiter) -> None:
        with self._lock:
            still_waiting = waiter in self._waiting
            if still_waiting:
                self._waiting.remove(waiter)
        if not still_waiting:
            # It was called in the same moment: pass the turn on.
            self.leave()


def _called(loop: asyncio.AbstractEventLoop, turn: asyncio.Future[None]) -> bool:
    try:
        loop.call_soon_threadsafe(_wake, turn)
    except RuntimeError:
        # Its loop was closed while it waited: nobody is there any more.
        return False
    return True


def _wake(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
