"""What is in the models folder: cards with their state, and files that no card names.

Edge: looks at the disk, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.catalogue.folder import read_note
from goliath_local.catalogue.locate import cards, models_dir
from goliath_local.catalogue.record import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from goliath_local.catalogue.card import Card

State: TypeAlias = Literal["installed", "partial", "available"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the models list: a card, or a file that no card names."""

    name: str
    file: str
    state: State
    size_bytes: int
    """The whole file's size, also while a part of it is there."""

    have_bytes: int
    card: Card | None


def inventory(folder: Path | None = None) -> tuple[Entry, ...]:
    """Return every card with its state, then installed and partial files of no card."""
    place = models_dir(folder)
    entries = [_card_entry(card, place) for card in cards()]
    named = {card.file for card in cards()}
    return (*entries, *(entry for entry in _other_entries(place) if entry.file not in named))


def _card_entry(card: Card, place: Path) -> Entry:
    path, part = place / card.file, place / f"{card.file}.part"
    state: State = "installed" if path.is_file() else "partial" if part.is_file() else "available"
    have = {"installed": path, "partial": part}.get(state)
    return Entry(
        name=card.name,
        file=card.file,
        state=state,
        size_bytes=card.size_bytes,
        have_bytes=have.stat().st_size if have else 0,
        card=card,
    )


def _other_entries(place: Path) -> Iterable[Entry]:
    for path in sorted(place.glob("*.gguf")):
        record, size = read_record(place, path.name), path.stat().st_size if path.exists() else 0
        yield Entry(
            name=record.name if record else path.stem,
            file=path.name,
            state="installed",
            size_bytes=record.size_bytes if record else size,
            have_bytes=size,
            card=None,
        )
    for part in sorted(place.glob("*.gguf.part")):
        whole, have = read_note(place / f"{part.name}.json").get("sizeBytes"), part.stat().st_size
        yield Entry(
            name=part.name.removesuffix(".gguf.part"),
            file=part.name.removesuffix(".part"),
            state="partial",
            size_bytes=whole if isinstance(whole, int) else have,
            have_bytes=have,
            card=None,
        )
