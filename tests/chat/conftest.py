"""A real pseudo-terminal with a terminal emulator behind it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pexpect
import pyte
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COLUMNS, ROWS = 100, 50


class Screen:
    """What a person sees of a program, and what they type."""

    def __init__(self, command: str, *arguments: str, columns: int = COLUMNS) -> None:
        # The emulator does not answer questions about the cursor.
        environ = os.environ | {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm-256color"}
        self.child = pexpect.spawn(
            command, list(arguments), dimensions=(ROWS, columns), env=environ, timeout=600
        )
        self.emulator = pyte.HistoryScreen(columns, ROWS, history=5000)
        self._stream = pyte.ByteStream(self.emulator)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.emulator.display).rstrip()

    def wait_for(self, text: str, *, times: int = 1, timeout: float = 600) -> None:
        """Read until the text is on the screen that many times."""
        end = time.monotonic() + timeout
        while self.text.count(text) < times:
            if time.monotonic() > end or not self._read(0.2):
                if self.text.count(text) >= times:
                    return
                pytest.fail(f"{text!r} did not come. The screen:\n{self.text}")

    def settle(self, seconds: float = 0.3) -> None:
        """Read for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._read(0.05):
            pass

    def type(self, text: str) -> None:
        self.child.send(text)

    def paste(self, text: str) -> None:
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, *, columns: int) -> None:
        """Make the window narrower or wider; the program is told by SIGWINCH."""
        self.child.setwinsize(ROWS, columns)
        self.emulator.resize(ROWS, columns)

    def interrupt(self) -> float:
        """Press Ctrl-C; return when."""
        self.child.sendcontrol("c")
        return time.monotonic()

    def end(self, timeout: float = 600) -> int:
        """Wait for the program's end; return its exit code."""
        stop = time.monotonic() + timeout
        while self._read(0.2):
            if time.monotonic() > stop:
                pytest.fail(f"It did not end. The screen:\n{self.text}")
        self.child.close()
        if self.child.signalstatus:
            return -self.child.signalstatus
        return int(self.child.exitstatus or 0)

    def _read(self, timeout: float) -> bool:
        try:
            self._stream.feed(self.child.read_nonblocking(1 << 16, timeout=timeout))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True


@pytest.fixture
def spawn(home: Path) -> Iterator[Callable[..., Screen]]:
    """Start `goliath-local` in a terminal of its own."""
    started: list[Screen] = []

    def start(*arguments: str, **options: int) -> Screen:
        screen = Screen(sys.executable, "-m", "goliath_local", *arguments, **options)
        started.append(screen)
        return screen

    yield start
    for screen in started:
        screen.child.close(force=True)


@pytest.fixture
def spawn_shell(home: Path) -> Iterator[Callable[[str], Screen]]:
    """Start a shell line in a terminal of its own; `goliath-local` stands for the command."""
    started: list[Screen] = []

    def start(line: str) -> Screen:
        line = line.replace("goliath-local", f"{sys.executable} -m goliath_local")
        screen = Screen("/bin/bash", "-c", line)
        started.append(screen)
        return screen

    yield start
    for screen in started:
        screen.child.close(force=True)
