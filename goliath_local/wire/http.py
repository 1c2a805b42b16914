"""One exchange with a server over HTTP, within limits of time and size. Edge: network.

Nothing is tried twice and no redirect is followed unless asked. The size limit holds for what
comes out of a compressed reply: it is unpacked piece by piece. Messages name the server without
credentials, query or fragment.
"""

from __future__ import annotations

import asyncio
import ipaddress
import zlib
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import httpx2

from goliath_local.errors import HttpError
from goliath_local.wire.secrets import discreet, safe_url

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterator, Mapping

CONNECT_TIMEOUT_S = 10.0
MAX_REDIRECTS = 3
_PIECE_BYTES = 65_536
_WHAT_HAPPENED: tuple[tuple[type[Exception], str], ...] = (
    (httpx2.ConnectTimeout, "it did not answer in time. Is it running?"),
    (httpx2.ConnectError, "it cannot be reached. Is it running, and is the address right?"),
    (httpx2.UnsupportedProtocol, "the address has to start with http:// or https://."),
    (httpx2.InvalidURL, "that is no web address."),
    (httpx2.RemoteProtocolError, "the connection broke, or it does not speak HTTP."),
    (httpx2.TransportError, "the connection broke."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A whole reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@asynccontextmanager
async def http_client(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client for one exchange with the server of the address.

    A proxy of the environment is used, but never for this very machine.
    """
    with told_as_http(url):
        parsed = httpx2.URL(url)
        verify: ssl.SSLContext | bool = _ssl_context() if parsed.scheme == "https" else False
        client = httpx2.AsyncClient(
            verify=verify, trust_env=not _is_this_machine(parsed.host), headers=_headers()
        )
    async with client:
        yield client


async def exchange(
    client: httpx2.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    max_bytes: int,
    timeout_s: float,
    follow_redirects: bool = False,
) -> HttpReply:
    """Send one request and return the whole reply, whatever its status.

    Args:
        client: who sends it; stays open.
        method: `GET` or `POST`.
        url: whom to ask.
        headers: besides the client's own.
        content: the body, if there is one.
        max_bytes: most bytes of the reply, after unpacking.
        timeout_s: most seconds from start to end.
        follow_redirects: follow one that keeps the method and stays on the same origin.

    Raises:
        HttpError: it could not be asked, or its reply is over the limits.
    """
    async with within_time(url, timeout_s):
        for _ in range(MAX_REDIRECTS + 1):
            async with opened(client, method, url, headers=headers, content=content) as response:
                target = _redirect(response) if follow_redirects else None
                if target is None:
                    body = await whole_body(response, max_bytes=max_bytes)
                    return HttpReply(
                        status=response.status_code, headers=response.headers, body=body
                    )
            url = target
    raise HttpError(safe_url(url), f"it redirected more than {MAX_REDIRECTS} times.")


@asynccontextmanager
async def opened(
    client: httpx2.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> AsyncIterator[httpx2.Response]:
    """Send a request and give the response with its body still to come.

    Raises:
        HttpError: it could not be asked, or the connection broke while the body came.
    """
    with told_as_http(url):
        sent = {"accept-encoding": "gzip", **(headers or {})}
        timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
        request = client.build_request(method, url, headers=sent, content=content, timeout=timeout)
        with discreet():
            response = await client.send(request, stream=True, follow_redirects=False)
        try:
            yield response
        finally:
            await response.aclose()


async def whole_body(response: httpx2.Response, *, max_bytes: int) -> bytes:
    """Return the body, unpacked.

    Raises:
        HttpError: it is larger than `max_bytes`, cut short, or packed in an unknown way.
    """
    url = safe_url(str(response.url))
    encoding = response.headers.get("content-encoding", "identity").lower()
    if encoding not in {"identity", "gzip", "deflate", ""}:
        raise HttpError(url, "its reply is packed in a way that was not asked for.")
    # 47: a gzip or zlib header, whichever comes.
    unpack = zlib.decompressobj(47) if encoding in {"gzip", "deflate"} else None
    body = bytearray()
    async for piece in response.aiter_raw(_PIECE_BYTES):
        try:
            body += unpack.decompress(piece, max_bytes + 1 - len(body)) if unpack else piece
        except zlib.error as error:
            raise HttpError(url, "its reply cannot be unpacked.") from error
        if len(body) > max_bytes:
            raise HttpError(url, f"its reply is over {max_bytes:,} bytes.")
    if unpack is not None and not unpack.eof:
        raise HttpError(url, "its reply is cut short.")
    return bytes(body)


@asynccontextmanager
async def within_time(url: str, timeout_s: float) -> AsyncIterator[None]:
    """Allow what is inside this many seconds in all.

    Raises:
        HttpError: the time was over.
    """
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError as error:
        reason = f"there was no whole reply within {timeout_s:g} s."
        raise HttpError(safe_url(url), reason) from error


@contextmanager
def told_as_http(url: str) -> Iterator[None]:
    """Raise what goes wrong on the way as `HttpError`, in words and without secrets."""
    try:
        yield
    except UnicodeEncodeError:
        # Not chained either: it holds the whole header.
        reason = "a header for it has characters outside ASCII. Write the key anew."
        raise HttpError(safe_url(url), reason) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        kinds = (words for kind, words in _WHAT_HAPPENED if isinstance(error, kind))
        reason = next(kinds, f"{type(error).__name__}.")
        # Not chained: the original may show the whole address.
        raise HttpError(safe_url(url), reason) from None


def _redirect(response: httpx2.Response) -> str | None:
    """Return where a redirect leads, None if it is none.

    Raises:
        HttpError: it would leave the origin, or change what is asked.
    """
    if not response.is_redirect:
        return None
    url = response.url
    target = url.join(response.headers["location"])
    same_origin = (target.scheme, target.host, target.port) == (url.scheme, url.host, url.port)
    if response.status_code not in {307, 308} or not same_origin:
        reason = f"it redirects ({response.status_code}) to another place, which is not followed."
        raise HttpError(safe_url(str(url)), reason, status=response.status_code)
    return str(target)


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


@cache
def _headers() -> Mapping[str, str]:
    try:
        name = f"goliath-local/{version('goliath-local')}"
    except PackageNotFoundError:
        name = "goliath-local"
    return {"user-agent": name}
