"""The keywords that put schemas together, each as the values it leaves.

Pure. What cannot be told exactly is widened, and reported as deferred; nothing is ever narrowed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from goliath_local.schema.reads import MAX_SHAPES, Circular, only_object
from goliath_local.schema.shapes import (
    ArrayShape,
    ItemFacet,
    KeyFacet,
    ObjectShape,
    Values,
    deferring,
    everything,
    goal_of_key,
    join,
    meet,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.schema.document import Place
    from goliath_local.schema.reads import Reads
    from goliath_local.schema.shapes import Deferred, Goal

# With n branches there are 2^n - 1 ways in which some of them hold.
_MAX_TOGETHER = 4
_MAX_LOOKS = 3
"""How deep two objects are compared when it is asked whether any value fits both."""


def any_of(reader: Reads, place: Place) -> Values:
    """Return what passes `anyOf`."""
    branches = _branches(reader, place, "anyOf")
    if not reader.is_annotating or len(branches) > _MAX_TOGETHER:
        return join(branches, reader.algebra)
    # Which keys count as looked at depends on all branches that hold, not on one.
    together = []
    for size in range(1, len(branches) + 1):
        for chosen in combinations(branches, size):
            found = chosen[0]
            for other in chosen[1:]:
                found = meet(found, other, reader.algebra)
            together.append(found)
    return join(together, reader.algebra)


def one_of(reader: Reads, place: Place) -> Values:
    """Return what passes `oneOf`: exactly, or as `anyOf` with a report."""
    branches = _branches(reader, place, "oneOf")
    source = (place.pointer, "oneOf")
    overlapping: dict[int, list[int]] = {}
    for one, other in combinations(range(len(branches)), 2):
        if not _apart(reader, branches[one], branches[other]):
            overlapping.setdefault(one, []).append(other)
            overlapping.setdefault(other, []).append(one)
    if not overlapping:
        return join(branches, reader.algebra)
    alone = [
        _alone(reader, place, branches, number, overlapping.get(number, []))
        for number in range(len(branches))
    ]
    exact = [found for found in alone if found is not None]
    if len(exact) == len(alone):
        found = join(exact, reader.algebra)
        if max(len(found.objects), len(found.arrays)) <= MAX_SHAPES // 2:
            return found
    return deferring(join(branches, reader.algebra), source)


def _branches(reader: Reads, place: Place, keyword: str) -> list[Values]:
    return [
        reader.values(reader.goal(schema, place, keyword, number))
        for number, schema in enumerate(place.schema[keyword])
    ]


def _alone(
    reader: Reads, place: Place, branches: Sequence[Values], number: int, others: list[int]
) -> Values | None:
    """Return what passes one branch and none of the others; None when that cannot be told."""
    found = branches[number]
    if found.is_inexact:
        return None
    for other in others:
        below = reader.document.below(place, "oneOf", other)
        complement = reader.values(reader.negated(below, (place.pointer, "oneOf")))
        if complement.is_inexact:
            return None
        if len(found.objects) * len(complement.objects) > MAX_SHAPES:
            return None
        found = meet(found, complement, reader.algebra)
    return found


def _apart(reader: Reads, left: Values, right: Values, looks: int = _MAX_LOOKS) -> bool:
    """Return whether surely no value passes both."""
    if (left.null and right.null) or (left.booleans & right.booleans):
        return False
    return _is_barren(reader, meet(left, right, reader.algebra), looks)


def _is_barren(reader: Reads, values: Values, looks: int) -> bool:
    """Return whether surely no value is left, looking a few keys deep."""
    if values.null or values.booleans or values.numbers:
        return False
    if not reader.is_empty(values.text):
        return False
    if any(shape.least == 0 for shape in values.arrays):
        return False
    for array in values.arrays:
        goals = [facet.prefix[0] if facet.prefix else facet.rest for facet in array.facets]
        if not any(_never(reader, goal, looks) for goal in goals):
            return False
    return all(is_barren_object(reader, shape, looks) for shape in values.objects)


def is_barren_object(reader: Reads, shape: ObjectShape, looks: int = 1) -> bool:
    """Return whether a required key surely cannot have a value."""
    for name in shape.required + shape.needed:
        goal = goal_of_key(shape, name)
        if goal is not None and _never(reader, goal, looks):
            return True
    return False


def _never(reader: Reads, goal: Goal, looks: int) -> bool:
    if not goal or looks == 0:
        return False
    try:
        values = reader.values(goal)
    except Circular:
        return False  # it is being read right now
    return _is_barren(reader, values, looks - 1)


def but_not(reader: Reads, place: Place) -> Values:
    """Return what passes `not`."""
    below = reader.document.below(place, "not")
    found = reader.values(reader.negated(below, (place.pointer, "not")))
    if found.is_inexact:
        return deferring(everything(reader.algebra), (place.pointer, "not"))
    return found


def if_then_else(reader: Reads, place: Place) -> Values:
    """Return what passes `if` with its `then` and `else`."""
    schema = place.schema
    if "then" not in schema and "else" not in schema and not reader.is_annotating:
        return everything(reader.algebra)
    condition = reader.document.below(place, "if")
    holds = reader.values((condition.number,))
    source = (place.pointer, "if")
    fails = reader.values(reader.negated(condition, source))
    then = _branch(reader, place, "then")
    other = _branch(reader, place, "else")
    if fails.is_inexact or holds.is_inexact:
        if is_everything(then, reader) and is_everything(other, reader):
            return everything(reader.algebra)
        return deferring(join([then, other], reader.algebra), source)
    passed = reader.met(holds, then, source)
    failed = reader.met(fails, other, source)
    return join([passed, failed], reader.algebra)


def is_everything(values: Values, reader: Reads) -> bool:
    """Return whether surely every value is allowed."""
    return values == everything(reader.algebra)


def _branch(reader: Reads, place: Place, keyword: str) -> Values:
    if keyword not in place.schema:
        return everything(reader.algebra)
    return reader.values(reader.goal(place.schema[keyword], place, keyword))


def dependent_schema(reader: Reads, place: Place, keyword: str, name: str) -> Values:
    """Return what passes one entry of `dependentSchemas`."""
    absent = join([_but_objects(reader), without_key(reader, name)], reader.algebra)
    goal = reader.goal(place.schema[keyword][name], place, keyword, name)
    present = only_object(reader, ObjectShape(needed=(name,)))
    source: Deferred = (place.pointer, keyword)
    return join([absent, reader.met(present, reader.values(goal), source)], reader.algebra)


def without_key(reader: Reads, name: str) -> Values:
    """Return the objects that do not have a key."""
    facet = KeyFacet(properties=((name, reader.never),), tells=False)
    return only_object(reader, ObjectShape(facets=(facet,)))


def _but_objects(reader: Reads) -> Values:
    return replace(everything(reader.algebra), objects=())


def unevaluated(reader: Reads, values: Values, place: Place) -> Values:
    """Return what passes `unevaluatedProperties` and `unevaluatedItems` beside all the rest."""
    arrays, objects = values.arrays, values.objects
    deferred = set(values.deferred)
    if "unevaluatedItems" in place.schema:
        goal = reader.goal(place.schema["unevaluatedItems"], place, "unevaluatedItems")
        if any(shape.contains and shape.seen_to is not None for shape in arrays):
            deferred.add((place.pointer, "unevaluatedItems"))
        else:
            arrays = tuple(_with_rest(shape, goal) for shape in arrays)
    if "unevaluatedProperties" in place.schema:
        goal = reader.goal(place.schema["unevaluatedProperties"], place, "unevaluatedProperties")
        source = (place.pointer, "unevaluatedProperties")
        objects = tuple(_with_others(shape, goal, source) for shape in objects)
    return replace(values, arrays=arrays, objects=objects, deferred=frozenset(deferred))


def _with_rest(shape: ArrayShape, goal: Goal) -> ArrayShape:
    if shape.seen_to is None:
        return shape  # every item was looked at
    facet = ItemFacet(prefix=((),) * shape.seen_to, rest=goal)
    return replace(shape, facets=(*shape.facets, facet), seen_to=None)


def _with_others(shape: ObjectShape, goal: Goal, source: Deferred) -> ObjectShape:
    told = [facet for facet in shape.facets if facet.tells and facet.looks]
    if any(facet.additional is not None for facet in told):
        return shape  # every key was looked at
    names = dict.fromkeys(name for facet in told for name, _ in facet.properties)
    facet = KeyFacet(
        properties=tuple((name, ()) for name in names),
        patterns=tuple((s, m, ()) for facet in told for s, m, _ in facet.patterns),
        additional=goal,
        source=source,
    )
    return replace(shape, facets=(*shape.facets, facet))
