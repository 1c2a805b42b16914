"""What the parts of the reader need of one another.

Pure: a protocol, and the few values everyone makes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from goliath_local.errors import SchemaError
from goliath_local.schema.shapes import ArrayShape, ObjectShape, Values, nothing

if TYPE_CHECKING:
    from goliath_local.schema.document import Document, Place
    from goliath_local.schema.numbers import NumberSet
    from goliath_local.schema.regular import Algebra, Language
    from goliath_local.schema.shapes import Deferred, Goal


class Circular(SchemaError):
    """A schema refers to itself before any value is met."""


MAX_SHAPES = 48
"""Most kinds of object, or of array, that one schema may come apart into."""


class Reads(Protocol):
    """The reader, as its parts see it."""

    document: Document
    algebra: Algebra
    by_letter: bool
    never: Goal
    """The goal that no value reaches."""

    is_annotating: bool
    """Whether it matters which subschemas looked at a key or an item."""

    def values(self, goal: Goal) -> Values:
        """Return what is allowed where all the places of the goal hold."""
        ...

    def goal(self, schema: Any, place: Place, *keys: str | int) -> Goal:
        """Return the goal of a subschema below a place; empty when it allows everything."""
        ...

    def negated(self, place: Place, blame: Deferred) -> Goal:
        """Return the goal of everything that a place does not hold."""
        ...

    def is_empty(self, text: Language) -> bool:
        """Return whether surely no text belongs to a language."""
        ...

    def met(self, left: Values, right: Values, source: Deferred) -> Values:
        """Return what both allow, or the left and a report when that is too much to tell apart."""
        ...


def only_text(reader: Reads, text: Language) -> Values:
    """Return the strings of a language, and no other value."""
    return replace(nothing(reader.algebra), text=text)


def only_numbers(reader: Reads, *sets: NumberSet) -> Values:
    """Return numbers, and no other value."""
    return replace(nothing(reader.algebra), numbers=sets)


def only_array(reader: Reads, shape: ArrayShape) -> Values:
    """Return arrays of one shape, and no other value."""
    return replace(nothing(reader.algebra), arrays=(shape,))


def only_object(reader: Reads, shape: ObjectShape) -> Values:
    """Return objects of one shape, and no other value."""
    return replace(nothing(reader.algebra), objects=(shape,))
