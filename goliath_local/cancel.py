"""The cancellation token: one flag that everything which may take long looks at."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from goliath_local.errors import RunCancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class CancelToken:
    """Says whether to stop. Safe to cancel from any thread or signal handler."""

    __slots__ = ("_cancelled", "_lock", "_on_cancel", "reason")

    def __init__(self) -> None:
        self._cancelled = False
        # Re-entrant: a signal handler may cancel while the same thread holds the lock.
        self._lock = threading.RLock()
        self._on_cancel: list[Callable[[], None]] = []
        self.reason: str | None = None

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called; never goes back."""
        return self._cancelled

    def cancel(self, reason: str | None = None) -> None:
        """Ask everything that holds this token to stop. Only the first call counts."""
        with self._lock:
            if self._cancelled:
                return
            self._cancelled, self.reason = True, reason
            waiting, self._on_cancel = self._on_cancel, []
        for wake in waiting:
            wake()

    def raise_if_cancelled(self) -> None:
        """Raise `RunCancelled` once cancelled; do nothing before."""
        if self._cancelled:
            raise RunCancelled(self.reason)

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` once on cancellation, at once if that was earlier.

        Returns:
            A function that takes `wake` off again.
        """
        with self._lock:
            if not self._cancelled:
                self._on_cancel.append(wake)
                return lambda: self._forget(wake)
        wake()
        return lambda: None

    def _forget(self, wake: Callable[[], None]) -> None:
        with self._lock:
            if wake in self._on_cancel:
                self._on_cancel.remove(wake)


async def abortable(work: Awaitable[T], cancel: CancelToken | None) -> T:
    """Return what the work gives, and abort it as soon as the token is cancelled.

    Raises:
        RunCancelled: the token was cancelled before the work was done.
    """
    if cancel is None:
        return await work
    try:
        cancel.raise_if_cancelled()
    except RunCancelled:
        if inspect.iscoroutine(work):
            work.close()
        raise
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def abort() -> None:
        loop.call_soon_threadsafe(task.cancel)

    forget = cancel.on_cancel(abort)
    try:
        return await task
    except asyncio.CancelledError:
        # Ours, or of the task that waits here? Only the token's own is the run's to report.
        if cancel.cancelled and task.cancelled():
            raise RunCancelled(cancel.reason) from None
        raise
    finally:
        forget()


GRACE_S = 0.3
"""How long work that was told to stop may take to end by itself, and again to clean up."""


async def awaited(work: Awaitable[T], cancel: CancelToken, *, grace_s: float = GRACE_S) -> T:
    """Return what an application's work gives; once cancelled, wait only a moment more.

    Work that looks at the token ends by itself; other work is cancelled, and work that is deaf to
    that too is left behind, so that nobody waits for it for ever.

    Raises:
        RunCancelled: the token was cancelled, and the work did not end otherwise in time.
    """
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[None] = loop.create_future()
    forget = cancel.on_cancel(lambda: _call_soon(loop, _settle, stop))
    task = asyncio.ensure_future(_held(work))
    either: set[asyncio.Future[Any]] = {task, stop}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=grace_s)
        if not task.done():
            await _leave(task, grace_s=grace_s)
    except asyncio.CancelledError:
        await _leave(task, grace_s=grace_s)
        raise
    finally:
        forget()
    if not task.done() or (task.cancelled() and cancel.cancelled):
        raise RunCancelled(cancel.reason)
    return task.result()()


async def _held(work: Awaitable[T]) -> Callable[[], T]:
    """Return a function that gives, or raises, what came of the work.

    A task that raises one of these two would end the event loop, and with it every other run.
    """
    try:
        value = await work
    except (KeyboardInterrupt, SystemExit) as error:
        return functools.partial(_raise, error)
    return lambda: value


def _raise(error: BaseException) -> NoReturn:
    raise error


async def _leave(task: asyncio.Future[Any], *, grace_s: float) -> None:
    """Cancel the task, give it a moment, and hear nothing more of it."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    task.cancel()
    await asyncio.wait({task}, timeout=grace_s)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _call_soon(
    loop: asyncio.AbstractEventLoop,
    call: Callable[[asyncio.Future[None]], None],
    future: asyncio.Future[None],
) -> None:
    # The loop may be closed by now: then nobody waits.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, future)
