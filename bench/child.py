"""A child process that is spoken to in lines of JSON. Edge.

Every engine that is not ours runs in one: two builds of llama.cpp in one process would be asking
for trouble, and memory is told apart.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, Self

from bench.answers import Failed
from bench.subject import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType


class Child:
    """A running child; a context manager that ends it.

    Args:
        command: what to start, in the repository's folder.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.started = time.perf_counter()
        # A file, not a pipe: a pipe that nobody empties would hold up a talkative child.
        self._remarks = tempfile.TemporaryFile(  # noqa: SIM115 - closed with the child
            "w+", encoding="utf-8", errors="replace"
        )
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._remarks,
            text=True,
            cwd=ROOT,
        )
        self._peak_bytes = 0

    def say(self, value: object) -> None:
        """Send one line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise Failed(self._last_words()) from error

    def hear(self) -> Any:
        """Return the next line's value.

        Raises:
            Failed: the child ended, or says that it failed.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._last_words())
        value = json.loads(line)
        if isinstance(value, dict) and "error" in value:
            raise Failed(str(value["error"]))
        return value

    @property
    def peak_bytes(self) -> int:
        """The most memory it had so far, where the system tells."""
        try:
            with open(f"/proc/{self._process.pid}/status", encoding="ascii") as status:  # noqa: PTH123
                peaks = [int(text.split()[1]) for text in status if text.startswith("VmHWM")]
        except (OSError, ValueError):
            peaks = []
        self._peak_bytes = max([self._peak_bytes, *(peak * 1024 for peak in peaks)])
        return self._peak_bytes

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._remarks):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _last_words(self) -> str:
        self._process.wait(timeout=30)
        self._remarks.seek(0)
        lines = [line for line in self._remarks.read().splitlines() if line.strip()]
        return lines[-1] if lines else f"it ended with code {self._process.returncode}"


def own_python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of ours in this very Python."""
    return [sys.executable, "-m", module, *arguments]
