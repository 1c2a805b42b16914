"""Keys and passwords, and the texts that must not hold them.

Pure but for `discreet`, which keeps them out of the HTTP library's log: that names every address
in full. A server, or a tool server, may repeat the key that it was sent; so what it says passes
`without_secrets` before it becomes a message.
"""

from __future__ import annotations

import logging
from base64 import b64encode
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

import httpx2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HIDDEN: Final = "[hidden]"
SHORTEST: Final = 6
"""Characters of the shortest text that is hidden: `1`, `true` and `debug` say nothing."""

_PUBLIC_HEADERS: Final = {"content-type", "accept", "accept-encoding", "user-agent"}
_LOGS: Final = ("httpx2", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy")
_is_ours: ContextVar[bool] = ContextVar("goliath_local_is_ours", default=False)


def safe_url(url: str) -> str:
    """Return the address for a message: no credentials, query or fragment."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "the given address"
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{host}{port}{parsed.path}"


def secrets_of(url: str, headers: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return what of an address and its headers is nobody else's business.

    That is every header's value, with and without its scheme, and what stands in the address
    before the host and behind the question mark.
    """
    found: list[str] = []
    for name, value in (headers or {}).items():
        if name.lower() not in _PUBLIC_HEADERS:
            found += [value, value.rpartition(" ")[2]]
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return tuple(found)
    if parsed.username or parsed.password:
        pair = f"{parsed.username}:{parsed.password}"
        found += [pair, parsed.password, b64encode(pair.encode()).decode()]
    found += [value for _, value in parsed.params.multi_items()]
    return tuple(found)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text with `[hidden]` for each secret in it, the longest first."""
    for secret in sorted({one for one in secrets if len(one) >= SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


@contextmanager
def discreet() -> Iterator[None]:
    """Keep addresses and replies' headers of what is sent here out of the library's log."""
    token = _is_ours.set(True)
    try:
        yield
    finally:
        _is_ours.reset(token)


def _is_fit_for_a_log(record: logging.LogRecord) -> bool:
    if not _is_ours.get():
        return True
    if isinstance(record.args, tuple):
        record.args = tuple(
            safe_url(str(value)) if isinstance(value, httpx2.URL) else value
            for value in record.args
        )
    # Headers of a reply: cookies, and addresses that are good for one download.
    return "return_value=" not in str(record.msg)


for _name in _LOGS:
    logging.getLogger(_name).addFilter(_is_fit_for_a_log)
