"""Calls into the application, which may answer at once or later, or never."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar, cast

from goliath_local.cancel import GRACE_S, awaited

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from goliath_local.cancel import CancelToken

T = TypeVar("T")


async def settle(
    value: Awaitable[T] | T, cancel: CancelToken | None = None, *, grace_s: float = GRACE_S
) -> T:
    """Return the value, awaited when it has to be.

    Args:
        value: what the application returned.
        cancel: once it is cancelled, nobody waits for the value any longer.
        grace_s: but for this moment.

    Raises:
        RunCancelled: the token was cancelled before the value was there.
    """
    if not inspect.isawaitable(value):
        return value
    if cancel is None:
        return await value
    return cast("T", await awaited(value, cancel, grace_s=grace_s))
