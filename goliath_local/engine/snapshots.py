"""Saved prompt states in memory, bounded in bytes.

The static heads of a turn's stages are used in turn, and together just fit. Were the least
recently used one dropped for each that comes, every head would be evaluated again in every turn.
So a state within a prompt never takes the place of a head, and of the heads the one goes that is
least worth its room: long not used, and short, so that it costs little to evaluate again.
"""

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
    is_head: bool = False
    """The end of a static head: it is used in turn after turn."""


class Snapshots:
    """Snapshots by boundary key, least recently used first. Used by the model's worker alone."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._by_key: OrderedDict[str, Snapshot] = OrderedDict()
        self._used_at: dict[str, int] = {}
        self._uses = 0
        self.size_bytes = 0

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, key: str) -> Snapshot | None:
        """Return the snapshot, and count that as a use."""
        found = self._by_key.get(key)
        if found is not None:
            self._use(found)
        return found

    def keep(self, snapshot: Snapshot) -> None:
        """Keep one; others go when there is no room, and it itself when they are worth more."""
        self.drop(snapshot.key)
        if snapshot.state.nbytes > self._limit_bytes:
            return
        self._by_key[snapshot.key] = snapshot
        self.size_bytes += snapshot.state.nbytes
        self._use(snapshot)
        while self.size_bytes > self._limit_bytes:
            self.drop(self._least_worth())

    def drop(self, key: str) -> None:
        """Forget one, if it is there."""
        found = self._by_key.pop(key, None)
        if found is not None:
            self.size_bytes -= found.state.nbytes
            self._used_at.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        self._by_key.clear()
        self._used_at.clear()
        self.size_bytes = 0

    def _use(self, snapshot: Snapshot) -> None:
        self._by_key.move_to_end(snapshot.key)
        self._uses += snapshot.is_head
        self._used_at[snapshot.key] = self._uses

    def _least_worth(self) -> str:
        within = (key for key, kept in self._by_key.items() if not kept.is_head)
        return next(within, None) or max(self._by_key, key=self._idleness)

    def _idleness(self, key: str) -> float:
        """Return how long it was not used, in uses of heads, for each token that it saves."""
        return (self._uses - self._used_at[key] + 1) / max(1, self._by_key[key].length)
