"""Whether a file's weights may be mapped into memory, or have to be read.

Edge: reads `/proc` and `/sys`. When a mapped file is cut short, or its disk goes away, the process
that touches it is killed; so files on network, user-space and removable file systems are read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_ROOT: Final = Path("/")
_READ_INSTEAD: Final = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse", "fuseblk", "exfat", "vfat", "msdos", "ceph")
)


def may_map(path: Path, *, root: Path = _ROOT) -> bool:
    """Return whether the file lies on a disk that stays.

    Args:
        path: the model file.
        root: where `/proc` and `/sys` are looked for.
    """
    mount = _mount_of(path.resolve(), root)
    if mount is None:
        return True
    device, kind = mount
    if kind in _READ_INSTEAD or kind.startswith("fuse."):
        return False
    return not _is_removable(device, root)


def _mount_of(path: Path, root: Path) -> tuple[str, str] | None:
    """Return the device number and the file system of the mount a path lies on."""
    best: tuple[int, tuple[str, str]] | None = None
    try:
        lines = (root / "proc/self/mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        if len(fields) < 5 or not kinds:
            continue
        point = Path(fields[4].replace("\\040", " "))
        depth = len(point.parts)
        if path.is_relative_to(point) and (best is None or depth >= best[0]):
            best = depth, (fields[2], kinds[0])
    return best[1] if best else None


def _is_removable(device: str, root: Path) -> bool:
    block = Path(os.path.realpath(root / "sys/dev/block" / device))
    for folder in (block, block.parent):  # a partition's disk is one up
        flag = folder / "removable"
        try:
            if flag.read_text().strip() == "1":
                return True
        except OSError:
            continue
    return False
