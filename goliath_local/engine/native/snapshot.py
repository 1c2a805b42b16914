"""Prompt states on disk: written whole, believed only after every check.

Edge: disk. A state cut short is refused by llama.cpp and spoils the next answer; one with a few
wrong bytes is taken. So a header of ours stands in front, and its hashes are compared before a
byte goes to the library. A file that does not fit is deleted.

    GLSTATE1 | length of the header, 4 bytes, little-endian | header, JSON | state
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from goliath_local.engine.snapshots import Snapshot
from goliath_local.errors import StorageError
from goliath_local.memory import make_private_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

_MAGIC: Final = b"GLSTATE1"
_HEADER_LIMIT_BYTES: Final = 16_384
_LIMIT_BYTES: Final = 1 << 30
"""Room for all states together; the ones that were not used for the longest time go."""

_BEHIND_S: Final = 3600.0
"""Seconds before what stands behind a head is written anew."""

_SUFFIX: Final = ".state"
_LOG: Final = logging.getLogger(__name__)


class DiskShelf:
    """States of static heads in one folder.

    Args:
        folder: made when the first state is written, readable by its owner alone.
        identity: what a state depends on besides the ids: the file's hash, the build, the
            context's parameters.
        limit_bytes: room for all states in the folder.
    """

    def __init__(
        self, folder: Path, identity: Mapping[str, str | int], *, limit_bytes: int = _LIMIT_BYTES
    ) -> None:
        self._folder = folder
        self._identity = dict(identity)
        self._limit_bytes = limit_bytes

    def find(self, key: str, *, length: int) -> Snapshot | None:
        """Return the sound state of that key, None when there is none; an unsound one goes."""
        path = self.path_of(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        state = read_state(data, self._header(key, length))
        if state is None:
            _LOG.warning("A saved prompt state was damaged and is deleted: %s", path.name)
            self.drop(key)
            return None
        with contextlib.suppress(OSError):
            path.touch()
        return Snapshot(key=key, length=length, state=state)

    def keep(self, snapshot: Snapshot) -> None:
        """Write one down, and make room; a failure costs only a slower start."""
        path = self.path_of(snapshot.key)
        with contextlib.suppress(OSError):
            if path.exists():
                return
        self._put(path, snapshot)

    def find_behind(self, head: str, key: str, *, length: int) -> Snapshot | None:
        """Return the state of that key if it is the one kept behind the head; others stay."""
        path = self._path_behind(head)
        try:
            data = path.read_bytes() if _is_of(path, key) else b""
        except OSError:
            return None
        state = read_state(data, self._header(key, length))
        if state is None:
            return None
        return Snapshot(key=key, length=length, state=state)

    def wants_behind(self, head: str) -> bool:
        """Return whether what stands behind a head now would be written down.

        Once an hour at most: facts that change with every ask are not worth a disk's wear.
        """
        with contextlib.suppress(OSError):
            return abs(time.time() - self._path_behind(head).stat().st_mtime) >= _BEHIND_S
        return True

    def keep_behind(self, head: str, snapshot: Snapshot) -> None:
        """Write down what stands behind a head now, in the place of what stood there."""
        if self.wants_behind(head):
            self._put(self._path_behind(head), snapshot)

    def drop(self, key: str) -> None:
        """Delete one."""
        with contextlib.suppress(OSError):
            self.path_of(key).unlink(missing_ok=True)

    def path_of(self, key: str) -> Path:
        """Return where the state of that key lies."""
        identity = json.dumps(self._identity, sort_keys=True)
        return self._folder / f"{hashlib.sha256((identity + key).encode()).hexdigest()}{_SUFFIX}"

    def _path_behind(self, head: str) -> Path:
        return self.path_of(f"{head} and behind")

    def _put(self, path: Path, snapshot: Snapshot) -> None:
        header = self._header(snapshot.key, snapshot.length)
        try:
            make_private_folder(self._folder)
            write_whole(path, *write_state(snapshot, header))
            self._make_room()
        except (OSError, StorageError) as error:
            _LOG.warning("A prompt state could not be saved: %s", error)

    def _header(self, key: str, length: int) -> dict[str, str | int]:
        return {**self._identity, "key": key, "tokens": length}

    def _make_room(self) -> None:
        states = sorted(
            ((file.stat().st_mtime_ns, file.stat().st_size, file) for file in self._states()),
            key=lambda entry: entry[0],
        )
        total = sum(size for _, size, _ in states)
        for _, size, file in states[:-1]:
            if total <= self._limit_bytes:
                return
            file.unlink(missing_ok=True)
            total -= size

    def _states(self) -> list[Path]:
        return list(self._folder.glob(f"*{_SUFFIX}"))


def _is_of(path: Path, key: str) -> bool:
    """Return whether a file's header names that key, without reading the state."""
    with path.open("rb") as file:
        return key.encode() in file.read(_HEADER_LIMIT_BYTES)


def write_state(
    snapshot: Snapshot, header: Mapping[str, str | int]
) -> tuple[bytes | memoryview, ...]:
    """Return the bytes of a state's file, in pieces: the state itself is not copied."""
    state = snapshot.state.data
    facts = {**header, "bytes": state.nbytes, "sha256": hashlib.sha256(state).hexdigest()}
    text = json.dumps(facts, sort_keys=True).encode()
    return _MAGIC, len(text).to_bytes(4, "little"), text, state


def read_state(data: bytes, expected: Mapping[str, str | int]) -> npt.NDArray[np.uint8] | None:
    """Return the state in a file's bytes, shape (bytes,), None when anything does not fit.

    Args:
        data: the whole file.
        expected: what the header must say.
    """
    start = len(_MAGIC) + 4
    length = int.from_bytes(data[len(_MAGIC) : start], "little")
    if data[: len(_MAGIC)] != _MAGIC or length > _HEADER_LIMIT_BYTES:
        return None
    try:
        header = json.loads(data[start : start + length])
    except (ValueError, RecursionError):
        return None
    state = memoryview(data)[start + length :]
    facts = {**expected, "bytes": len(state), "sha256": hashlib.sha256(state).hexdigest()}
    if header != facts:
        return None
    return np.frombuffer(state, dtype=np.uint8)
