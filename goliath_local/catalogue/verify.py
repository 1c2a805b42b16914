"""The sha256 of a file, and whether it is the expected one.

Edge: reads the disk.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from goliath_local.errors import BadModelFile, HashMismatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.cancel import CancelToken

CHUNK_BYTES = 1 << 20


def hash_file(
    path: Path,
    *,
    limit_bytes: int | None = None,
    moved: Callable[[int], None] | None = None,
    cancel: CancelToken | None = None,
) -> hashlib._Hash:
    """Return the running sha256 of a file's first bytes, of all of them by default.

    Args:
        path: the file.
        limit_bytes: stop after so many bytes.
        moved: called with the bytes read so far, after each MiB.
        cancel: looked at after each MiB.
    """
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while limit_bytes is None or done < limit_bytes:
            want = CHUNK_BYTES if limit_bytes is None else min(CHUNK_BYTES, limit_bytes - done)
            if not (chunk := file.read(want)):
                break
            digest.update(chunk)
            done += len(chunk)
            if cancel is not None:
                cancel.raise_if_cancelled()
            if moved is not None:
                moved(done)
    return digest


def verify_file(
    path: Path,
    *,
    sha256: str,
    moved: Callable[[int], None] | None = None,
    cancel: CancelToken | None = None,
) -> None:
    """Raise unless the file has that sha256.

    Raises:
        HashMismatch: it has another.
        BadModelFile: it cannot be read.
    """
    try:
        actual = hash_file(path, moved=moved, cancel=cancel).hexdigest()
    except OSError as error:
        raise BadModelFile(path, f"cannot be read ({error.strerror}). Pull it again.") from error
    if actual != sha256:
        raise HashMismatch(
            path=path,
            expected=sha256,
            actual=actual,
            cure="Remove it and pull it again: goliath-local models rm, then models pull.",
        )
