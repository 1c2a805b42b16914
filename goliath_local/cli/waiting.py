"""Waiting for something slow without becoming deaf: threads that keep nothing alive, and stops.

Edge: starts threads.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from goliath_local.errors import RunCancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goliath_local.cancel import CancelToken

T = TypeVar("T")

_GRACE_S = 0.9
"""How long something that was told to stop may take to end; promise 5 gives it a second."""


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run the work in a thread that never keeps the program alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the future is awaited
            _tell(loop, _fail, future, error)
        else:
            _tell(loop, _settle, future, result)

    threading.Thread(target=run, daemon=True).start()
    return future


def _tell(loop: asyncio.AbstractEventLoop, *call: Any) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(*call)


def _settle(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


async def until(work: Awaitable[T], cancel: CancelToken) -> T:
    """Return what the work returns; once cancelled, give it a moment to end and then leave it.

    Raises:
        RunCancelled: the token was cancelled and the work did not end otherwise.
    """
    if cancel.cancelled and inspect.iscoroutine(work):
        work.close()  # it will never be waited for, which Python would remark on
    cancel.raise_if_cancelled()
    loop = asyncio.get_running_loop()
    stop = loop.create_future()
    forget = cancel.on_cancel(lambda: _tell(loop, _settle, stop, None))
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=_GRACE_S)
        if task.done():
            return task.result()
        task.cancel()
    finally:
        forget()
        stop.cancel()
    raise RunCancelled(cancel.reason)
