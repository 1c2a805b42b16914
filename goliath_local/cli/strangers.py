"""Model files that no card names: loaded only after a yes, and first in a child process.

Edge: hashes files, asks a person, starts a child, keeps a list of what was let in. llama.cpp's
loader can be ended, or worse, by a made-up file; a file with the hash of a card was read by us.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.cli.problems import NeededYes
from goliath_local.errors import BadModelFile, GoliathError, MachineError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal

_TRIAL_S = 300
_KEPT = 200
"""Files that are remembered; the oldest go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A file that was let in, as it was then; one that changed is a stranger again."""

    path: str
    size_bytes: int
    changed_ns: int
    is_tried: bool
    """True once a child process has loaded it, or its hash is a card's."""


def verify_let_in(path: Path, settings: Settings, terminal: Terminal) -> None:
    """Raise unless the file may be loaded: by its hash, by being installed, or by a yes.

    Raises:
        NeededYes: nobody said yes to this file.
    """
    if _find(path, settings) is not None:
        return
    is_card = _is_cards_file(path)
    if not is_card and not _is_installed(path, settings) and not _said_yes(path, terminal):
        msg = (
            f"{path} is no file of the catalogue, and nobody said yes to loading it. A made-up "
            "model file can crash llama.cpp, or worse. If you trust who made it: "
            f"goliath-local models pull {path} --link, then -m {path.stem}"
        )
        raise NeededYes(msg)
    _remember(replace(_guest(path), is_tried=is_card), settings)


def try_first(path: Path, settings: Settings) -> None:
    """Load a file that was let in by a yes in a child process; this process lives in any case.

    Raises:
        BadModelFile: the child did not live through it.
        MachineError: it says that this machine does not suffice.
    """
    from goliath_local.cli.load_probe import model_command, run_probe

    guest = _find(path, settings)
    if guest is None or guest.is_tried:
        return
    tried = run_probe(model_command(replace(settings, model=str(path))), timeout_s=_TRIAL_S)
    if tried.ok:
        _remember(replace(guest, is_tried=True), settings)
        return
    if tried.signal is None and "GiB" in tried.why:
        raise MachineError(tried.why)
    reason = f"was tried in a process of its own, and that failed: {tried.why}"
    raise BadModelFile(path, reason)


def _is_cards_file(path: Path) -> bool:
    from goliath_local.catalogue import cards, verify_file

    size_bytes = path.stat().st_size
    for card in cards():
        if card.size_bytes == size_bytes:
            with suppress(GoliathError):
                verify_file(path, sha256=card.sha256)
                return True
    return False


def _is_installed(path: Path, settings: Settings) -> bool:
    """Return whether somebody put the file into the models folder by `models pull`."""
    from goliath_local.catalogue import read_record

    folder = settings.models_folder
    if path.parent.resolve() != folder.resolve():
        return False
    record = read_record(folder, path.name)
    return record is not None and record.size_bytes == path.stat().st_size


def _said_yes(path: Path, terminal: Terminal) -> bool:
    import sys

    if not terminal.can_ask:
        return False
    terminal.complain(
        f"{path.name} is no file of the catalogue. A made-up model file can crash llama.cpp, or "
        "worse. It is tried in a process of its own first."
    )
    terminal.complain("Load it? [y] yes  [n] no ? ", end="")
    return sys.stdin.readline().strip().casefold() in {"y", "yes"}


def _guest(path: Path) -> Guest:
    status = path.stat()
    return Guest(
        path=str(path.resolve()),
        size_bytes=status.st_size,
        changed_ns=status.st_mtime_ns,
        is_tried=False,
    )


def _find(path: Path, settings: Settings) -> Guest | None:
    now = _guest(path)
    return next((g for g in _guests(settings) if replace(g, is_tried=False) == now), None)


def _remember(guest: Guest, settings: Settings) -> None:
    from goliath_local.memory import make_private_folder, write_whole

    others = [one for one in _guests(settings) if one.path != guest.path]
    rows = [
        {"path": g.path, "sizeBytes": g.size_bytes, "changedNs": g.changed_ns, "tried": g.is_tried}
        for g in [*others, guest][-_KEPT:]
    ]
    # Where nothing can be written, the yes holds for this time only.
    with suppress(StorageError):
        make_private_folder(settings.places.data)
        write_whole(settings.places.let_in, json.dumps(rows, indent=1).encode())


def _guests(settings: Settings) -> list[Guest]:
    try:
        rows = json.loads(settings.places.let_in.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return [guest for row in rows if (guest := _read(row))] if isinstance(rows, list) else []


def _read(row: Any) -> Guest | None:
    match row:
        case {
            "path": str(path),
            "sizeBytes": int(size),
            "changedNs": int(changed),
            "tried": bool(tried),
        }:
            return Guest(path=path, size_bytes=size, changed_ns=changed, is_tried=tried)
        case _:
            return None
