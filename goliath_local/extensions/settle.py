"""Calls into the application, which may answer at once or later."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable

T = TypeVar("T")


async def settle(value: Awaitable[T] | T) -> T:
    """Return the value, awaited when it has to be."""
    if inspect.isawaitable(value):
        return cast("T", await value)
    return value
