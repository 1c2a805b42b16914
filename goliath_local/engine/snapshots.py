"""Saved prompt states in memory, bounded in bytes.

The static heads of a turn's stages are used in turn, and together just fit. Were the least
recently used one dropped for each that comes, every head would be evaluated again in every turn.
So of the states the one goes that is least worth its room: long not used, and short, so that it
costs little to evaluate again. A state that grows pushes out none that is in use.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from goliath_local.engine.reuse import Boundary

IDLE_USES: Final = 64
"""A state is no longer in use when others were used so many times since. A prompt uses its state
twice, once restored and once grown, so these are some 15 steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A session's state behind one part boundary."""

    key: str
    length: int
    """Tokens in the state."""

    state: npt.NDArray[np.uint8]
    marks: tuple[Boundary, ...] = ()
    """Places within it that it can be cut back to."""


class Snapshots:
    """One snapshot for each static head, least recently used first. Used by the worker alone."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._by_head: OrderedDict[str, Snapshot] = OrderedDict()
        self._used_at: dict[str, int] = {}
        self._heads: dict[str, str] = {}
        """By place: the head whose snapshot reaches it."""

        self._uses = 0
        self.size_bytes = 0

    def __contains__(self, place: object) -> bool:
        return place in self._heads

    def has(self, head: str) -> bool:
        """Return whether a snapshot is kept for this head, however far it reaches."""
        return head in self._by_head

    def __len__(self) -> int:
        return len(self._by_head)

    def find(self, place: str) -> Snapshot | None:
        """Return the snapshot that reaches this place, and count that as a use."""
        head = self._heads.get(place)
        if head is None:
            return None
        self._use(head)
        return self._by_head[head]

    def keep(self, head: str, snapshot: Snapshot) -> None:
        """Keep one in the place of the head's last; others go when there is no room.

        It goes itself when the others are worth more.
        """
        self._drop(head)
        if snapshot.state.nbytes > self._limit_bytes:
            return
        self._by_head[head] = snapshot
        for place in (snapshot.key, *(mark.key for mark in snapshot.marks)):
            self._heads[place] = head
        self.size_bytes += snapshot.state.nbytes
        self._use(head)
        while self.size_bytes > self._limit_bytes:
            self._drop(max(self._by_head, key=self._idleness))

    def make_room(self, head: str, size_bytes: int) -> bool:
        """Drop the head's last snapshot, and what is no longer in use, for one that comes.

        Returns:
            Whether there is room for so many bytes now; if not, nothing was dropped.
        """
        going = [head] if head in self._by_head else []
        idle = [key for key in self._by_head if key != head and not self._is_in_use(key)]
        free = self._limit_bytes - self.size_bytes + sum(map(self._bytes, going))
        for key in sorted(idle, key=self._idleness, reverse=True):
            if free >= size_bytes:
                break
            going.append(key)
            free += self._bytes(key)
        if free < size_bytes:
            return False
        for key in going:
            self._drop(key)
        return True

    def drop(self, place: str) -> None:
        """Forget the one that reaches this place, if there is one."""
        if place in self._heads:
            self._drop(self._heads[place])

    def clear(self) -> None:
        """Forget all."""
        self._by_head.clear()
        self._used_at.clear()
        self._heads.clear()
        self.size_bytes = 0

    def _drop(self, head: str) -> None:
        found = self._by_head.pop(head, None)
        if found is None:
            return
        self._heads = {place: other for place, other in self._heads.items() if other != head}
        self.size_bytes -= found.state.nbytes
        del self._used_at[head]

    def _use(self, head: str) -> None:
        self._by_head.move_to_end(head)
        self._uses += 1
        self._used_at[head] = self._uses

    def _is_in_use(self, head: str) -> bool:
        return self._uses - self._used_at[head] < IDLE_USES

    def _bytes(self, head: str) -> int:
        return self._by_head[head].state.nbytes

    def _idleness(self, head: str) -> float:
        """Return how long it was not used, in uses of others, for each token that it saves."""
        return (self._uses - self._used_at[head] + 1) / max(1, self._by_head[head].length)
