"""Fetches one file: the card's sources in order, one process at a time, verified, then renamed.

Edge: drives the network and the disk through the files beside it. The first source that works is
taken; the hash decides, whatever the source.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from goliath_local.catalogue import local, packages
from goliath_local.catalogue.card import (
    Card,
    FileSource,
    HubSource,
    PackagesSource,
    Pin,
    Source,
    UrlSource,
)
from goliath_local.catalogue.folder import open_folder, path_in, sweep
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.locate import models_dir
from goliath_local.catalogue.lock import one_at_a_time
from goliath_local.catalogue.part import Part, verify_space
from goliath_local.catalogue.progress import (
    Moved,
    PassedOver,
    Report,
    Restarted,
    Trying,
    ignore,
)
from goliath_local.catalogue.record import FOUND_HERE, read_record, remember
from goliath_local.catalogue.verify import verify_file
from goliath_local.errors import BadModelFile, FetchError, HashMismatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.web import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A file that is in its place and is the pinned one."""

    path: Path
    source: str
    """Where it came from, in words."""

    already: bool
    """True when it was there before, and nothing was asked of the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How this fetch goes about it."""

    report: Report
    cancel: CancelToken | None
    pause: Callable[[float], None]


def fetch(
    wanted: Card | Pin,
    folder: Path | None = None,
    *,
    offline: bool = False,
    report: Report = ignore,
    cancel: CancelToken | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Bring a model's file into the models folder, or find that it is there.

    Args:
        wanted: the card, or the pin of a file that no card names.
        folder: the models folder, the user's own by default.
        offline: ask nothing of the network.
        report: called with notes on what happens.
        cancel: looked at with every chunk.
        pause: waits between attempts.

    Raises:
        FetchError: no source worked, the connection broke or the disk is full; what came is kept.
        HashMismatch: twice other bytes came; nothing is in place.
        BadModelFile: something else came, such as a web page; nothing is in place.
    """
    pin = wanted.pin if isinstance(wanted, Card) else wanted
    place = open_folder(models_dir(folder))
    sweep(place)
    way = _Way(report=report, cancel=cancel, pause=pause)
    if there := _already(pin, place, way):
        return there
    if offline and not any(isinstance(source, FileSource) for source in pin.sources):
        msg = f"{pin.name} is not here and offline is set. Run it again without --offline."
        raise FetchError(msg)
    with one_at_a_time(place, pin.file, report=report, cancel=cancel):
        return _already(pin, place, way) or _fetch_new(pin, place, way)


def source_in_words(source: Source) -> str:
    """Return what to call a source."""
    match source:
        case HubSource():
            from goliath_local.catalogue import hub  # brings httpx2, which costs 0.15 s

            return f"the hub ({hub.host()})"
        case PackagesSource(packages=parts):
            many = f"{len(parts)} packages" if len(parts) > 1 else "one package"
            return f"the package index ({many}, through pip)"
        case UrlSource(url=url):
            return urlsplit(url).hostname or "a web address"
        case FileSource(path=path):
            return str(path)
        case _:
            assert_never(source)


def _already(pin: Pin, place: Path, way: _Way) -> Fetched | None:
    """Return the file if it is there; one that nobody has verified yet is verified now."""
    path = path_in(place, pin.file)
    if not path.is_file() or path.stat().st_size != pin.size_bytes:
        return None
    record = read_record(place, pin.file)
    if record is not None and record.sha256 == pin.sha256:
        return Fetched(path=path, source=record.source, already=True)
    verify_file(
        path,
        sha256=pin.sha256,
        moved=lambda done: way.report(
            Moved(done_bytes=done, total_bytes=pin.size_bytes, checking=True)
        ),
        cancel=way.cancel,
    )
    _remember(pin, place, source=FOUND_HERE)
    return Fetched(path=path, source=FOUND_HERE, already=True)


def _fetch_new(pin: Pin, place: Path, way: _Way) -> Fetched:
    part = place / f"{pin.file}.part"
    if not all(_is_link(source) for source in pin.sources):
        verify_space(pin, place, have_bytes=part.stat().st_size if part.exists() else 0)
    failures: list[tuple[str, FetchError | BadModelFile]] = []
    for source in pin.sources:
        words = source_in_words(source)
        way.report(Trying(source=words))
        try:
            _fetch_from(source, pin, place, way)
        except (FetchError, BadModelFile) as error:
            if isinstance(error, FetchError) and error.began:
                raise
            failures.append((words, error))
            way.report(PassedOver(source=words, reason=str(error)))
            continue
        _remember(pin, place, source=words)
        return Fetched(path=place / pin.file, source=words, already=False)
    raise _no_source(pin, failures)


def _no_source(
    pin: Pin, failures: list[tuple[str, FetchError | BadModelFile]]
) -> FetchError | BadModelFile:
    if len(failures) == 1:
        return failures[0][1]
    lines = "\n".join(f"  {words}: {error}" for words, error in failures)
    return FetchError(f"No source gave {pin.name}:\n{lines}\nRun the same command again later.")


def _fetch_from(source: Source, pin: Pin, place: Path, way: _Way) -> None:
    """Fetch from one source; bytes with the wrong hash are fetched once more, from zero.

    A file of this machine has one hash, so only a part that was taken up can have been wrong.
    """
    is_resumed = (place / f"{pin.file}.part").exists()
    try:
        _fetch_once(source, pin, place, way)
    except HashMismatch as error:
        if isinstance(source, FileSource) and not is_resumed:
            raise
        way.report(Restarted(reason=f"its sha256 is {error.actual}, not {error.expected}"))
        _fetch_once(source, pin, place, way)


def _fetch_once(source: Source, pin: Pin, place: Path, way: _Way) -> None:
    if isinstance(source, FileSource) and _is_link(source):
        local.link(source, pin, place)
        return
    part = Part(place, pin, report=way.report)
    try:
        part.open(way.cancel)
        extra_bytes = _extra_bytes(source, pin)
        verify_space(pin, place, have_bytes=part.have_bytes, extra_bytes=extra_bytes)
        _bring(source, part, way)
        if part.is_pinned:
            read_gguf_header(part.path)
        part.finish()
    except BadModelFile:
        part.discard()
        raise
    finally:
        part.close()


def _bring(source: Source, part: Part, way: _Way) -> None:
    match source:
        case HubSource():
            from goliath_local.catalogue import hub

            if hub.is_offline():
                msg = "HF_HUB_OFFLINE is set, so the hub is not asked. Unset it to fetch."
                raise FetchError(msg)
            _download(hub.hub_address(source, name=part.pin.name), part, way)
        case PackagesSource():
            packages.download_packages(source, part, cancel=way.cancel)
        case UrlSource(url=url):
            from goliath_local.catalogue.web import Address

            _download(Address(url=url, host=source_in_words(source)), part, way)
        case FileSource():
            local.copy(source, part, cancel=way.cancel)
        case _:
            assert_never(source)


def _download(address: Address, part: Part, way: _Way) -> None:
    from goliath_local.catalogue.download import download
    from goliath_local.catalogue.web import open_client

    with open_client() as client:
        download(client, address, part, pause=way.pause, cancel=way.cancel)


def _extra_bytes(source: Source, pin: Pin) -> int:
    """Return the room a source needs beside the file: pip holds a wheel twice for a moment."""
    if isinstance(source, PackagesSource):
        return 2 * pin.size_bytes // len(source.packages)
    return 0


def _is_link(source: Source) -> bool:
    return isinstance(source, FileSource) and source.link


def _remember(pin: Pin, place: Path, *, source: str) -> None:
    remember(
        place,
        file=pin.file,
        name=pin.name,
        size_bytes=pin.size_bytes,
        sha256=pin.sha256,
        source=source,
    )
