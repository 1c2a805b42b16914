"""What a grammar still has to finish: sets of call stacks, shared and unique.

Pure. A stack is a path of frames down to the bottom. A `Stack` here is a whole *set* of such
paths, kept as a trie in which a frame occurs once a level, and there is one object per set, so
that equality is identity and an ambiguous grammar costs what its levels cost, not the number
of its readings.

    frames    {call A: rest, call B: rest}
                        └────────┴──── one and the same set of stacks below
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class Frame(Protocol):
    """What is left to do once the present rule, or round of a repetition, is through."""

    @property
    def distance(self) -> float:
        """Bytes that must at least follow before this frame is through as well."""


class Stack:
    """A set of call stacks; made only by `Stacks`, so that equal ones are the same object."""

    __slots__ = ("distance", "frames", "readings")

    def __init__(self, frames: tuple[tuple[Frame, Stack], ...]) -> None:
        self.frames = frames
        """Each top frame with the stacks below it; none at the very bottom."""
        self.distance: float = min([f.distance + s.distance for f, s in frames], default=0)
        """Bytes of the shortest way to finish everything on it."""
        self.readings: int = sum([s.readings for _, s in frames]) or 1
        """How many call stacks this stands for."""


class Stacks:
    """Makes the stacks of one grammar, each only once."""

    __slots__ = ("_pushed", "_sets", "_unions", "bottom")

    def __init__(self) -> None:
        self.bottom = Stack(())
        self._pushed: dict[tuple[Frame, Stack], Stack] = {}
        self._sets: dict[frozenset[tuple[Frame, Stack]], Stack] = {}
        self._unions: dict[tuple[Stack, Stack], Stack] = {}

    def __len__(self) -> int:
        return len(self._pushed) + len(self._sets) + len(self._unions)

    def forget(self) -> None:
        """Drop the tables; stacks in use live on and still combine with new ones."""
        self._pushed.clear()
        self._sets.clear()
        self._unions.clear()

    def push(self, frame: Frame, below: Stack) -> Stack:
        """Return the stacks with one frame on top."""
        key = (frame, below)
        found = self._pushed.get(key)
        if found is None:
            found = self._pushed[key] = Stack((key,))
        return found

    def union(self, left: Stack, right: Stack) -> Stack:
        """Return the stacks that are in either set."""
        if left is right:
            return left
        return self._unions.get((left, right)) or self._united(left, right)

    def _united(self, left: Stack, right: Stack) -> Stack:
        """Unite two sets that may share frames for thousands of levels, from below upwards."""
        made: dict[tuple[Stack, Stack], Stack] = {}  # the table may be dropped meanwhile
        todo = [(left, right)]
        while todo:
            pair = todo[-1]
            known = made.get(pair) or self._unions.get(pair)
            missing = () if known else [part for part in _shared(*pair) if part not in made]
            if missing:
                todo.extend(missing)
                continue
            made[pair] = self._unions[pair] = known or self._combined(*pair, made)
            todo.pop()
        return made[left, right]

    def _combined(
        self, left: Stack, right: Stack, made: dict[tuple[Stack, Stack], Stack]
    ) -> Stack:
        merged = dict(left.frames)
        for frame, below in right.frames:
            mine = merged.get(frame, below)
            merged[frame] = below if mine is below else made[mine, below]
        return self._of(merged.items())

    def _of(self, frames: Iterable[tuple[Frame, Stack]]) -> Stack:
        pairs = tuple(frames)
        if len(pairs) == 1:
            return self.push(*pairs[0])
        key = frozenset(pairs)
        found = self._sets.get(key)
        if found is None:
            found = self._sets[key] = Stack(pairs)
        return found


def _shared(left: Stack, right: Stack) -> list[tuple[Stack, Stack]]:
    """Return what is below the frames that both have on top, where it differs."""
    ours = dict(left.frames)
    pairs = [(ours[frame], below) for frame, below in right.frames if frame in ours]
    return [pair for pair in pairs if pair[0] is not pair[1]]
