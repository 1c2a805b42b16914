"""One question to a web server: who we say we are, redirects, and failures in our words.

Edge: the network, through httpx2. A token goes to the address it belongs to and never to where
that redirects; nobody is followed from https to http.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx2

from goliath_local.catalogue.locate import APP
from goliath_local.errors import FetchError
from goliath_local.wire import discreet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_HOPS = 5
_TIMEOUT = httpx2.Timeout(30.0, connect=5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a file is asked for, and how its refusals are put into words."""

    url: str
    host: str
    """For messages."""

    token: str | None = None
    """Sent to this address only: never to where it redirects."""

    refusal: Callable[[int, str], str | None] = lambda _status, _code: None
    """Status and the hub's error code → the message of a 401, 403 or 404."""


class Broken(Exception):
    """An attempt failed in a way that a later one may not."""

    def __init__(self, reason: str, *, pause_s: float = 0.0, connected: bool = True) -> None:
        super().__init__(reason)
        self.pause_s = pause_s
        self.connected = connected


def open_client(timeout: httpx2.Timeout = _TIMEOUT) -> httpx2.Client:
    """Return a client that says who we are and nothing else; proxies come from the environment."""
    headers = {
        "User-Agent": f"{APP}/{importlib.metadata.version(APP)}",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
    }
    return httpx2.Client(timeout=timeout, headers=headers, follow_redirects=False)


@contextlib.contextmanager
def ask(
    client: httpx2.Client, address: Address, extra: Mapping[str, str], *, method: str = "GET"
) -> Iterator[httpx2.Response]:
    """Send the request, following redirects without the token, and close what comes.

    Args:
        client: from `open_client`.
        address: whom to ask.
        extra: more headers.
        method: of the request.

    Raises:
        FetchError: it redirects too often, or to where we do not go.
    """
    url, token = address.url, address.token
    for _ in range(_HOPS):
        headers = dict(extra)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        request = client.build_request(method, url, headers=headers)
        with discreet():  # where it redirects may be good for one download
            response = client.send(request, stream=True)
        try:
            if not response.is_redirect:
                yield response
                return
            url, token = _next_hop(response, url, address.host), None
        finally:
            response.close()
    msg = f"{address.host} redirects more than {_HOPS} times. Try again later."
    raise FetchError(msg)


def ask_size(address: Address) -> int:
    """Return how large the file at an address is, in bytes, as the server says.

    Raises:
        FetchError: it does not answer, refuses, or does not say.
    """
    try:
        with translated(), open_client() as client, ask(client, address, {}, method="HEAD") as got:
            status, size = got.status_code, got.headers.get("Content-Length", "")
    except Broken as error:
        msg = f"{address.host} did not say how large the file is: {error}. Try again later."
        raise FetchError(msg) from error
    if status != 200 or not size.isdigit() or int(size) == 0:
        msg = f"{address.host} answered {status} and no size. Look at the address."
        raise FetchError(msg)
    return int(size)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn the client's errors into ours, without addresses that may hold secrets."""
    try:
        yield
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
        msg = f"it does not answer ({_said(error)})"
        raise Broken(msg, connected=False) from error
    except httpx2.TimeoutException as error:
        raise Broken("it fell silent") from error
    except (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError) as error:
        raise Broken("the connection was cut") from error
    except httpx2.InvalidURL as error:
        msg = "The address is not one that can be asked. Correct it."
        raise FetchError(msg) from error


def _next_hop(response: httpx2.Response, url: str, host: str) -> str:
    target = urljoin(url, response.headers.get("Location", ""))
    before, after = urlsplit(url), urlsplit(target)
    is_sound = after.scheme in {"http", "https"} and after.hostname and after.username is None
    if not is_sound or (before.scheme == "https" and after.scheme != "https"):
        msg = f"{host} redirects to an address that is not https. It was not followed."
        raise FetchError(msg)
    return target


def _said(error: Exception) -> str:
    words = re.sub(r"\[[^\]]*\]\s*", "", str(error)).strip().rstrip(".")
    return words[:120] or type(error).__name__
