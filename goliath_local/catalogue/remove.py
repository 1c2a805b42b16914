"""Removes a model from the folder: the file or link, its part, its record.

Edge: disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.catalogue.folder import path_in
from goliath_local.catalogue.inventory import inventory
from goliath_local.catalogue.locate import find_card, models_dir
from goliath_local.errors import NoModel, StorageError

if TYPE_CHECKING:
    from pathlib import Path


def remove_model(name: str, folder: Path | None = None) -> int:
    """Remove what is here of a model, whole or in part; return the bytes that became free.

    Raises:
        NoModel: no model has the name, or nothing of it is here.
        StorageError: the disk does not let go of it.
    """
    place = models_dir(folder)
    file = _file_of(name, place)
    freed, found = 0, False
    for suffix in ("", ".part", ".part.json", ".json"):
        path = path_in(place, f"{file}{suffix}")
        try:
            freed += path.lstat().st_size
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            msg = f"{path} cannot be removed ({error.strerror}). Look at its permissions."
            raise StorageError(msg) from error
        found = True
    if not found:
        msg = f"Nothing of {name} is here. See: goliath-local models list"
        raise NoModel(msg)
    return freed


def _file_of(name: str, place: Path) -> str:
    for entry in inventory(place):
        if name in {entry.name, entry.file}:
            return entry.file
    return find_card(name).file  # raises, and says what was meant
