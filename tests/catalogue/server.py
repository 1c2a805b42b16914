"""A web server that serves one file, honestly or in one of many dishonest ways."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = Callable[["Handler"], None]


@dataclass(frozen=True)
class Seen:
    """One request, as it came."""

    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Place:
    """What is served, how, and what was asked and sent."""

    content: bytes
    replies: list[Reply] = field(default_factory=list)
    """Taken in order by the GETs; the last one stays. None: honest."""

    seen: list[Seen] = field(default_factory=list)
    sent_bytes: int = 0
    head: Reply | None = None
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()}"'

    def gets(self) -> list[Seen]:
        return [request for request in self.seen if request.method == "GET"]

    def ranges(self) -> list[str | None]:
        return [request.headers.get("range") for request in self.gets()]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    place: Place

    def do_GET(self) -> None:
        self._note()
        replies = self.place.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0] if replies else honest
        with contextlib.suppress(ConnectionError):
            reply(self)

    def do_HEAD(self) -> None:
        self._note()
        if self.place.head is not None:
            self.place.head(self)
            return
        self.start(200, len(self.place.content))

    def _note(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.place.seen.append(Seen(self.command, self.path, headers))

    def start(self, status: int, length: int | None, **headers: str) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()
        self.place.sent_bytes += len(data)

    def wanted(self) -> int:
        """First byte asked for; 0 when the condition on the version does not hold."""
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if found is None or self.headers.get("If-Range", self.place.etag) != self.place.etag:
            return 0
        return int(found[1])

    def begin_honestly(self, content: bytes) -> int:
        first = self.wanted()
        if first:
            last, total = len(content) - 1, len(content)
            self.start(
                206,
                total - first,
                ETag=self.place.etag,
                Content_Range=f"bytes {first}-{last}/{total}",
            )
        else:
            self.start(200, len(content), ETag=self.place.etag)
        return first

    def log_message(self, *_: object) -> None:
        pass


def honest(handler: Handler) -> None:
    content = handler.place.content
    handler.send(content[handler.begin_honestly(content) :])


def cut_at(byte: int) -> Reply:
    """Promise everything and hang up at that byte of the file."""

    def reply(handler: Handler) -> None:
        content = handler.place.content
        first = handler.begin_honestly(content)
        handler.send(content[first:byte])
        handler.close_connection = True

    return reply


def flipped(byte: int) -> Reply:
    """One bit of the file is another."""

    def reply(handler: Handler) -> None:
        content = bytearray(handler.place.content)
        content[byte] ^= 1
        handler.send(bytes(content[handler.begin_honestly(bytes(content)) :]))

    return reply


def ignores_range(handler: Handler) -> None:
    handler.start(200, len(handler.place.content), ETag=handler.place.etag)
    handler.send(handler.place.content)


def another_range(handler: Handler) -> None:
    """Answer with a range nobody asked for."""
    content = handler.place.content
    first = handler.wanted()
    if not first:
        honest(handler)
        return
    handler.start(
        206, len(content) - 1, Content_Range=f"bytes 1-{len(content) - 1}/{len(content)}"
    )
    handler.send(content[1:])


def right_range_wrong_bytes(handler: Handler) -> None:
    """Say it is the wanted range, and send the file's beginning."""
    content = handler.place.content
    first = handler.begin_honestly(content)
    handler.send(content[: len(content) - first])


def page(handler: Handler) -> None:
    body = b"<html><body>Please log in.</body></html>"
    handler.start(200, len(body), Content_Type="text/html")
    handler.send(body)


def empty(handler: Handler) -> None:
    handler.start(200, 0)


def says_smaller(handler: Handler) -> None:
    handler.start(200, len(handler.place.content) - 7)
    handler.send(handler.place.content[:-7])


def longer(handler: Handler) -> None:
    """Without a length, more than the file."""
    handler.start(200, None)
    handler.send(handler.place.content + b"and more")


def shorter(handler: Handler) -> None:
    """Without a length, less than the file."""
    handler.start(200, None)
    handler.send(handler.place.content[:1000])


def zipped(handler: Handler) -> None:
    handler.start(200, len(handler.place.content), Content_Encoding="gzip")
    handler.send(handler.place.content)


def status(code: int, **headers: str) -> Reply:
    def reply(handler: Handler) -> None:
        handler.start(code, 0, **headers)

    return reply


def redirect(target: str, code: int = 302) -> Reply:
    return status(code, Location=target)


def silent(seconds: float) -> Reply:
    def reply(handler: Handler) -> None:
        handler.start(200, len(handler.place.content))
        time.sleep(seconds)

    return reply


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hung up is what many tests are about."""


@contextlib.contextmanager
def serving(content: bytes, *replies: Reply) -> Iterator[Place]:
    """Serve the content on a free port of this machine."""
    place = Place(content=content, replies=list(replies))
    handler = type("Bound", (Handler,), {"place": place})
    server = Server(("127.0.0.1", 0), handler)
    place.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
