"""The model hub: addresses, token, refusals in words, and a quick look whether it answers.

Edge: reads the environment (`HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE`) and asks the network.
huggingface-hub knows how an address is built and where a token lies; the transfer is ours, so
that nothing about this machine is said (its client would name other software here).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from goliath_local.catalogue.web import Address, open_client
from goliath_local.errors import ConfigError, FetchError

if TYPE_CHECKING:
    from goliath_local.catalogue.card import HubSource

DEFAULT_ENDPOINT = "https://huggingface.co"
_PROBE_TIMEOUT = httpx2.Timeout(3.0)
_TRUE = {"1", "on", "yes", "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """What the hub says of one file."""

    revision: str
    size_bytes: int
    sha256: str
    """Empty when the hub does not keep one for it."""


def is_offline() -> bool:
    """Say whether the hub is not to be asked."""
    return os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in _TRUE


def endpoint() -> str:
    """Return the hub's address: `HF_ENDPOINT`, or the public one.

    Raises:
        ConfigError: `HF_ENDPOINT` is not a web address.
    """
    value = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or DEFAULT_ENDPOINT
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        msg = "HF_ENDPOINT is not a web address. Set it like https://huggingface.co, or unset it."
        raise ConfigError(msg)
    return value


def host() -> str:
    """Return the hub's host, for messages."""
    return urlsplit(endpoint()).hostname or ""


def hub_address(source: HubSource, *, name: str) -> Address:
    """Return where a hub source is asked for.

    Args:
        source: repository, revision and file.
        name: what the user pulls, for the command in a refusal.
    """
    token = _read_token()
    return Address(
        url=_url(source),
        host=host(),
        token=token,
        refusal=lambda status, code: refusal(
            status, code, source=source, name=name, has_token=token is not None
        ),
    )


def refusal(
    status: int, code: str, *, source: HubSource, name: str, has_token: bool
) -> str | None:
    """Return what to tell about a 401, 403 or 404; None for anything else.

    Args:
        status: of the reply.
        code: the hub's own word for it, may be empty.
        source: what was asked for.
        name: what the user pulls.
        has_token: whether a token was sent.
    """
    repository, base = source.repository, endpoint()
    shown = f"{status}, {code}" if code else str(status)
    if status == 404:
        return (
            f"{host()} has no {source.file} in {repository} at {source.revision[:12]} ({shown}). "
            "Look at the names, or take another model: goliath-local models list --all"
        )
    if status not in {401, 403}:
        return None
    first = f"{host()} does not give {repository} to everyone ({shown})."
    second = f"Sign in and accept its terms at {base}/{repository}"
    if has_token:
        third = "Then check that the token in HF_TOKEN may read it, and run it again."
    else:
        third = (
            f"Then make a token at {base}/settings/tokens and run: "
            f"HF_TOKEN=... goliath-local models pull {name}"
        )
    return f"{first}\n{second}\n{third}"


def look_up(source: HubSource, *, name: str) -> HubFile:
    """Return revision, size and hash of a hub file, as the hub states them.

    Raises:
        FetchError: the hub does not answer, refuses, or does not say.
    """
    address = hub_address(source, name=name)
    try:
        with open_client() as client:
            response = client.head(address.url, headers=_authorization(address.token))
    except httpx2.HTTPError as error:
        msg = f"{address.host} does not answer. Look at the connection and try again."
        raise FetchError(msg) from error
    status, headers = response.status_code, response.headers
    if status >= 400:
        code = re.sub(r"[^A-Za-z]", "", headers.get("X-Error-Code", ""))[:40]
        told = address.refusal(status, code)
        raise FetchError(told or f"{address.host} answered {status}. Try again later.")
    size = headers.get("X-Linked-Size") or headers.get("Content-Length") or ""
    etag = (headers.get("X-Linked-ETag") or headers.get("ETag") or "").strip('"')
    commit = headers.get("X-Repo-Commit", source.revision)
    if not size.isdigit() or not re.fullmatch(r"[0-9a-f]{40}", commit):
        msg = f"{address.host} does not say which version of {source.file} it has. Try a commit."
        raise FetchError(msg)
    sha256 = etag if re.fullmatch(r"[0-9a-f]{64}", etag) else ""
    return HubFile(revision=commit, size_bytes=int(size), sha256=sha256)


def why_not(source: HubSource) -> str | None:
    """Return why the hub would not give a file now, or None when it would. At most 3 s."""
    if is_offline():
        return "HF_HUB_OFFLINE is set"
    try:
        with open_client(_PROBE_TIMEOUT) as client:
            response = client.head(_url(source), headers=_authorization(_read_token()))
    except httpx2.HTTPError:
        return f"{host()} does not answer"
    if response.status_code >= 400:
        return f"{host()} answers {response.status_code}"
    return None


def _url(source: HubSource) -> str:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub import hf_hub_url  # takes 0.2 s, so only when the hub is asked

    return hf_hub_url(
        source.repository, source.file, revision=source.revision, endpoint=endpoint()
    )


def _read_token() -> str | None:
    """Return the user's token from the environment, or from where the hub's own login keeps it."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if token := os.environ.get(name, "").strip():
            return token
    from huggingface_hub.constants import HF_TOKEN_PATH

    try:
        return Path(HF_TOKEN_PATH).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _authorization(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}
