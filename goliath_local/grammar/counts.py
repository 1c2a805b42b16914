"""Arrays whose items are counted, as a machine.

Pure. A state is how many items there were, and how many of each kind, as far as that matters.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Protocol, TypeAlias

from goliath_local.grammar.machine import TooManyStates, living
from goliath_local.schema import joined

if TYPE_CHECKING:
    from goliath_local.grammar.items import ArrayPlan
    from goliath_local.schema import Contained, Goal

_MOST_COUNTS = 400

Count: TypeAlias = tuple[int, tuple[int, ...]]
"""Items so far, as far as it matters, and how many of each kind."""


class Knows(Protocol):
    """What is known of goals."""

    def is_fertile(self, goal: Goal) -> bool:
        """Return whether some value fits a goal."""
        ...

    def is_exact(self, goal: Goal) -> bool:
        """Return whether no more is allowed by a goal than it says."""
        ...


class Counts:
    """The arrays of a plan, item by item."""

    def __init__(self, knows: Knows, plan: ArrayPlan, most: int | None) -> None:
        self.knows, self.plan, self.most = knows, plan, most
        starts = [held.start for held in plan.contains]
        self.cap = max(len(plan.prefix), plan.least, most or 0, *starts)
        self.steps: dict[Count, list[tuple[Goal, Count]]] = {}

    @property
    def start(self) -> Count:
        """What was counted before the first item."""
        return (0, (0,) * len(self.plan.contains))

    def explore(self) -> bool:
        """Find the states that lead to an end; return whether that can be done at all."""
        if any(held.most is not None and not self.is_exact(held) for held in self.plan.contains):
            return False
        if self.cap > _MOST_COUNTS:
            return False
        try:
            self.steps = living(self.start, self.options, self.is_end, most=_MOST_COUNTS)
        except TooManyStates:
            return False
        return True

    @property
    def has_arrays(self) -> bool:
        """True when some array fits, once explored."""
        return self.start in self.steps

    def is_exact(self, held: Contained) -> bool:
        """Return whether it is known which items are not of a kind."""
        return self.knows.is_exact(held.but)

    def is_end(self, count: Count) -> bool:
        """Return whether the array may end here."""
        place, counts = count
        return place >= self.plan.least and all(
            found >= held.least for found, held in zip(counts, self.plan.contains, strict=True)
        )

    def options(self, count: Count) -> list[tuple[Goal, Count]]:
        """Return which items may come next, and what is counted then."""
        place, counts = count
        if self.most is not None and place >= self.most:
            return []
        goal = self.plan.goal(place)
        choices = [
            self.choices(held, found, place)
            for held, found in zip(self.plan.contains, counts, strict=True)
        ]
        following = min(place + 1, self.cap)
        steps = []
        for chosen in product(*choices):
            wanted = joined(goal, *(one for one, _ in chosen))
            if self.knows.is_fertile(wanted):
                steps.append((wanted, (following, tuple(found for _, found in chosen))))
        return steps

    def choices(self, held: Contained, found: int, place: int) -> list[tuple[Goal, int]]:
        """Return what an item may be as to one kind, and how many there are of it then."""
        if place < held.start or (held.most is None and found >= held.least):
            return [((), found)]
        other = held.but if self.is_exact(held) else ()
        choices = [(other, found)]
        if held.most is None or found < held.most:
            choices.append((held.goal, found + 1))
        return choices
