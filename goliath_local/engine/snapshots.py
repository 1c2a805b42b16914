"""Saved prompt states in memory: the most recently used ones, bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A session's state behind one part boundary."""

    key: str
    length: int
    """Tokens in the state."""

    state: npt.NDArray[np.uint8]


class Snapshots:
    """Snapshots by boundary key. Used by the model's worker alone."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._by_key: OrderedDict[str, Snapshot] = OrderedDict()
        self.size_bytes = 0

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, key: str) -> Snapshot | None:
        """Return the snapshot, and count that as a use."""
        found = self._by_key.get(key)
        if found is not None:
            self._by_key.move_to_end(key)
        return found

    def keep(self, snapshot: Snapshot) -> None:
        """Keep one; the least recently used ones go when there is no room."""
        self.drop(snapshot.key)
        if snapshot.state.nbytes > self._limit_bytes:
            return
        self._by_key[snapshot.key] = snapshot
        self.size_bytes += snapshot.state.nbytes
        while self.size_bytes > self._limit_bytes:
            self.drop(next(iter(self._by_key)))

    def drop(self, key: str) -> None:
        """Forget one, if it is there."""
        found = self._by_key.pop(key, None)
        if found is not None:
            self.size_bytes -= found.state.nbytes

    def clear(self) -> None:
        """Forget all."""
        self._by_key.clear()
        self.size_bytes = 0
