"""Reads a schema into what it allows, place by place, on demand.

Pure. Everything inside one place is put together here: references are followed, branches worked
in, types, bounds and lengths intersected. What is inside arrays and objects is left as goals, so
that a schema that refers to itself is read as far as anyone asks, and no further.
"""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

from goliath_local.errors import SchemaError
from goliath_local.schema.asserted import asserted
from goliath_local.schema.combined import (
    any_of,
    but_not,
    dependent_schema,
    if_then_else,
    one_of,
    unevaluated,
)
from goliath_local.schema.document import Document
from goliath_local.schema.keywords import KEYWORDS, SILENT, Support, crossed_bounds, verify_form
from goliath_local.schema.negated import complement
from goliath_local.schema.reads import MAX_SHAPES, Circular
from goliath_local.schema.regular import (
    MAX_STATES,
    Algebra,
    Kind,
    TooManyStates,
    determinise,
    is_run,
)
from goliath_local.schema.shapes import (
    Values,
    deferring,
    everything,
    is_nothing,
    meet,
    nothing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goliath_local.schema.document import Place
    from goliath_local.schema.regular import Automaton, Language
    from goliath_local.schema.shapes import Deferred, Goal

MAX_IN_PLACE = 50
"""References and compositions inside one another, before a value is met."""

_MOST_OF_PRODUCT = 600
"""States of a pattern together with a length."""

_LIKELY_PRODUCT = 20_000
"""States of both multiplied, above which it is not even tried."""

_COMPOSED = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "$recursiveRef")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Reader:
    """A schema that is being read. Remembers what it has found out."""

    def __init__(self, schema: Any, *, by_letter: bool = False) -> None:
        self.document = Document(schema)
        self.algebra = Algebra()
        self.by_letter = by_letter
        """Allow every spelling and every format JSON Schema does."""

        self.unknown: dict[Deferred, None] = {}
        """Keywords that nobody knows, in the order they were met."""

        self.is_annotating = False
        root = self.document.root
        self.never: Goal = (self.document.invented(False, root.pointer, root.resource).number,)
        self.root: Goal = (root.number,)
        self._known: dict[tuple[frozenset[int], bool], Values] = {}
        self._open: dict[int, None] = {}
        self._automata: dict[Language, Automaton | None] = {}
        self._left_out: set[Language] = set()
        self.states = 0
        """States of all automata made so far."""

    def values(self, goal: Goal) -> Values:
        """Return what is allowed where all the places of the goal hold.

        Raises:
            SchemaError: a schema there is broken, or refers to itself before a value is met.
        """
        key = (frozenset(goal), self.is_annotating)
        found = self._known.get(key)
        if found is None:
            found = everything(self.algebra)
            for number in goal:
                place = self.document.numbered(number)
                other = self._at(place)
                found = other if number == goal[0] else self.met(found, other, _whole(place))
            self._known[key] = found
        return found

    def goal(self, schema: Any, place: Place, *keys: str | int) -> Goal:
        """Return the goal of a subschema below a place; empty when it allows everything."""
        if schema is True or schema == {}:
            return ()
        if schema is False:
            return self.never
        return (self.document.below(place, *keys).number,)

    def negated(self, place: Place, blame: Deferred) -> Goal:
        """Return the goal of everything that a place does not hold."""
        return (self.document.negation(place, blame).number,)

    def automaton(self, text: Language) -> Automaton | None:
        """Return the automaton of a language, made once; None when it is too large."""
        if text not in self._automata:
            made: Automaton | None = None
            expected = _product_of(text)
            if expected <= _LIKELY_PRODUCT:
                # A length beside a pattern multiplies states.
                most = _MOST_OF_PRODUCT if expected else MAX_STATES
                with suppress(TooManyStates):
                    made = determinise(self.algebra, text, max_states=most)
            self._automata[text] = made
            self.states += 0 if made is None else len(made.steps)
        return self._automata[text]

    def is_empty(self, text: Language) -> bool:
        """Return whether surely no text belongs to a language."""
        if text.kind is Kind.EXCEPT:
            self._count(text)
            return False
        found = self.automaton(text)
        return found is not None and found.is_empty

    def _count(self, text: Language) -> None:
        """Count the states that keeping texts out of keys takes, as if it were an automaton."""
        if text not in self._left_out:
            self._left_out.add(text)
            self.states += sum(map(len, text.args[0]))

    def met(self, left: Values, right: Values, source: Deferred) -> Values:
        """Return what both allow, or the left and a report when that is too much to tell apart."""
        objects = len(left.objects) * len(right.objects)
        arrays = len(left.arrays) * len(right.arrays)
        if max(objects, arrays) > MAX_SHAPES * 4:
            return deferring(left, source)
        found = meet(left, right, self.algebra)
        if max(len(found.objects), len(found.arrays)) > MAX_SHAPES:
            return deferring(left, source)
        return found

    def _at(self, place: Place) -> Values:
        """Return what one place allows."""
        key = (frozenset((place.number,)), self.is_annotating)
        found = self._known.get(key)
        if found is not None:
            return found
        if place.number in self._open:
            raise Circular(
                place.pointer, "$ref", "the schema refers to itself before any value is met"
            )
        if len(self._open) >= MAX_IN_PLACE:
            raise SchemaError(
                place.pointer,
                "$ref",
                f"more than {MAX_IN_PLACE} references and compositions inside one another: "
                "flatten the schema",
            )
        self._open[place.number] = None
        try:
            found = complement(self, place) if place.negated else self._read(place)
        finally:
            del self._open[place.number]
        self._known[key] = found
        return found

    def _read(self, place: Place) -> Values:
        schema = place.schema
        if schema is True:
            return everything(self.algebra)
        if schema is False:
            return nothing(self.algebra)
        verify_form(schema, place.pointer)
        if place.resource.draft < 2019 and "$ref" in schema:
            return self._at(self.document.target(place))
        for keyword in schema:
            if keyword not in KEYWORDS:
                self.unknown[place.pointer, keyword] = None
        tells = "unevaluatedProperties" in schema or "unevaluatedItems" in schema
        was, self.is_annotating = self.is_annotating, self.is_annotating or tells
        try:
            found = None
            for keyword, part in self._parts(place):
                found = part if found is None else self.met(found, part, (place.pointer, keyword))
            assert found is not None
        finally:
            self.is_annotating = was
        return unevaluated(self, found, place) if tells else found

    def _parts(self, place: Place) -> Iterator[tuple[str, Values]]:
        """Yield what each part of a subschema allows, in the order that keys are to come."""
        schema: Mapping[str, Any] = place.schema
        # A base that is named before `properties` is a base: its keys come first.
        order = list(schema)
        own = order.index("properties") if "properties" in schema else -1
        bases = [k for k in ("$ref", "allOf") if k in schema and order.index(k) < own]
        for keyword in bases:
            yield from self._composed(place, keyword)
        yield "type", asserted(self, place)
        for keyword in _COMPOSED:
            if keyword in schema and keyword not in bases:
                yield from self._composed(place, keyword)
        for keyword in ("dependentSchemas", "dependencies"):
            for name, below in schema.get(keyword, {}).items():
                if not isinstance(below, list | tuple):
                    yield keyword, dependent_schema(self, place, keyword, name)

    def _composed(self, place: Place, keyword: str) -> Iterator[tuple[str, Values]]:
        match keyword:
            case "allOf":
                for number in range(len(place.schema["allOf"])):
                    yield keyword, self._at(self.document.below(place, "allOf", number))
            case "anyOf":
                yield keyword, any_of(self, place)
            case "oneOf":
                yield keyword, one_of(self, place)
            case "not":
                yield keyword, but_not(self, place)
            case "if":
                yield keyword, if_then_else(self, place)
            case _:
                yield keyword, self._at(self._referred(place, keyword))

    def _referred(self, place: Place, keyword: str) -> Place:
        ref = place.schema[keyword]
        if keyword == "$dynamicRef" and not self.document.is_lone_anchor(ref.rpartition("#")[2]):
            reason = f"$dynamicRef {ref}: several anchors bear that name; use $ref"
            raise SchemaError(place.pointer, keyword, reason)
        if keyword == "$recursiveRef" and not self.document.is_alone:
            reason = "$recursiveRef across several schemas: use $ref"
            raise SchemaError(place.pointer, keyword, reason)
        return self.document.target(place, keyword)

    def says_never(self, place: Place) -> bool:
        """Return whether a schema rules out everything in so many words: `false`, `not: {}`."""
        schema = place.schema
        if isinstance(schema, bool):
            return not schema
        said = {key: value for key, value in schema.items() if key not in SILENT}
        if list(said) == ["$ref"]:
            target = self.document.target(place)
            return target is not place and target.schema is False
        return said in ({"not": {}}, {"not": True})

    def blame(self, goal: Goal) -> SchemaError:
        """Return the error that says why no value fits a goal."""
        for number in goal:
            place = self.document.numbered(number)
            if is_nothing(self.values((number,)), self.algebra):
                return self._blame_place(place)
        place = self.document.numbered(goal[-1])
        others = ", ".join(f"#{self.document.numbered(n).pointer}" for n in goal[:-1])
        beside = f" and {others} at the same time" if others else ""
        return SchemaError(place.pointer, "", f"no value fits this{beside}")

    def _blame_place(self, place: Place) -> SchemaError:
        """Return an error that names the keyword after which nothing was left."""
        if place.schema is False:
            return SchemaError(place.pointer, "", "no value fits the schema false")
        if place.schema is True or place.negated:
            return SchemaError(place.pointer, "not", "no value fits: it rules out everything")
        so_far: dict[str, Any] = {}
        for keyword, value in sorted(place.schema.items(), key=lambda item: item[0] != "type"):
            if keyword in SILENT or KEYWORDS.get(keyword, _NONE).support is Support.SILENT:
                continue
            so_far[keyword] = value
            tried = self.document.invented(dict(so_far), place.pointer, place.resource)
            if is_nothing(self.values((tried.number,)), self.algebra):
                crossed = crossed_bounds(so_far)
                if crossed:
                    return SchemaError(place.pointer, keyword, crossed)
                said = ", ".join(k for k in so_far if k != keyword)
                beside = f" beside {said}" if said else ""
                reason = f"no value is left by {keyword} {_shown(value)}{beside}"
                return SchemaError(place.pointer, keyword, f"{reason}: they contradict each other")
        return SchemaError(place.pointer, "", "no value fits: its keywords contradict each other")


def _product_of(text: Language) -> int:
    """Return the states of a pattern times the length beside it; 0 when there is none."""
    if text.kind is not Kind.BOTH:
        return 0
    lengths = [part.args[2] or part.args[1] for part in text.args if is_run(part)]
    if not lengths:
        return 0
    automata = [part.args[0] for part in text.args if part.kind is Kind.AUTOMATON]
    return prod((*(len(automaton.steps) for automaton in automata), max(*lengths, 1)))


_NONE = KEYWORDS["$comment"]


def _whole(place: Place) -> Deferred:
    return place.blame if place.negated else (place.pointer, "allOf")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
