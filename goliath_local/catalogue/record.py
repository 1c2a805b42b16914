"""What is remembered about installed files: size, sha256, when it was verified, and the default.

Edge: disk. `FILE.json` beside each model makes the check at each start cheap: it compares sizes
and hashes nothing. A lost or damaged record is made anew by `models verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from goliath_local.catalogue.folder import path_in, read_note, told_as_storage, write_note

if TYPE_CHECKING:
    from pathlib import Path

_CHOSEN = "default.json"

FOUND_HERE = "a file that was here already"
"""What a record says of a file that somebody put into the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What was found out about an installed file when it was last hashed."""

    file: str
    name: str
    size_bytes: int
    sha256: str
    verified_at: str
    """ISO 8601, UTC."""

    source: str
    """Where the bytes came from, in words."""


def records(folder: Path) -> tuple[Record, ...]:
    """Return the records of the files that are in the folder, by name."""
    found = (read_record(folder, path.name) for path in sorted(folder.glob("*.gguf")))
    return tuple(record for record in found if record is not None)


def read_record(folder: Path, file: str) -> Record | None:
    """Return what is known about an installed file; None when nothing sound is written down."""
    note = read_note(path_in(folder, f"{file}.json"))
    match note:
        case {
            "name": str(name),
            "sizeBytes": int(size),
            "sha256": str(sha256),
            "verifiedAt": str(verified_at),
            "source": str(source),
        }:
            return Record(
                file=file,
                name=name,
                size_bytes=size,
                sha256=sha256,
                verified_at=verified_at,
                source=source,
            )
        case _:
            return None


def remember(
    folder: Path, *, file: str, name: str, size_bytes: int, sha256: str, source: str
) -> Record:
    """Write down that an installed file has just been hashed, and return the record.

    Args:
        folder: the models folder.
        file: its name in the folder.
        name: the model's.
        size_bytes: of the file.
        sha256: its hash.
        source: where the bytes came from, in words.

    Raises:
        StorageError: it could not be written down; the file itself is in place.
    """
    record = Record(
        file=file,
        name=name,
        size_bytes=size_bytes,
        sha256=sha256,
        verified_at=datetime.now(UTC).isoformat(timespec="seconds"),
        source=source,
    )
    note = {
        "name": record.name,
        "sizeBytes": record.size_bytes,
        "sha256": record.sha256,
        "verifiedAt": record.verified_at,
        "source": record.source,
    }
    place = path_in(folder, f"{file}.json")
    with told_as_storage("written", place):
        write_note(place, note)
    return record


def read_chosen(folder: Path) -> str | None:
    """Return the name that was chosen as the default before, or None."""
    name = read_note(folder / _CHOSEN).get("model")
    return name if isinstance(name, str) else None


def write_chosen(folder: Path, name: str) -> None:
    """Remember the default, so that it stays the same from then on.

    Raises:
        StorageError: it could not be written down.
    """
    with told_as_storage("written", folder / _CHOSEN):
        write_note(folder / _CHOSEN, {"model": name})
