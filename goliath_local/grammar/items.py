"""The items of one kind of array: how many, and what each must be.

Pure. Where items must differ, or some must be of a kind, `arrays` counts what was read so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from goliath_local.schema import joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.schema import ArrayShape, Contained, Deferred, Goal, Reader

MOST_KINDS = 3
"""Different `contains` of one array that are counted at once."""


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """One kind of array."""

    prefix: tuple[Goal, ...]
    """What the first items must be."""

    rest: Goal
    """What all further items must be."""

    least: int
    most: int | None
    unique: Deferred | None
    """Where it says that items must differ."""

    contains: tuple[Contained, ...]
    deferred: frozenset[Deferred]

    @property
    def goals(self) -> list[Goal]:
        """What must be looked into to know which items can have a value."""
        found = [*self.prefix, self.rest]
        for item in [*self.prefix, self.rest]:
            for kinds in product(*((held.goal, held.but, ()) for held in self.contains)):
                found.append(joined(item, *kinds))
        found += [goal for held in self.contains for goal in (held.goal, held.but)]
        return list(dict.fromkeys(found))

    @property
    def needed(self) -> list[Goal]:
        """What has to have a value, or no array of the plan has one."""
        found = list(self.prefix[: self.least])
        if self.least > len(self.prefix):
            found.append(self.rest)
        return found

    def bears(self, is_fertile: Callable[[Goal], bool]) -> bool:
        """Return whether some array fits, as far as its items go."""
        if not all(is_fertile(goal) for goal in self.needed):
            return False
        return all(
            not held.least
            or any(is_fertile(joined(goal, held.goal)) for goal in (*self.prefix, self.rest))
            for held in self.contains
        )

    def most_of(self, is_fertile: Callable[[Goal], bool]) -> int | None:
        """Return how many items there can be, seeing that some places have no value."""
        for place, goal in enumerate(self.prefix):
            if not is_fertile(goal):
                return place if self.most is None else min(place, self.most)
        if not is_fertile(self.rest):
            size = len(self.prefix)
            return size if self.most is None else min(size, self.most)
        return self.most

    def goal(self, place: int) -> Goal:
        """Return what the item at a place must be."""
        return self.prefix[place] if place < len(self.prefix) else self.rest


def plan_array(reader: Reader, shape: ArrayShape) -> ArrayPlan | None:
    """Return the plan of an array shape; None when no array can have it."""
    size = max((len(facet.prefix) for facet in shape.facets), default=0)
    if shape.most is not None:
        size = min(size, shape.most)
    prefix = tuple(
        joined(
            *(
                facet.prefix[place] if place < len(facet.prefix) else facet.rest
                for facet in shape.facets
            )
        )
        for place in range(size)
    )
    rest = joined(*(facet.rest for facet in shape.facets))
    most = shape.most
    if reader.never[0] in rest:
        most = size if most is None else min(most, size)
    for place, goal in enumerate(prefix):
        if reader.never[0] in goal:
            most, prefix = place, prefix[:place]
            break
    if most is not None and shape.least > most:
        return None
    held = tuple(one for one in shape.contains if one.least or one.most is not None)
    left = frozenset(one.source for one in held[MOST_KINDS:])
    unique = None if most is not None and most < 2 else shape.unique
    return ArrayPlan(prefix, rest, shape.least, most, unique, held[:MOST_KINDS], left)
