"""A server on this very machine that answers as a test wants it to, byte by byte."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Loopback:
    """The server: where it is, what it was asked, how many connections are open."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    open_connections: int = 0
    broken_off: int = 0
    """Answers that were still being written when the client went away."""


Answer: TypeAlias = "Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]"


async def reply(
    out: asyncio.StreamWriter,
    body: bytes | str | dict[str, Any] | list[Any] = b"",
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Write a whole, well-formed answer."""
    if isinstance(body, dict | list):
        body = json.dumps(body)
    body = body.encode() if isinstance(body, str) else body
    lines = {"content-length": str(len(body)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    out.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
    await out.drain()


async def stream(out: asyncio.StreamWriter, *events: str, pause_s: float = 0.0) -> None:
    """Write server-sent events, with a pause after each, and close."""
    out.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    for event in events:
        out.write(f"data: {event}\n\n".encode())
        await out.drain()
        await asyncio.sleep(pause_s)
    out.close()


@asynccontextmanager
async def loopback(answer: Answer, *, port: int = 0) -> AsyncIterator[Loopback]:
    """Serve with the given answer; what still runs at the end is cancelled."""
    running: set[asyncio.Task[Any]] = set()

    async def serve(incoming: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        server.open_connections += 1
        try:
            while (asked := await _read(incoming)) is not None:
                server.asked.append(asked)
                await answer(asked, out)
        except (ConnectionError, asyncio.CancelledError):
            server.broken_off += 1
        finally:
            server.open_connections -= 1
            running.discard(task)
            out.close()
            with suppress(ConnectionError):
                await out.wait_closed()

    listening = await asyncio.start_server(serve, "127.0.0.1", port)
    server = Loopback(url=f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    try:
        yield server
    finally:
        listening.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        with suppress(ConnectionError):
            await listening.wait_closed()


async def _read(incoming: asyncio.StreamReader) -> Asked | None:
    try:
        head = await incoming.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await incoming.readexactly(int(headers.get("content-length", "0")))
    return Asked(method=method, path=path, headers=headers, body=body)
