"""One MCP server over stdio: started, asked, ended. Edge: processes, a thread.

A session belongs to the task and the loop that opened it, while the runs of an agent come from
any loop. So each connection has a thread with a loop of its own, in which one task opens the
session, waits to be told to stop, and closes it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from goliath_local.errors import ToolServerError
from goliath_local.wire import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.types import CallToolResult, Tool

    from goliath_local.records import Json

ANSWER_SHARE = 0.4
"""Part of the start that one question may take; a server of the older kind may not answer the
first one, and the second has to have its time too."""

MAX_PAGES = 20
CLOSE_TIMEOUT_S = 8.0
_STDERR_BYTES = 8192
_GUARD = Path(__file__).with_name("guard.py")
# What a session can end with: what it says, what the system says, and both in a group.
_FAILURES = (MCPError, OSError, ValueError, RuntimeError, ExceptionGroup)

# What the library has to tell it tells in its exceptions; its log would go to the terminal.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class LastWords:
    """The end of what a server writes to stderr."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.writing = os.fdopen(writing, "w")
        self._reading = reading
        self._end = b""
        threading.Thread(target=self._listen, daemon=True).start()

    def last_line(self) -> str:
        """Return the last line that says anything, empty if there is none."""
        lines = self._end.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _listen(self) -> None:
        with os.fdopen(self._reading, "rb", buffering=0) as stream:
            while piece := stream.read(_STDERR_BYTES):
                self._end = (self._end + piece)[-_STDERR_BYTES:]


class Connection:
    """A running server.

    Args:
        name: what it is called in messages.
        command: the program and its arguments.
        env: its variables, besides the few that it inherits; no message shows their values.
        cwd: the folder it runs in.
        secrets: texts of the command that no message shows.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        secrets: Sequence[str] = (),
    ) -> None:
        guard = [] if sys.platform == "win32" else [sys.executable, "-I", "-S", str(_GUARD)]
        program, *arguments = [*guard, *command]
        self._parameters = StdioServerParameters(
            command=program, args=arguments, env=dict(env), cwd=cwd
        )
        self.name = name
        self._secrets = (*env.values(), *secrets)
        self._words = LastWords()
        self._opened: Future[tuple[Tool, ...]] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._stop = asyncio.Event()
        self._thread: threading.Thread | None = None

    def open(self, timeout_s: float) -> tuple[Tool, ...]:
        """Start the server and return the tools it offers.

        Raises:
            ToolServerError: it did not start and answer in time.
        """
        self._thread = threading.Thread(
            target=self._run, args=(timeout_s,), name=f"mcp {self.name}", daemon=True
        )
        self._thread.start()
        try:
            return self._opened.result()
        except ToolServerError:
            # Its processes are ended before we say so.
            self._thread.join(CLOSE_TIMEOUT_S)
            raise

    def hidden(self, text: str) -> str:
        """Return the text without what the server was told in confidence."""
        return without_secrets(text, self._secrets)

    def close(self) -> None:
        """End the server and everything it started. Safe to call twice, from any thread."""
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(CLOSE_TIMEOUT_S)

    async def call(
        self, tool: str, arguments: Mapping[str, Json], timeout_s: float
    ) -> CallToolResult:
        """Call a tool and return what it gave, also if that is an error of its own.

        Raises:
            ToolServerError: the server is gone, or did not answer in time or in form.
        """
        if self._loop is None or self._client is None or self._thread is None:
            raise ToolServerError(self.name, "it was not started.")
        if not self._thread.is_alive():
            raise ToolServerError(self.name, "it was closed. Open it again.")
        calling = self._client.call_tool(tool, dict(arguments), read_timeout_seconds=timeout_s)
        asked = asyncio.run_coroutine_threadsafe(calling, self._loop)
        try:
            return await asyncio.wrap_future(asked)
        except _FAILURES as error:
            msg = f"{self.name} {tool}"
            raise ToolServerError(msg, self._why(error)) from error

    def _run(self, timeout_s: float) -> None:
        try:
            asyncio.run(self._keep(timeout_s))
        finally:
            if not self._opened.done():
                self._opened.set_exception(ToolServerError(self.name, "it could not be started."))

    async def _keep(self, timeout_s: float) -> None:
        """Open the session, wait, and close it again; all in this one task."""
        transport = stdio_client(self._parameters, errlog=self._words.writing)
        try:
            with anyio.fail_after(timeout_s) as limit:
                async with Client(
                    transport, read_timeout_seconds=ANSWER_SHARE * timeout_s
                ) as client:
                    tools = await _tools(client)
                    limit.deadline = math.inf
                    self._loop, self._client = asyncio.get_running_loop(), client
                    self._opened.set_result(tools)
                    await self._stop.wait()
        except _FAILURES as error:
            if not self._opened.done():
                self._opened.set_exception(ToolServerError(self.name, self._why(error)))
        finally:
            self._words.writing.close()

    def _why(self, error: BaseException) -> str:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, TimeoutError):
            told = "it did not answer in time."
        else:
            told = f"{str(error) or type(error).__name__}."
        told, words = self.hidden(told), self.hidden(self._words.last_line())
        return f"{told} Its last words: {words[:200]}" if words else f"{told} It said nothing."


async def _tools(client: Client) -> tuple[Tool, ...]:
    """Return every tool on offer, page by page."""
    found: list[Tool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(found)
