"""Where an OpenAI-compatible server is. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import httpx2

from goliath_local.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The two places of a server that are asked."""

    api: str
    """Where the OpenAI-compatible paths begin, such as `http://localhost:8080/v1`."""

    server: str
    """Where the server's own paths begin, such as `http://localhost:8080`."""


def read_address(base_url: str) -> Address:
    """Return where a server is asked: below the given path, or below `/v1` if it has none.

    Raises:
        ConfigError: it is no http or https address, or has a query or fragment.
    """
    try:
        url = httpx2.URL(base_url.strip())
    except (httpx2.InvalidURL, TypeError, AttributeError):
        url = httpx2.URL("")
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment:
        raise ConfigError(
            "base_url is not the address of a server. Write for example http://localhost:8080."
        )
    base = str(url).rstrip("/")
    if url.path.rstrip("/") == "":
        base += "/v1"
    return Address(api=base, server=base.removesuffix("/v1"))
