"""Verifies an installed file against its card or its record, and remembers when.

Edge: reads the whole file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue.folder import path_in
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.locate import models_dir, verify_size
from goliath_local.catalogue.record import FOUND_HERE, Record, read_record, remember
from goliath_local.catalogue.verify import hash_file, verify_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.inventory import Entry


def verify_installed(
    entry: Entry,
    folder: Path | None = None,
    *,
    moved: Callable[[int], None] | None = None,
    cancel: CancelToken | None = None,
) -> Record:
    """Hash an installed file, raise unless it is the right one, and remember that it is.

    A file that neither a card nor a record speaks of is recorded as it is.

    Raises:
        BadModelFile: it is not a sound GGUF, or of the wrong size.
        HashMismatch: it has another hash than its card or record says.
    """
    place = models_dir(folder)
    path = path_in(place, entry.file)
    before = read_record(place, entry.file)
    verify_size(path, expected_bytes=entry.size_bytes)
    read_gguf_header(path)
    expected = entry.card.sha256 if entry.card else before.sha256 if before else None
    if expected is None:
        expected = hash_file(path, moved=moved, cancel=cancel).hexdigest()
    else:
        verify_file(path, sha256=expected, moved=moved, cancel=cancel)
    return remember(
        place,
        file=entry.file,
        name=entry.name,
        size_bytes=entry.size_bytes,
        sha256=expected,
        source=before.source if before else FOUND_HERE,
    )
