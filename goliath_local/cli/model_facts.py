"""What is known about one model, as rows for `models info`.

Edge: reads the file's header and its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue import (
    GgufHeader,
    amount,
    read_gguf_header,
    read_machine,
    read_record,
    source_in_words,
)
from goliath_local.catalogue import needed_bytes as needed

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.catalogue import Entry
    from goliath_local.records import Json


def facts_of(entry: Entry, folder: Path) -> dict[str, Json]:
    """Return the rows, camelCase keys in the order to show them; None is unknown."""
    path = folder / entry.file
    header = read_gguf_header(path) if entry.state == "installed" else None
    record = read_record(folder, entry.file) if entry.state == "installed" else None
    card = entry.card
    facts: dict[str, Json] = {
        "name": entry.name,
        "state": entry.state,
        "file": str(path) if entry.state == "installed" else entry.file,
        "sizeClass": card.size_class if card else None,
        "sizeBytes": entry.size_bytes,
        "haveBytes": entry.have_bytes,
        "sha256": card.sha256 if card else record.sha256 if record else None,
        "licence": card.licence if card else None,
        "trainedWindow": card.trained_window_tokens if card else None,
        "neededBytes": card.needed_bytes if card else None,
        "availableBytes": read_machine().available_bytes,
        "verifiedAt": record.verified_at if record else None,
        "cameFrom": record.source if record else None,
        "sources": [source_in_words(source) for source in card.sources] if card else [],
    }
    return facts | (_header_facts(header) if header else {})


def entry_words(entry: Entry) -> str:
    """Return size and state of a model, as `models list` shows them."""
    state: str = entry.state
    if entry.state == "partial":
        state = f"partial {100 * entry.have_bytes // max(entry.size_bytes, 1)} %"
    elif entry.have_bytes != entry.size_bytes and entry.state == "installed":
        state = "damaged (wrong size)"
    size_class = entry.card.size_class if entry.card else "-"
    return f"{size_class:>5}  {amount(entry.size_bytes):>9}  {state}"


def _header_facts(header: GgufHeader) -> dict[str, Json]:
    kv_bytes = header.kv_bytes_per_token
    return {
        "trainedWindow": header.trained_window_tokens,
        "neededBytes": needed(header.file_bytes, kv_bytes) if kv_bytes is not None else None,
        "architecture": header.architecture or None,
        "gguf": header.version,
        "tensors": len(header.tensors),
        "vocabulary": header.vocabulary_size,
        "templateSha256": header.template_sha256,
    }
