"""What `models pull` was asked for, made into something that can be fetched.

Edge: looks at the disk, and asks a web server how large a file is. A name is a card's; `hf:` is a
file of the hub; an address needs its hash beside it; a path is a file of this machine.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from goliath_local.catalogue.card import Card, FileSource, HubSource, Pin, UrlSource
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.locate import cards, find_card
from goliath_local.catalogue.manifest import is_plain_file_name
from goliath_local.catalogue.verify import hash_file
from goliath_local.errors import ConfigError, FetchError
from goliath_local.typed_paths import typed_path

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.catalogue.card import Source

_HUB = re.compile(
    r"hf:(?P<repository>\w[\w.-]{0,95}/\w[\w.-]{0,95})"
    r"/(?P<file>\w[\w.-]*(/\w[\w.-]*)*)@(?P<revision>\w[\w.-]{0,63})"
)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def read_target(
    text: str, *, sha256: str | None = None, link: bool = False, offline: bool = False
) -> Card | Pin:
    """Return what a word on the command line asks for.

    Args:
        text: a card's name, `hf:OWNER/REPO/FILE@REV`, an address, or a path.
        sha256: the expected hash; an address needs it.
        link: point at a local file in place of copying it.
        offline: ask nothing of the network.

    Raises:
        ConfigError: it is none of these, or something is missing.
        NoModel: no card has that name.
        FetchError: a server does not say how large its file is, or offline is set.
    """
    if sha256 is not None and not _SHA256.fullmatch(sha256.lower()):
        msg = f"--sha256 takes 64 hex digits, and {sha256!r} has {len(sha256)} characters."
        raise ConfigError(msg)
    sha256 = sha256.lower() if sha256 else None
    is_address = re.match(r"[a-z]+://", text) is not None
    if offline and (is_address or text.startswith("hf:")):
        msg = "Offline is set, so nothing is fetched. Run it again without --offline."
        raise FetchError(msg)
    if text.startswith("hf:"):
        return _hub_pin(text, sha256)
    if is_address:
        return _address_pin(text, sha256)
    if text.endswith(".gguf") or "/" in text or link:
        return _file_pin(typed_path(text), sha256, link=link)
    return find_card(text)


def _hub_pin(text: str, sha256: str | None) -> Pin:
    from goliath_local.catalogue import hub  # brings httpx2, which costs 0.15 s

    found = _HUB.fullmatch(text)
    if found is None:
        msg = f"{text!r} is not of the form hf:OWNER/REPO/FILE@REVISION. Name all four."
        raise ConfigError(msg)
    asked = HubSource(
        repository=found["repository"], revision=found["revision"], file=found["file"]
    )
    file = _plain(found["file"].rpartition("/")[2])
    stated = hub.look_up(asked, name=text)
    expected = sha256 or stated.sha256
    if not expected:
        msg = f"The hub states no sha256 for {file}. Add it with --sha256."
        raise ConfigError(msg)
    source = HubSource(repository=asked.repository, revision=stated.revision, file=asked.file)
    return _pin(file, stated.size_bytes, expected, source)


def _address_pin(text: str, sha256: str | None) -> Pin:
    from goliath_local.catalogue import web

    if sha256 is None:
        msg = "An address needs the file's hash beside it: --sha256 followed by 64 hex digits."
        raise ConfigError(msg)
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        msg = "The address holds a user name or a password. Give it without."
        raise ConfigError(msg)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname)):
        msg = f"{parts.scheme}:// is not fetched from. Give an https:// address."
        raise ConfigError(msg)
    file = _plain(unquote(parts.path.rpartition("/")[2]))
    size = web.ask_size(web.Address(url=text, host=parts.hostname or ""))
    return _pin(file, size, sha256, UrlSource(url=text))


def _file_pin(path: Path, sha256: str | None, *, link: bool) -> Pin:
    header = read_gguf_header(path)  # raises unless it is a sound model
    actual = hash_file(path).hexdigest()
    source = FileSource(path=path.resolve(), link=link)
    for card in cards():
        if card.sha256 == actual:
            return Pin(
                name=card.name,
                file=card.file,
                size_bytes=card.size_bytes,
                sha256=card.sha256,
                sources=(source,),
            )
    return _pin(_plain(path.name), header.file_bytes, sha256 or actual, source)


def _pin(file: str, size_bytes: int, sha256: str, source: Source) -> Pin:
    taken = {card.file.casefold(): card for card in cards()}
    card = taken.get(file.casefold())
    if card is not None and card.sha256 != sha256:
        msg = f"{file} is the name of {card.name}'s file, and this is another. Rename it first."
        raise ConfigError(msg)
    name = card.name if card else file.removesuffix(".gguf")
    return Pin(name=name, file=file, size_bytes=size_bytes, sha256=sha256, sources=(source,))


def _plain(file: str) -> str:
    if not file.endswith(".gguf") or not is_plain_file_name(file):
        msg = f"{file!r} is not a plain file name that ends in .gguf. Rename the file."
        raise ConfigError(msg)
    return file


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
