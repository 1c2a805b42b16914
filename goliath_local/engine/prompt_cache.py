"""Brings a session to a prompt: truncates, restores, evaluates, and saves what is worth it.

Edge, over the session; `reuse` decides. Used by the model's worker alone. In memory there is one
state for a static head. It takes in what stands behind the head, as far as that may be wanted
again, and is cut back to what the next prompt has in common with it (docs/decisions/0025).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from goliath_local.engine.native import Aborted
from goliath_local.engine.prompt import PromptPart
from goliath_local.engine.reuse import (
    WORTH_SAVING_TOKENS,
    Boundary,
    boundaries,
    head_end,
    lasting_end,
    plan_reuse,
    standing_end,
)
from goliath_local.engine.snapshots import Snapshot, Snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.engine.native import Session


NO_HEAD: Final = ""
"""Whose state it is that begins with no static head."""


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

    def wants_behind(self, head: str) -> bool:
        """Return whether what stands behind a head now would be written down."""
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
        self._behind_unwritten: dict[str, Snapshot] = {}

    def sync(self, parts: Sequence[PromptPart], *, goes_on: bool = False) -> Synced:
        """Bring the session to exactly these parts, the logits behind the last one at hand.

        Args:
            parts: of the prompt, at least one.
            goes_on: the next prompt with this head is likely to say more of the same.

        Raises:
            Aborted: the stop flag was raised.
            ModelUnavailable: llama.cpp gave up.
        """
        wanted = boundaries(parts)
        kept = 0 if self._is_fresh else self._reuse(parts, wanted)
        if kept == 0:
            self._session.clear()
        self._evaluate_from(kept, parts, wanted, standing=standing_end(parts, goes_on=goes_on))
        restored = wanted[kept - 1].length if kept else 0
        return Synced(evaluated_tokens=wanted[-1].length - restored, restored_tokens=restored)

    def warm(self, parts: Sequence[PromptPart]) -> None:
        """Have the static head of this prompt saved, evaluating what is not known yet."""
        end = head_end(parts)
        if end is None or end + 1 == len(parts) or self._is_fresh:
            return
        wanted = boundaries(parts)[: end + 1]
        if self._snapshots.has(wanted[end].key):
            return  # perhaps with the facts behind it
        self._take_from_shelf(wanted[end])
        if wanted[end].key not in self._snapshots:
            # One part more than the head, so that the plan may keep all of the head.
            kept = self._reuse(parts[: end + 2], boundaries(parts)[: end + 2])
            if kept == 0:
                self._session.clear()
            self._evaluate_from(kept, parts, wanted, standing=None)

    def score(self, head: PromptPart, ids: Sequence[int], *, given: int) -> float:
        """Return how probable ids are behind a head, all but the first `given`, in nats.

        The head is kept as that of a prompt is; the ids are taken back.

        Raises:
            Aborted: the stop flag was raised.
            ModelUnavailable: llama.cpp gave up.
        """
        behind = PromptPart(name="scored", ids=tuple(ids), template_tokens=0, is_head=False)
        parts = (head, behind)
        wanted = boundaries(parts)
        kept = 0 if self._is_fresh else self._reuse(parts, wanted)
        if kept == 0:
            self._session.clear()
        self._evaluate_from(kept, parts, wanted[:1], standing=None)
        self._held = ()
        total = float(self._session.scores(ids, given=given).sum())
        if self._session.truncate(wanted[0].length):
            self._held = wanted[:1]
        return total

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
        if end == len(parts) - 1:
            end = None  # the last part is always evaluated, so this head is of no use
        if lasting is not None:
            self._take_behind(wanted[: lasting + 1])
        self._take_head(wanted, end)
        is_refused = False
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
            if not is_refused:  # once: what cannot be deleted either would be read for ever
                is_refused = True
                self._take_head(wanted, end)

    def _restore(self, place: Boundary) -> bool:
        self._held = ()
        snapshot = self._snapshots.find(place.key)
        if (
            snapshot is not None
            and self._session.restore(snapshot.state, length=snapshot.length)
            and self._session.truncate(place.length)
        ):
            return True
        self._snapshots.drop(place.key)
        if self._shelf is not None:
            self._shelf.drop(place.key)
        return False

    def _evaluate_from(
        self,
        kept: int,
        parts: Sequence[PromptPart],
        wanted: Sequence[Boundary],
        *,
        standing: int | None,
    ) -> None:
        last = len(parts) - 1
        end, lasting = head_end(parts), lasting_end(parts)
        for index in range(kept, len(wanted)):
            self._held = tuple(wanted[:index])
            try:
                self._session.evaluate(parts[index].ids, want_logits=index == last)
            except Aborted:
                self._held = ()
                raise
            self._held = tuple(wanted[: index + 1])
            if self._is_fresh or index == last:
                continue
            if index == end:
                self._save_head(wanted[index])
            elif index == lasting and self._is_wanted_behind(wanted[index - 1]):
                self._save_behind(wanted[: index + 1])
            elif index == standing and self._is_further(wanted[: index + 1]):
                self._grow(wanted[: index + 1], end=end)

    def _is_wanted_behind(self, head: Boundary) -> bool:
        return self._shelf is not None and self._shelf.wants_behind(head.key)

    def _is_further(self, wanted: Sequence[Boundary]) -> bool:
        saved = max((place.length for place in wanted if place.key in self._snapshots), default=0)
        return wanted[-1].length - saved >= WORTH_SAVING_TOKENS

    def _save_head(self, head: Boundary) -> None:
        snapshot = Snapshot(key=head.key, length=head.length, state=self._session.save())
        self._snapshots.keep(head.key, snapshot)
        if self._shelf is not None:
            self._unwritten[head.key] = snapshot

    def _save_behind(self, wanted: Sequence[Boundary]) -> None:
        """Keep the state behind the facts, which stand right behind the head."""
        head = wanted[-2].key
        snapshot = self._snapshot(wanted[-2:])
        self._snapshots.keep(head, snapshot)
        self._behind_unwritten[head] = snapshot

    def _grow(self, wanted: Sequence[Boundary], *, end: int | None) -> None:
        """Let the state of this head reach further, if there is room for that."""
        if not self._session.can_truncate:
            return  # it could be used for this very prompt alone
        head = NO_HEAD if end is None else wanted[end].key
        if self._snapshots.make_room(head, self._session.state_bytes):
            self._snapshots.keep(head, self._snapshot(wanted[end or 0 :]))

    def _snapshot(self, places: Sequence[Boundary]) -> Snapshot:
        """Return the state behind the last of these places, to be cut back to any of them."""
        key, length = places[-1].key, places[-1].length
        marks = self._marks(places)
        return Snapshot(key=key, length=length, state=self._session.save(), marks=marks)

    def _marks(self, places: Sequence[Boundary]) -> tuple[Boundary, ...]:
        return tuple(places) if self._session.can_truncate else ()

    def _take_behind(self, wanted: Sequence[Boundary]) -> None:
        """Fetch the state behind the facts from the shelf, if it is not in memory."""
        head, place = wanted[-2:]
        if self._shelf is None or place.key in self._snapshots:
            return
        found = self._shelf.find_behind(head.key, place.key, length=place.length)
        if found is not None:
            self._snapshots.keep(head.key, replace(found, marks=self._marks(wanted[-2:])))

    def _take_head(self, wanted: Sequence[Boundary], end: int | None) -> None:
        if end is not None and not any(place.key in self._snapshots for place in wanted[end:-1]):
            self._take_from_shelf(wanted[end])

    def _take_from_shelf(self, head: Boundary) -> None:
        if self._shelf is None or head.key in self._snapshots:
            return
        found = self._shelf.find(head.key, length=head.length)
        if found is not None:
            self._snapshots.keep(head.key, found)
