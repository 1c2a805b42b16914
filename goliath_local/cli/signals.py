"""Signals, while something runs: Ctrl-C asks it to stop, a second one ends the program.

Edge. SIGTERM and SIGHUP end the program the way a cancelled task ends, so that the terminal and
the store are left as they should be.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Terminated(BaseException):
    """SIGTERM or SIGHUP came.

    Attributes:
        code: exit code, 128 and the signal's number.
    """

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


@contextmanager
def listening(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Call `on_interrupt` at the first Ctrl-C; at a second one leave at once.

    Raises:
        Terminated: SIGTERM or SIGHUP came meanwhile.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    seen: list[int] = []

    def interrupt() -> None:
        seen.append(signal.SIGINT)
        if len(seen) > 1:
            os._exit(128 + signal.SIGINT)
        on_interrupt()

    def terminate(number: int) -> None:
        seen.append(number)
        if task is not None:
            task.cancel()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, terminate, number)
    try:
        yield
    except asyncio.CancelledError as error:
        ended = [number for number in seen if number != signal.SIGINT]
        if ended:
            raise Terminated(128 + ended[0]) from error
        raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with suppress(ValueError, RuntimeError):
                loop.remove_signal_handler(number)
