"""Where cards and weights lie.

Edge: disk. The models folder holds for each model `FILE`, its record `FILE.json`, and while it
is being fetched `FILE.part` with `FILE.part.json`. The check at each start is cheap: it compares
sizes and hashes nothing.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from goliath_local.catalogue.folder import path_in
from goliath_local.catalogue.manifest import read_manifest
from goliath_local.catalogue.progress import amount
from goliath_local.catalogue.record import FOUND_HERE, read_record, records, remember
from goliath_local.catalogue.verify import verify_file
from goliath_local.errors import BadModelFile, ConfigError, NoModel
from goliath_local.typed_paths import is_file, is_there, typed_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.catalogue.card import Card

APP = "goliath-local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A model file that is there, and the card it belongs to, if any."""

    name: str
    path: Path
    card: Card | None


@lru_cache(maxsize=1)
def cards() -> tuple[Card, ...]:
    """Return the catalogue, the default first, then by size, the tests' model last."""
    found = [
        read_manifest(path.read_text(encoding="utf-8"), where=path.name)
        for path in sorted(_manifests().glob("*.toml"))
    ]
    rank = {"default": 0, "general": 1, "tests": 2}
    found.sort(key=lambda card: (rank[card.role], -card.size_bytes))
    _verify_distinct(found)
    return tuple(found)


def find_card(name: str) -> Card:
    """Return the card of that name.

    Raises:
        NoModel: there is none; the message names the nearest.
    """
    for card in cards():
        if card.name == name:
            return card
    raise NoModel(_unknown(name, [card.name for card in cards()]))


def models_dir(explicit: Path | None = None) -> Path:
    """Return the models folder: the given one, else `GOLIATH_MODELS_DIR`, else the user's own."""
    if explicit is not None:
        return typed_path(explicit)
    if configured := os.environ.get("GOLIATH_MODELS_DIR"):
        return typed_path(configured)
    return platformdirs.user_data_path(APP, appauthor=False) / "models"


def installed_path(card: Card, folder: Path | None = None) -> Path | None:
    """Return the card's file, or None when it is not installed. Looks at the size, hashes nothing.

    Raises:
        BadModelFile: it is there, but not of the card's size.
    """
    path = path_in(models_dir(folder), card.file)
    if not path.exists():
        return None
    verify_size(path, expected_bytes=card.size_bytes)
    return path


def verify_size(path: Path, *, expected_bytes: int) -> None:
    """Raise unless the path is a file of the expected size: the cheap check of each start.

    Raises:
        BadModelFile: it is not.
    """
    if not path.is_file():
        raise BadModelFile(path, "is not a file. Move it away and pull the model again.")
    actual = path.stat().st_size
    if actual != expected_bytes:
        raise BadModelFile(
            path,
            f"has {actual:,} bytes and should have {expected_bytes:,}: something cut or changed "
            "it. Remove it and pull it again: goliath-local models rm, then models pull.",
        )


def locate_model(name: str, folder: Path | None = None) -> Located:
    """Return the file of a model named by card, by installed file, or by path.

    Raises:
        NoModel: nothing of that name is there; says where it looked and how to get it.
        BadModelFile: it is there with the wrong size.
        HashMismatch: it was put here by hand, and is not the card's file.
    """
    if _looks_like_path(name):
        path = typed_path(name)
        if not is_there(path):
            msg = f"There is no file {path}. Check the path, or give a model's name."
            raise NoModel(msg)
        return Located(name=path.stem, path=path, card=None)
    place = models_dir(folder)
    for card in cards():
        if card.name == name:
            return _located_card(card, place)
    for record in records(place):
        if record.name == name:
            path = path_in(place, record.file)
            verify_size(path, expected_bytes=record.size_bytes)
            return Located(name=name, path=path, card=None)
    known = [card.name for card in cards()] + [record.name for record in records(place)]
    raise NoModel(_unknown(name, known))


def _manifests() -> Path:
    inside = Path(__file__).parent / "manifests"  # as the wheel carries them
    if inside.is_dir():
        return inside
    return Path(__file__).parents[2] / "models" / "manifests"  # a checkout


def _verify_distinct(found: Iterable[Card]) -> None:
    names, files = set[str](), set[str]()
    for card in found:
        if card.name in names or card.file.casefold() in files:
            msg = f"Two manifests name {card.name} or {card.file}. Remove one."
            raise ConfigError(msg)
        names.add(card.name)
        files.add(card.file.casefold())


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else ""
    return f'No model "{name}".{hint} See: goliath-local models list'


def _looks_like_path(name: str) -> bool:
    return name.endswith(".gguf") or "/" in name or os.sep in name or is_file(Path(name))


def _located_card(card: Card, place: Path) -> Located:
    path = installed_path(card, place)
    if path is None:
        msg = (
            f"{card.name} is not installed: there is no {place / card.file}. "
            f"Get it ({amount(card.size_bytes)}): goliath-local models pull {card.name}"
        )
        raise NoModel(msg)
    record = read_record(place, card.file)
    if record is None or record.sha256 != card.sha256:
        _verify_once(card, path)
    return Located(name=card.name, path=path, card=card)


def _verify_once(card: Card, path: Path) -> None:
    """Hash a file that somebody else put here, and remember it where the folder can be written."""
    verify_file(path, sha256=card.sha256)
    with contextlib.suppress(OSError):
        remember(
            path.parent,
            file=card.file,
            name=card.name,
            size_bytes=card.size_bytes,
            sha256=card.sha256,
            source=FOUND_HERE,
        )
