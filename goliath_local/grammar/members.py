"""The keys of one kind of object: which may come, in which order, and what their values must be.

Pure. A shape says what its subschemas say; a plan says what follows from all of it together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.schema import goal_of_key, joined

if TYPE_CHECKING:
    from goliath_local.schema import Deferred, Goal, KeyFacet, ObjectShape, Reader
    from goliath_local.schema.regular import Language

MOST_NAME_TEXT = 6000
"""Characters of all declared names, up to which extra keys are kept apart from them."""

_MOST_REGIONS = 32


@dataclass(frozen=True, slots=True)
class Member:
    """A key with a name of its own."""

    name: str
    goal: Goal
    required: bool
    marks: frozenset[int]
    """Which of the wanted keys it is by its name."""


@dataclass(frozen=True, slots=True)
class Region:
    """All other keys of which the same holds."""

    names: Language
    goal: Goal
    marks: frozenset[int]


@dataclass(frozen=True, slots=True)
class ObjectPlan:
    """One kind of object."""

    members: tuple[Member, ...]
    """In the order they come in; any other key may come anywhere."""

    regions: tuple[Region, ...]
    least: int
    most: int | None
    implies: tuple[tuple[int, int], ...]
    """Where the first member is, the second is too."""

    some: tuple[Goal, ...]
    """For each wanted key, what its value must be."""

    counting: tuple[Deferred, ...]
    """What asks for keys to be counted or remembered, and where."""

    deferred: frozenset[Deferred]
    is_strained: bool
    """Holds a key that only a complement asks for."""

    @property
    def goals(self) -> list[Goal]:
        """What must be looked into to know which keys can have a value."""
        found = [member.goal for member in self.members] + [r.goal for r in self.regions]
        marked = [(m.goal, m.marks) for m in self.members]
        marked += [(region.goal, region.marks) for region in self.regions]
        return found + [joined(goal, self.some[mark]) for goal, marks in marked for mark in marks]


def plan_object(reader: Reader, shape: ObjectShape, *, closed: bool) -> ObjectPlan | None:
    """Return the plan of an object shape; None when no object can have it.

    Args:
        reader: where the shape comes from.
        shape: what was said of the object.
        closed: without a word on further keys there are none.
    """
    told = [facet for facet in shape.facets if facet.tells]
    is_closed = closed and (bool(told) or bool(shape.required))
    is_closed = is_closed and all(facet.additional is None for facet in told)
    names = _names(shape, told, is_closed=is_closed)
    if is_closed and shape.least > len(names) and not any(facet.patterns for facet in told):
        is_closed = False  # more keys are asked for than are named
        names = _names(shape, told, is_closed=False)
    required = _with_consequences(shape)
    members: list[Member] = []
    for name in names:
        goal = goal_of_key(shape, name)
        may_be = is_writable(name) and (shape.names is None or _accepts(reader, shape.names, name))
        if goal is None or not may_be or reader.never[0] in goal:
            if name in required:
                return None
            continue
        marks = _marks(reader, shape, name)
        members.append(Member(name, goal, name in required, marks))
    regions, deferred = _regions(reader, shape, list(names), is_closed=is_closed)
    at = {member.name: number for number, member in enumerate(members)}
    if shape.counted and regions and shape.least > len(required):
        # The same extra key may come twice, and then counts once.
        deferred |= {shape.counted}
    # A key whose consequence can never be there can never be there itself.
    barred = {name for name, other in shape.implies if name in at and other not in at}
    if barred:
        members = [member for member in members if member.name not in barred]
        at = {member.name: number for number, member in enumerate(members)}
    return ObjectPlan(
        members=tuple(members),
        regions=tuple(regions),
        least=shape.least,
        most=shape.most,
        implies=tuple(
            (at[name], at[other]) for name, other in shape.implies if name in at and other in at
        ),
        some=tuple(some.goal for some in shape.some),
        counting=_counting(shape),
        deferred=frozenset(deferred),
        is_strained=is_closed and not set(shape.needed) <= _declared(told, shape),
    )


def is_writable(name: str) -> bool:
    """Return whether a text in UTF-8 can hold the name: half a surrogate pair is no character."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _with_consequences(shape: ObjectShape) -> dict[str, None]:
    """Return the keys that must be there, and those they ask for in turn."""
    found = dict.fromkeys(shape.required + shape.needed)
    size = -1
    while size != len(found):
        size = len(found)
        found |= {other: None for name, other in shape.implies if name in found}
    return found


def _counting(shape: ObjectShape) -> tuple[Deferred, ...]:
    pointer = shape.facets[0].source[0] if shape.facets else ""
    found = {
        "minProperties": shape.least > 0,
        "maxProperties": shape.most is not None,
        "dependentRequired": bool(shape.implies),
        "not": bool(shape.some),
    }
    return tuple((pointer, keyword) for keyword, is_there in found.items() if is_there)


def _declared(told: list[KeyFacet], shape: ObjectShape) -> set[str]:
    return {name for facet in told for name, _ in facet.properties} | set(shape.required)


def _names(shape: ObjectShape, told: list[KeyFacet], *, is_closed: bool) -> dict[str, None]:
    """Return the names that keys are told apart by, in order."""
    names = dict.fromkeys(name for facet in told for name, _ in facet.properties)
    names |= dict.fromkeys(shape.required + shape.needed)
    for name, other in shape.implies:
        if name in names or not is_closed:
            names |= {name: None, other: None}
    if not is_closed:
        names |= dict.fromkeys(name for facet in shape.facets for name, _ in facet.properties)
    return names


def _accepts(reader: Reader, language: Language, name: str) -> bool:
    for char in name:
        language = reader.algebra.after(language, ord(char))
    return language.has_empty


def _marks(reader: Reader, shape: ObjectShape, name: str) -> frozenset[int]:
    return frozenset(
        number for number, some in enumerate(shape.some) if _accepts(reader, some.names, name)
    )


def _regions(
    reader: Reader, shape: ObjectShape, names: list[str], *, is_closed: bool
) -> tuple[list[Region], set[Deferred]]:
    """Return the further keys, by what holds for them, and what that leaves to be checked."""
    a = reader.algebra
    rest = a.anything if shape.names is None else shape.names
    deferred: set[Deferred] = set()
    facets = [facet for facet in shape.facets if facet.patterns or facet.additional is not None]
    if not any(facet.patterns for facet in facets):
        goals = [facet.additional for facet in facets if facet.additional is not None]
        if is_closed or reader.never[0] in joined(*goals):
            return [], deferred
    if sum(map(len, names)) <= MOST_NAME_TEXT:
        rest = a.both([rest, a.but_texts(names)]) if names else rest
    else:
        deferred |= {facet.source for facet in facets} or {
            (shape.facets[0].source[0], "properties")
        }
    parts: list[tuple[Language, Goal, bool]] = [(rest, (), False)]
    for facet in facets:
        parts = [cut for part in parts for cut in _cut(reader, part, facet)]
        if len(parts) > _MOST_REGIONS:
            deferred.add((facet.source[0], "patternProperties"))
            return [Region(rest, (), frozenset())], deferred
    marked = [
        (language, goal, is_matched, frozenset[int]()) for language, goal, is_matched in parts
    ]
    for number, some in enumerate(shape.some):
        marked = [
            cut
            for language, goal, is_matched, marks in marked
            for cut in (
                (a.both([language, some.names]), goal, is_matched, marks | {number}),
                (a.both([language, a.but(some.names)]), goal, is_matched, marks),
            )
        ]
    found = [
        Region(language, goal, marks)
        for language, goal, is_matched, marks in marked
        if (is_matched or not is_closed)
        and reader.never[0] not in goal
        and not reader.is_empty(language)
    ]
    return found, deferred


def _cut(
    reader: Reader, part: tuple[Language, Goal, bool], facet: KeyFacet
) -> list[tuple[Language, Goal, bool]]:
    """Return what a facet's patterns make of keys that were alike so far."""
    a = reader.algebra
    language, goal, is_matched = part
    cuts: list[tuple[Language, Goal, bool]] = [(language, (), False)]
    for surely, maybe, wanted in facet.patterns:
        inside, outside = a.automaton(surely), a.but(a.automaton(maybe))
        finer: list[tuple[Language, Goal, bool]] = []
        for held, goals, hit in cuts:
            inner = a.both([held, inside])
            # Few keys match two patterns.
            if hit and surely is maybe and reader.is_empty(inner):
                finer.append((held, goals, hit))
            else:
                finer.append((inner, joined(goals, wanted), True))
                finer.append((a.both([held, outside]), goals, hit))
        cuts = finer
    found = []
    for held, goals, hit in cuts:
        extra = goals if hit or facet.additional is None else joined(goals, facet.additional)
        found.append((held, joined(goal, extra), is_matched or hit))
    return found
