"""The cancellation token of a run: the caller's own, or one that also ends with its time.

Edge: the event loop's timer.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from goliath_local.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def deadline(
    cancel: CancelToken | None, timeout_s: float | None
) -> AsyncIterator[CancelToken]:
    """Give the token of the run: the caller's own, or one that also ends when time is up."""
    if timeout_s is None:
        yield cancel or CancelToken()
        return
    token = CancelToken()
    forget = cancel.on_cancel(lambda: token.cancel(cancel.reason)) if cancel else lambda: None
    reason = f"it took longer than {timeout_s:g} s"
    timer = asyncio.get_running_loop().call_later(timeout_s, token.cancel, reason)
    try:
        yield token
    finally:
        timer.cancel()
        forget()
