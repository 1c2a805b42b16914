"""What a schema allows, normalised: for each JSON type the values that are left.

Pure: data, and how two of them meet. A schema that allows several kinds of object holds a shape
for each; inside a shape everything holds at once. What stands inside arrays and objects is not
looked into here: a `Goal` names the subschemas that all must hold there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.schema.numbers import NumberSet
from goliath_local.schema.numbers import meet as meet_numbers

if TYPE_CHECKING:
    from goliath_local.schema.regular import Algebra, Automaton, Language

Goal: TypeAlias = tuple[int, ...]
"""Numbers of the places that must all hold; none at all for any value."""

Deferred: TypeAlias = tuple[str, str]
"""JSON pointer and keyword of something that is checked after decoding."""


def joined(*goals: Goal) -> Goal:
    """Return the goal that holds where all of them do."""
    return tuple(dict.fromkeys(number for goal in goals for number in goal))


@dataclass(frozen=True, slots=True)
class ItemFacet:
    """What one subschema says about the items of an array."""

    prefix: tuple[Goal, ...]
    rest: Goal


@dataclass(frozen=True, slots=True)
class Contained:
    """So many items must be of one kind."""

    goal: Goal
    but: Goal
    """Every item that is not of the kind."""

    least: int
    most: int | None
    source: Deferred
    start: int = 0
    """Items before this place do not count."""


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """Arrays for which everything in here holds."""

    facets: tuple[ItemFacet, ...] = ()
    least: int = 0
    most: int | None = None
    unique: Deferred | None = None
    """Where it says so; None when items may be equal."""

    contains: tuple[Contained, ...] = ()
    seen_to: int | None = 0
    """Items before this place were looked at by a subschema; None: all were."""


@dataclass(frozen=True, slots=True)
class KeyFacet:
    """What one subschema says about the keys of an object."""

    properties: tuple[tuple[str, Goal], ...] = ()
    patterns: tuple[tuple[Automaton, Automaton, Goal], ...] = ()
    """What surely matches, what may match, and what holds for the values of such keys."""

    additional: Goal | None = None
    """What holds for the values of all other keys; None where nothing is said."""

    source: Deferred = ("", "")
    tells: bool = True
    """Whether its keys count as declared, which those of a complement do not."""

    looks: bool = True
    """Whether they count as looked at too, which those of listed values do not."""


@dataclass(frozen=True, slots=True)
class SomeKey:
    """At least one key of a language has a value that fits."""

    names: Language
    goal: Goal


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """Objects for which everything in here holds."""

    facets: tuple[KeyFacet, ...] = ()
    required: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    """Keys that must be there too, only because a complement wants them."""

    least: int = 0
    most: int | None = None
    names: Language | None = None
    """What keys may be; None: anything."""

    implies: tuple[tuple[str, str], ...] = ()
    """Where the first key is, the second is too."""

    some: tuple[SomeKey, ...] = ()
    counted: Deferred | None = None
    """Where a least number of keys is asked for."""


@dataclass(frozen=True, slots=True)
class Values:
    """What is allowed, type by type."""

    null: bool
    booleans: frozenset[bool]
    numbers: tuple[NumberSet, ...]
    text: Language
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]
    deferred: frozenset[Deferred] = field(default_factory=frozenset)

    @property
    def is_inexact(self) -> bool:
        """True when more is allowed here than the schema does."""
        return bool(self.deferred)


def everything(algebra: Algebra) -> Values:
    """Return every JSON value."""
    return Values(
        null=True,
        booleans=frozenset((True, False)),
        numbers=(NumberSet(),),
        text=algebra.anything,
        arrays=(ArrayShape(),),
        objects=(ObjectShape(),),
    )


def nothing(algebra: Algebra) -> Values:
    """Return no value at all."""
    return Values(False, frozenset(), (), algebra.nothing, (), ())


def is_nothing(values: Values, algebra: Algebra) -> bool:
    """Return whether surely no value is left."""
    return not (
        values.null
        or values.booleans
        or values.numbers
        or values.arrays
        or values.objects
        or values.text is not algebra.nothing
    )


def meet(left: Values, right: Values, algebra: Algebra) -> Values:
    """Return what both allow."""
    numbers = [
        number
        for one in left.numbers
        for other in right.numbers
        if (number := one if one == other else meet_numbers(one, other)) is not None
    ]
    arrays = [
        array
        for one in left.arrays
        for other in right.arrays
        if (array := meet_arrays(one, other)) is not None
    ]
    objects = [
        shape
        for one in left.objects
        for other in right.objects
        if (shape := meet_objects(one, other, algebra)) is not None
    ]
    return Values(
        null=left.null and right.null,
        booleans=left.booleans & right.booleans,
        numbers=tuple(dict.fromkeys(numbers)),
        text=algebra.both((left.text, right.text)),
        arrays=tuple(dict.fromkeys(arrays)),
        objects=tuple(dict.fromkeys(objects)),
        deferred=left.deferred | right.deferred,
    )


def join(parts: list[Values], algebra: Algebra) -> Values:
    """Return what any of them allows."""
    return Values(
        null=any(part.null for part in parts),
        booleans=frozenset(value for part in parts for value in part.booleans),
        numbers=tuple(dict.fromkeys(n for part in parts for n in part.numbers)),
        text=algebra.either([part.text for part in parts]),
        arrays=tuple(dict.fromkeys(a for part in parts for a in part.arrays)),
        objects=tuple(dict.fromkeys(o for part in parts for o in part.objects)),
        deferred=frozenset(item for part in parts for item in part.deferred),
    )


_ANY_ARRAY, _ANY_OBJECT = ArrayShape(), ObjectShape()


def meet_arrays(left: ArrayShape, right: ArrayShape) -> ArrayShape | None:
    """Return the arrays of both shapes; None when their lengths exclude each other."""
    if left is right or right == _ANY_ARRAY:
        return left
    if left == _ANY_ARRAY:
        return right
    least, most = max(left.least, right.least), lower(left.most, right.most)
    if most is not None and least > most:
        return None
    seen = None
    if left.seen_to is not None and right.seen_to is not None:
        seen = max(left.seen_to, right.seen_to)
    return ArrayShape(
        facets=tuple(dict.fromkeys(left.facets + right.facets)),
        least=least,
        most=most,
        unique=left.unique or right.unique,
        contains=tuple(dict.fromkeys(left.contains + right.contains)),
        seen_to=seen,
    )


def meet_objects(left: ObjectShape, right: ObjectShape, algebra: Algebra) -> ObjectShape | None:
    """Return the objects of both shapes; None when their sizes exclude each other."""
    if left is right or right == _ANY_OBJECT:
        return left
    if left == _ANY_OBJECT:
        return right
    least, most = max(left.least, right.least), lower(left.most, right.most)
    if most is not None and least > most:
        return None
    names = left.names if right.names is None else right.names
    if left.names is not None and right.names is not None:
        names = algebra.both((left.names, right.names))
    return ObjectShape(
        facets=tuple(dict.fromkeys(left.facets + right.facets)),
        required=tuple(dict.fromkeys(left.required + right.required)),
        needed=tuple(dict.fromkeys(left.needed + right.needed)),
        least=least,
        most=most,
        names=names,
        implies=tuple(dict.fromkeys(left.implies + right.implies)),
        some=tuple(dict.fromkeys(left.some + right.some)),
        counted=left.counted or right.counted,
    )


def lower(one: int | None, other: int | None) -> int | None:
    """Return the lower of two limits, of which None is none."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def goal_of_key(shape: ObjectShape, name: str) -> Goal | None:
    """Return what holds for the value of a key; None where a shape cannot say whether it may be.

    It cannot say where a pattern may match the key or not.
    """
    goals: list[Goal] = []
    for facet in shape.facets:
        is_named = False
        for key, goal in facet.properties:
            if key == name:
                goals.append(goal)
                is_named = True
        for surely, maybe, goal in facet.patterns:
            if surely.accepts(name):
                goals.append(goal)
                is_named = True
            elif maybe.accepts(name):
                return None
        if not is_named and facet.additional is not None:
            goals.append(facet.additional)
    return joined(*goals)


def deferring(values: Values, *items: Deferred) -> Values:
    """Return the values with more to be checked after decoding."""
    return replace(values, deferred=values.deferred | frozenset(items))
