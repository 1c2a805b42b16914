"""A file that is already on this machine, copied into the models folder or linked from it.

Edge: disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue.folder import sync_folder
from goliath_local.catalogue.gguf_reader import read_gguf_header
from goliath_local.catalogue.verify import CHUNK_BYTES, verify_file
from goliath_local.errors import FetchError

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.cancel import CancelToken
    from goliath_local.catalogue.card import FileSource, Pin
    from goliath_local.catalogue.part import Part


def copy(source: FileSource, part: Part, *, cancel: CancelToken | None) -> None:
    """Copy the rest of the file into the part.

    Raises:
        FetchError: the file cannot be read.
    """
    try:
        with source.path.open("rb") as file:
            file.seek(part.have_bytes)
            while chunk := file.read(CHUNK_BYTES):
                if cancel is not None:
                    cancel.raise_if_cancelled()
                part.write(chunk)
    except OSError as error:
        msg = f"{source.path} cannot be read ({error.strerror}). Check the path."
        raise FetchError(msg) from error


def link(source: FileSource, pin: Pin, folder: Path) -> None:
    """Put a link to the file into the models folder, once it is known to be a sound model.

    Raises:
        BadModelFile: it is not a sound GGUF.
        HashMismatch: it is not the pinned file.
        FetchError: this file system knows no links.
    """
    target = source.path.resolve()
    read_gguf_header(target)
    verify_file(target, sha256=pin.sha256)
    fresh = folder / f".{pin.file}.link"
    try:
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(folder / pin.file)
    except OSError as error:
        msg = f"{folder} takes no links ({error.strerror}). Leave out --link to copy the file."
        raise FetchError(msg) from error
    sync_folder(folder)
