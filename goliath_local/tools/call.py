"""Running a tool: in time, stoppable, its failures caught.

Edge: the application's own code runs here. Async tools run in the event loop. Plain functions
run in a thread of their own, so that a slow one holds up neither other conversations nor a
time-out; a thread that is given up on ends with its function, and never keeps the program alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import inspect
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import RunCancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goliath_local.cancel import CancelToken
    from goliath_local.tools.tool import Tool, ToolContext

_GRACE_S = 0.5
"""How long a cancelled async tool may take to clean up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What came of a call."""

    output: Any = None
    error: BaseException | None = None
    """What the tool raised, or that it took too long; None when it returned."""

    @property
    def failed(self) -> bool:
        """True when there is no output."""
        return self.error is not None

    @property
    def message(self) -> str:
        """What went wrong, in words; never empty for a failed call."""
        return describe(self.error) if self.error is not None else ""


class ToolTimeout(TimeoutError):
    """A tool took longer than its `timeout_s`."""


async def call_tool(tool: Tool, arguments: Any, context: ToolContext) -> CallResult:
    """Run the tool on its own copy of the arguments.

    Args:
        tool: what to run.
        arguments: validated; the tool may change its copy.
        context: its cancellation token stops the wait at once.

    Raises:
        RunCancelled: the token was cancelled, or the tool raised a cancellation.
    """
    return await run_callable(
        tool.execute,
        _copied(arguments),
        context,
        cancel=context.cancel,
        timeout_s=tool.timeout_s,
    )


async def resolve_input(tool: Tool, arguments: Any, context: ToolContext) -> CallResult:
    """Turn references in the arguments into exact values, the same way a tool is run.

    The output is yet to be validated; without a `resolve_input` it is the arguments.
    """
    if tool.resolve_input is None:
        return CallResult(output=arguments)
    return await run_callable(
        tool.resolve_input,
        _copied(arguments),
        context,
        cancel=context.cancel,
        timeout_s=tool.timeout_s,
    )


async def run_callable(
    function: Callable[..., Any],
    *arguments: Any,
    cancel: CancelToken,
    timeout_s: float | None = None,
) -> CallResult:
    """Run an application's function, sync or async, and return what came of it.

    Raises:
        RunCancelled: the token was cancelled, or the function raised a cancellation.
    """
    cancel.raise_if_cancelled()
    loop = asyncio.get_running_loop()
    work: asyncio.Future[CallResult] = (
        loop.create_task(_awaited(function, arguments))
        if _is_async(function)
        else _in_thread(function, arguments)
    )
    stop = loop.create_future()
    forget = cancel.on_cancel(lambda: _tell(loop, stop, None))
    try:
        await asyncio.wait({work, stop}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if work.cancelled():
            raise RunCancelled("a tool raised a cancellation")
        if work.done():
            return await _followed(work.result(), cancel=cancel, timeout_s=timeout_s)
        await _abandon(work)
    except asyncio.CancelledError:
        work.cancel()
        raise
    finally:
        forget()
    cancel.raise_if_cancelled()
    return CallResult(error=ToolTimeout(f"It did not finish within {timeout_s:g} s."))


def describe(error: BaseException) -> str:
    """Return what the error says, or its name when it says nothing."""
    try:
        return str(error).strip() or type(error).__name__
    except Exception:  # noqa: BLE001 - an error may even fail to say what it is
        return type(error).__name__


async def _followed(
    result: CallResult, *, cancel: CancelToken, timeout_s: float | None
) -> CallResult:
    """Raise cancellations; await what a plain function returned if that can be awaited."""
    if isinstance(result.error, RunCancelled):
        raise result.error
    if isinstance(result.error, asyncio.CancelledError):
        raise RunCancelled(str(result.error) or None) from result.error
    if inspect.isawaitable(result.output):
        awaitable = result.output

        async def wait() -> Any:
            return await awaitable

        return await run_callable(wait, cancel=cancel, timeout_s=timeout_s)
    return result


async def _awaited(
    function: Callable[..., Awaitable[Any]], arguments: tuple[Any, ...]
) -> CallResult:
    try:
        return CallResult(output=await function(*arguments))
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever else a tool raises is its result
        return CallResult(error=error)


def _in_thread(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> asyncio.Future[CallResult]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[CallResult] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = CallResult(output=context.run(_finished, function, arguments))
        except BaseException as error:  # noqa: BLE001 - a thread has nobody to raise it to
            result = CallResult(error=error)
        _tell(loop, future, result)

    threading.Thread(target=work, name=f"tool {function!r:.40}", daemon=True).start()
    return future


def _finished(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    output = function(*arguments)
    # A tool that yields has not done anything yet.
    return list(output) if inspect.isgenerator(output) else output


def _tell(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], value: Any) -> None:
    # The loop may be closed by now: then nobody waits for the value.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, future, value)


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


async def _abandon(work: asyncio.Future[Any]) -> None:
    work.cancel()
    if isinstance(work, asyncio.Task):
        await asyncio.wait({work}, timeout=_GRACE_S)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is looked at, not whether it is there
    )


def _copied(arguments: Any) -> Any:
    try:
        return copy.deepcopy(arguments)
    except Exception:  # noqa: BLE001 - a value that will not be copied is handed over itself
        return arguments
