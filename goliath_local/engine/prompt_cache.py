"""Brings a session to a prompt: truncates, restores, evaluates, and saves what is worth it.

Edge, over the session; `reuse` decides. Used by the model's worker alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goliath_local.engine.native import Aborted
from goliath_local.engine.reuse import (
    Boundary,
    boundaries,
    head_end,
    is_worth_saving,
    lasting_end,
    plan_reuse,
)
from goliath_local.engine.snapshots import Snapshot, Snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.engine.native import Session
    from goliath_local.engine.prompt import PromptPart


class Shelf(Protocol):
    """Where states of static heads are kept across restarts."""

    def find(self, key: str, *, length: int) -> Snapshot | None:
        """Return the sound state of that key, None when there is none."""
        ...

    def keep(self, snapshot: Snapshot) -> None:
        """Write one down; a failure is not an error, only a slower start."""
        ...

    def find_behind(self, head: str, key: str, *, length: int) -> Snapshot | None:
        """Return the state of that key if it is the one kept behind the head."""
        ...

    def keep_behind(self, head: str, snapshot: Snapshot) -> None:
        """Write down what stands behind a head now, in the place of what stood there."""
        ...

    def drop(self, key: str) -> None:
        """Delete one that turned out to be unsound."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What it took to reach a prompt."""

    evaluated_tokens: int
    restored_tokens: int


class PromptCache:
    """A session together with what is known of its past."""

    def __init__(
        self, session: Session, snapshots: Snapshots, *, shelf: Shelf | None, is_fresh: bool
    ) -> None:
        self._session = session
        self._snapshots = snapshots
        self._shelf = shelf
        self._is_fresh = is_fresh
        self._held: tuple[Boundary, ...] = ()
        self._unwritten: dict[str, Snapshot] = {}
        self._behind: dict[str, str] = {}
        """By head: the key of the state behind the facts that follow it."""

        self._behind_unwritten: dict[str, Snapshot] = {}

    def sync(self, parts: Sequence[PromptPart]) -> Synced:
        """Bring the session to exactly these parts, the logits behind the last one at hand.

        Raises:
            Aborted: the stop flag was raised.
            ModelUnavailable: llama.cpp gave up.
        """
        wanted = boundaries(parts)
        kept = 0 if self._is_fresh else self._reuse(parts, wanted)
        if kept == 0:
            self._session.clear()
        self._evaluate_from(kept, parts, wanted)
        restored = wanted[kept - 1].length if kept else 0
        return Synced(evaluated_tokens=wanted[-1].length - restored, restored_tokens=restored)

    def warm(self, parts: Sequence[PromptPart]) -> None:
        """Have the static head of this prompt saved, evaluating what is not known yet."""
        end = head_end(parts)
        if end is None or end + 1 == len(parts) or self._is_fresh:
            return
        wanted = boundaries(parts)[: end + 1]
        if self._behind.get(wanted[end].key) in self._snapshots:
            return  # it is there with the facts behind it
        self._take_from_shelf(wanted[end])
        if wanted[end].key not in self._snapshots:
            # One part more than the head, so that the plan may keep all of the head.
            kept = self._reuse(parts[: end + 2], boundaries(parts)[: end + 2])
            if kept == 0:
                self._session.clear()
            self._evaluate_from(kept, parts, wanted)

    def write_down(self) -> None:
        """Put new static heads on the shelf; done after the reply, not before it."""
        while self._unwritten and self._shelf is not None:
            _, snapshot = self._unwritten.popitem()
            self._shelf.keep(snapshot)
        while self._behind_unwritten and self._shelf is not None:
            head, snapshot = self._behind_unwritten.popitem()
            self._shelf.keep_behind(head, snapshot)

    def _reuse(self, parts: Sequence[PromptPart], wanted: Sequence[Boundary]) -> int:
        """Truncate or restore; return how many leading parts the session holds now."""
        end, lasting = head_end(parts), lasting_end(parts)
        if end is not None and end < len(parts) - 1:
            place = wanted[end] if lasting is None else wanted[lasting]
            if lasting is None or not self._take_behind(wanted[end], place):
                self._take_from_shelf(wanted[end])
        while True:
            plan = plan_reuse(self._held, wanted, saved=self._snapshots)
            if plan.parts == 0:
                return 0
            place = wanted[plan.parts - 1]
            if plan.is_held and self._session.truncate(place.length):
                self._held = tuple(wanted[: plan.parts])
                return plan.parts
            if plan.is_held:  # this model cannot truncate: a saved state may still do
                self._held = ()
                continue
            if self._restore(place):
                self._held = tuple(wanted[: plan.parts])
                return plan.parts

    def _restore(self, place: Boundary) -> bool:
        self._held = ()
        snapshot = self._snapshots.find(place.key)
        if snapshot is not None and self._session.restore(snapshot.state, length=snapshot.length):
            return True
        self._snapshots.drop(place.key)
        if self._shelf is not None:
            self._shelf.drop(place.key)
        return False

    def _evaluate_from(
        self, kept: int, parts: Sequence[PromptPart], wanted: Sequence[Boundary]
    ) -> None:
        saved_length = wanted[kept - 1].length if kept else 0
        last = len(parts) - 1
        for index in range(kept, len(wanted)):
            self._held = tuple(wanted[:index])
            try:
                self._session.evaluate(parts[index].ids, want_logits=index == last)
            except Aborted:
                self._held = ()
                raise
            self._held = tuple(wanted[: index + 1])
            since = wanted[index].length - saved_length
            if self._is_fresh or not is_worth_saving(index, parts, tokens_since_saved=since):
                continue
            if index == lasting_end(parts) and self._shelf is not None:
                self._save_behind(wanted[index - 1], wanted[index])
            else:
                self._save(wanted[index], is_head=index == head_end(parts))
            saved_length = wanted[index].length

    def _save(self, place: Boundary, *, is_head: bool) -> None:
        snapshot = self._snapshot(place, is_head=is_head)
        self._snapshots.keep(snapshot)
        if is_head and self._shelf is not None:
            self._unwritten[place.key] = snapshot

    def _save_behind(self, head: Boundary, place: Boundary) -> None:
        snapshot = self._snapshot(place, is_head=True)
        self._hold_behind(head, snapshot)
        self._behind_unwritten[head.key] = snapshot

    def _snapshot(self, place: Boundary, *, is_head: bool) -> Snapshot:
        state = self._session.save()
        return Snapshot(key=place.key, length=place.length, state=state, is_head=is_head)

    def _hold_behind(self, head: Boundary, snapshot: Snapshot) -> None:
        """Let the state behind the facts take its head's place in memory; that one is on disk."""
        earlier = self._behind.get(head.key)
        if earlier is not None:
            self._snapshots.drop(earlier)
        self._behind[head.key] = snapshot.key
        self._snapshots.drop(head.key)
        self._snapshots.keep(snapshot)

    def _take_behind(self, head: Boundary, place: Boundary) -> bool:
        """Return whether the state behind the facts is in memory, fetching it from the shelf."""
        if self._shelf is None or place.key in self._snapshots:
            return self._shelf is not None
        found = self._shelf.find_behind(head.key, place.key, length=place.length)
        if found is not None:
            self._hold_behind(head, found)
        return found is not None

    def _take_from_shelf(self, place: Boundary) -> None:
        if self._shelf is None or place.key in self._snapshots:
            return
        found = self._shelf.find(place.key, length=place.length)
        if found is not None:
            self._snapshots.keep(found)
