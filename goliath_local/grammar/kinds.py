"""One kind of object as a machine over its keys.

Pure. A state is what was seen of the keys so far, as far as it matters for what may follow.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.machine import TooManyStates, living
from goliath_local.schema import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goliath_local.grammar.members import ObjectPlan
    from goliath_local.schema import Deferred, Goal

_MOST_STATES = 2000
_MOST_COUNTED = 500
_BLOCK = 10
"""Optional keys that are told apart in one rule; those of the next block are in the next rule.

Without blocks n optional keys would be n rules of n keys; with them, a text has to be told apart
from one key of each block at once, and no more.
"""

_MOST_IN_ANY_ORDER = 5
"""Keys of which each set that can be there is a state of its own."""

_MOST_ROWS = 150
"""States times keys, up to which required keys may come in any order."""


class Order(Enum):
    """In which order declared keys may come."""

    SCHEMA = 0
    """That of the schema; what is written is a plan, and its order a line of thought."""

    ANY = 1
    """Any; what was there is remembered key by key."""

    ANY_REQUIRED = 2
    """Any; only required keys are remembered."""

    LOOSE = 3
    """That of the schema among required keys, with the others anywhere."""


Seen: TypeAlias = tuple[int, int, frozenset[int], frozenset[int]]
"""Next member, keys so far, members and wanted keys that were seen, as far as it matters."""

_Row: TypeAlias = tuple[int | None, int, frozenset[int]]
"""A member, and then the next member in order and the members that were seen."""

Label: TypeAlias = tuple[str, int, int | None]
"""`member`, `region` or `skip`; its number; the wanted key it is."""


class ObjectKind:
    """One kind of object."""

    def __init__(
        self, plan: ObjectPlan, is_fertile: Callable[[Goal], bool], *, by_letter: bool
    ) -> None:
        self.is_fertile = is_fertile
        self.deferred: set[Deferred] = set()
        """What was left out, since counting it would take too many states."""

        self._plan(plan, by_letter=by_letter)
        try:
            self.steps = self._living()
        except TooManyStates:
            self.deferred = set(plan.counting)
            free = replace(plan, least=0, most=None, implies=(), some=())
            self._plan(free, by_letter=by_letter)
            self.steps = self._living()

    def _plan(self, plan: ObjectPlan, *, by_letter: bool) -> None:
        self.plan = plan
        self.regions = [
            (number, region)
            for number, region in enumerate(plan.regions)
            if self.is_fertile(region.goal)
        ]
        self.needed = frozenset(n for n, member in enumerate(plan.members) if member.required)
        fits_all = plan.most is None or (not self.regions and len(plan.members) <= plan.most)
        self.is_counted = plan.least > len(self.needed) or not fits_all
        self.cap = max(plan.least, 0 if plan.most is None else plan.most + 1)
        self.is_simple = not (self.is_counted or plan.implies or plan.some)
        self.order = self._order(by_letter=by_letter)

    def _living(self) -> dict[Seen, list[tuple[Label, Seen]]]:
        most = _MOST_STATES if self.is_simple else _MOST_COUNTED
        return living(self.start, self.following, self.is_end, most=most)

    @property
    def has_objects(self) -> bool:
        """True when some object is of the kind."""
        return self.start in self.steps

    @property
    def start(self) -> Seen:
        """What was seen before the first key."""
        return (0, 0, frozenset(), frozenset())

    def _order(self, *, by_letter: bool) -> Order:
        size = len(self.plan.members)
        if not by_letter:
            return Order.SCHEMA
        if size <= _MOST_IN_ANY_ORDER:
            return Order.ANY
        if not self.is_simple:
            return Order.SCHEMA
        if len(self.needed) < 8 and size << len(self.needed) <= _MOST_ROWS:
            return Order.ANY_REQUIRED
        return Order.LOOSE

    def is_end(self, seen: Seen) -> bool:
        """Return whether the object may end here."""
        at, count, members, marks = seen
        if self.order is Order.SCHEMA or self.order is Order.LOOSE:
            if any(number >= at for number in self.needed):
                return False
        elif not self.needed <= members:
            return False
        if self.is_counted and count < self.plan.least:
            return False
        return len(marks) == len(self.plan.some) and self._holds(members, len(self.plan.members))

    def _holds(self, members: frozenset[int], at: int) -> bool:
        """Return whether no key that was passed over had been asked for."""
        return all(
            second >= at or second in members
            for first, second in self.plan.implies
            if first in members
        )

    def following(self, seen: Seen) -> list[tuple[Label, Seen]]:
        """Return the keys that may come next, and what was seen then."""
        at, count, members, marks = seen
        if self.is_counted and self.plan.most is not None and count >= self.plan.most:
            return []
        more = min(count + 1, self.cap) if self.is_counted else 0
        found: list[tuple[Label, Seen]] = []
        rows = (
            self._in_order(at, members)
            if self.order is Order.SCHEMA
            else self._freely(at, members)
        )
        for number, then, kept in rows:
            if number is None:
                found.append((("skip", 0, None), (then, 0, frozenset(), frozenset())))
            elif self.is_fertile(self.plan.members[number].goal):
                found += self._marked("member", number, (then, more, kept, marks))
        for number, _ in self.regions:
            found += self._marked("region", number, (at, more, members, marks))
        return found

    def _in_order(self, at: int, members: frozenset[int]) -> Iterator[_Row]:
        """Yield the members up to the next required one; None where the look goes on elsewhere."""
        size = max(_BLOCK, len(self.plan.members) // 40)
        for number in range(at, len(self.plan.members)):
            required = number in self.needed
            if self.is_simple and number > at and number % size == 0 and not required:
                yield None, number, frozenset()
                return
            kept = self._kept(members, number, at)
            if kept is not None:
                yield number, number + 1, kept
            if required:
                return

    def _freely(self, at: int, members: frozenset[int]) -> Iterator[_Row]:
        """Yield the members that may come now, wherever they stand in the schema."""
        following = min((number for number in self.needed if number >= at), default=None)
        for number in range(len(self.plan.members)):
            if self.order is Order.LOOSE:
                if number not in self.needed:
                    yield number, at, members
                elif number == following:
                    yield number, number + 1, members
            elif number in members:
                continue
            elif self.order is Order.ANY or number in self.needed:
                yield number, at, members | {number}
            else:
                yield number, at, members

    def _kept(self, members: frozenset[int], number: int, at: int) -> frozenset[int] | None:
        """Return what is to be remembered after a member; None when it may not come now."""
        seen = members | {number}
        # A key that was asked for may not be passed over; one that asks for a passed one is late.
        passed = set(range(at, number))
        for first, second in self.plan.implies:
            if first in members and second in passed:
                return None
            if first == number and second < number and second not in members:
                return None
        matters = {
            one
            for first, second in self.plan.implies
            for one, other in ((first, second), (second, first))
            if other > number
        }
        return frozenset(seen & matters)

    def _marked(self, kind: str, number: int, seen: Seen) -> list[tuple[Label, Seen]]:
        """Return the step with a member or a region, and once more as each key that is wanted."""
        found: list[tuple[Label, Seen]] = [((kind, number, None), seen)]
        source = self.plan.members if kind == "member" else self.plan.regions
        at, count, members, marks = seen
        for mark in source[number].marks:
            if mark not in marks and self.is_fertile(self.goal((kind, number, mark))):
                found.append(((kind, number, mark), (at, count, members, marks | {mark})))
        return found

    def goal(self, label: Label) -> Goal:
        """Return what the value of a key must be."""
        kind, number, mark = label
        source = self.plan.members if kind == "member" else self.plan.regions
        goal = source[number].goal
        return goal if mark is None else joined(goal, self.plan.some[mark])
