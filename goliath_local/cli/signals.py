"""Signals, while something runs: Ctrl-C asks it to stop, a second one ends the program.

Edge. SIGTERM and SIGHUP end the program the way a cancelled task ends, so that the terminal and
the store are left as they should be.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
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
def listening(on_interrupt: Callable[[], None], *, presses: int = 2) -> Iterator[None]:
    """Call `on_interrupt` at each Ctrl-C; at the last of so many presses leave at once."""
    loop = asyncio.get_running_loop()
    seen = 0

    def interrupt() -> None:
        nonlocal seen
        seen += 1
        if seen >= presses:
            os._exit(128 + signal.SIGINT)
        on_interrupt()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        _unhear(loop, signal.SIGINT)


@contextmanager
def terminable() -> Iterator[None]:
    """Cancel this task at SIGTERM and SIGHUP, so that everything is left as it should be.

    Raises:
        Terminated: one of them came.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    came: list[int] = []

    def terminate(number: int) -> None:
        came.append(number)
        if task is not None:
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, terminate, number)
    try:
        yield
    except asyncio.CancelledError as error:
        if came:
            raise Terminated(128 + came[0]) from error
        raise
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            _unhear(loop, number)


@contextmanager
def stoppable(set_aside: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """At SIGTSTP stop only when the terminal of stdin is in the mode again that it is in now.

    Args:
        set_aside: calls what it is given while nobody reads keys, and shows its line anew then.
    """
    import termios

    loop = asyncio.get_running_loop()
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def stop() -> None:
        reading = termios.tcgetattr(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        # Without a listener the system stops us here, until SIGCONT comes.
        _unhear(loop, signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        listen()
        termios.tcsetattr(terminal, termios.TCSADRAIN, reading)

    def listen() -> None:
        loop.add_signal_handler(signal.SIGTSTP, set_aside, stop)

    listen()
    try:
        yield
    finally:
        _unhear(loop, signal.SIGTSTP)


def _unhear(loop: asyncio.AbstractEventLoop, number: int) -> None:
    with suppress(ValueError, RuntimeError):
        loop.remove_signal_handler(number)
