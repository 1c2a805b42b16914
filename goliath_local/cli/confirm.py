"""Asking a person for a yes to exactly one call.

Edge: reads one line from the terminal. What is shown comes from `rendered`, framed so that a
long value cannot imitate the frame; anything but a clear yes is a no.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goliath_local.cli.preview import preview_lines, previewed
from goliath_local.cli.rendered import rendered_call
from goliath_local.cli.terminal import Styled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goliath_local.cli.terminal import Terminal
    from goliath_local.harness import ConfirmRequest
    from goliath_local.tools import Tool

Answer: TypeAlias = Literal["yes", "no", "always", "why"]

_ANSWERS: dict[str, Answer] = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "a": "always",
    "always": "always",
    "w": "why",
    "why": "why",
}
CHOICES = "[y] yes  [n] no  [a] always, this conversation  [w] why ? "


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What wants a yes."""

    tool: str
    arguments: dict[str, Any]


def read_answer(line: str) -> Answer:
    """Return what the line says; everything that is not clear is a no."""
    return _ANSWERS.get(line.strip(" \t\r\n").casefold(), "no")


def framed(call: Call, columns: int) -> list[str]:
    """Return the box around a call, without its last line, which asks."""
    head, *arguments = rendered_call(call.tool, call.arguments)
    if len(arguments) == 1 and len(head) + len(arguments[0]) + 8 < columns:
        head, arguments = f"{head}  {arguments[0]}", []
    inner = max(20, columns - 8)
    lines = [
        *_wrapped(head, inner),
        *(f"  {p}" for a in arguments for p in _wrapped(a, inner - 2)),
    ]
    return ["    ┌ wants to change something", *(f"    │ {line}" for line in lines)]


def _wrapped(text: str, columns: int) -> list[str]:
    pieces = textwrap.wrap(
        text,
        columns,
        subsequent_indent="    ",
        drop_whitespace=False,
        replace_whitespace=False,
        break_on_hyphens=False,
    )
    return pieces or [""]


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class Confirm:
    """The confirm handler of a terminal; remembers what was allowed for good."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        allowed: frozenset[str],
        allow_all: bool = False,
        on_ask: Callable[[ConfirmRequest], None] = lambda _: None,
        tools: Iterable[Tool] = (),
    ) -> None:
        self._terminal = terminal
        self._tools = {tool.name: tool for tool in tools}
        self.on_ask = on_ask
        """Told of each call before its box is shown."""

        self._allowed, self._allow_all = set(allowed), allow_all
        self._waiting: asyncio.Future[None] | None = None
        self._was_interrupted = False
        self.unanswered: list[str] = []
        """Tools that needed a yes while nobody could give one."""

    async def __call__(self, request: ConfirmRequest) -> bool:
        """Return whether the call may run."""
        if self._allow_all or request.tool in self._allowed:
            return True
        if not self._terminal.can_ask:
            self.unanswered.append(request.tool)
            return False
        self.on_ask(request)
        call = Call(tool=request.tool, arguments=dict(request.input or {}))
        columns = min(self._terminal.columns, 100)
        for line in framed(call, columns):
            self._terminal.complain(Styled(line, "yellow"))
        changes = await previewed(self._tools.get(call.tool), call.arguments)
        if changes is not None:
            for styled in preview_lines(changes, columns):
                self._terminal.complain(styled)
        return await self._asked(request)

    def interrupt(self) -> bool:
        """Answer the open question with a no; False when none is open."""
        if self._waiting is None or self._waiting.done():
            return False
        self._was_interrupted = True
        self._waiting.set_result(None)
        return True

    async def _asked(self, request: ConfirmRequest) -> bool:
        while True:
            self._terminal.complain(Styled("    └ ", "yellow"), CHOICES, end="")
            answer = read_answer(await self._line())
            if answer != "why":
                break
            self._terminal.complain("      ", request.why or request.brief)
        if answer == "always":
            self._allowed.add(request.tool)
        return answer in {"yes", "always"}

    async def _line(self) -> str:
        """Return the next line typed after this call; empty at the end of input.

        What was typed before the question was asked does not answer it.
        """
        descriptor = sys.stdin.fileno()
        with suppress(termios.error, OSError):
            termios.tcflush(descriptor, termios.TCIFLUSH)
        loop = asyncio.get_running_loop()
        self._was_interrupted = False
        self._waiting = waiting = loop.create_future()
        loop.add_reader(descriptor, _settle, waiting)
        try:
            await waiting
        finally:
            self._waiting = None
            loop.remove_reader(descriptor)
        if self._was_interrupted:
            self._terminal.complain()
            return ""
        return os.read(descriptor, 4096).decode("utf-8", "replace")
