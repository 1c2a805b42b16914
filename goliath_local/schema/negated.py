"""Complements: everything that a subschema does not hold.

Pure. A subschema holds where all its keywords do, so its complement is the union of what breaks
each. Where the complement of one keyword cannot be told, everything is allowed and it is reported.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from goliath_local.schema.asserted import (
    contained_of,
    count_of,
    implied,
    items_of,
    key_facet,
    limit_of,
    pattern_language,
    types_of,
)
from goliath_local.schema.combined import without_key
from goliath_local.schema.keywords import KEYWORDS, Support
from goliath_local.schema.listed import sorted_out, spelled_out
from goliath_local.schema.numbers import NumberSet, as_decimal
from goliath_local.schema.reads import only_array, only_numbers, only_object, only_text
from goliath_local.schema.regular import is_manageable, of_texts
from goliath_local.schema.shapes import (
    ArrayShape,
    Contained,
    ItemFacet,
    KeyFacet,
    ObjectShape,
    SomeKey,
    Values,
    deferring,
    everything,
    join,
    meet,
    nothing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from goliath_local.schema.document import Place
    from goliath_local.schema.reads import Reads
    from goliath_local.schema.shapes import Deferred, Goal

_MAX_BRANCHES = 4
"""Branches of a `oneOf` whose complement is still written out."""


def complement(reader: Reads, place: Place) -> Values:
    """Return everything a (negated) place's subschema does not hold."""
    schema = place.schema
    if schema is False:
        return everything(reader.algebra)
    if schema is True:
        return nothing(reader.algebra)
    if place.resource.draft < 2019 and "$ref" in schema:
        schema = {"$ref": schema["$ref"]}
    parts: list[Values] = []
    for keyword in schema:
        breaking = _BREAKING.get(keyword)
        if breaking is not None:
            parts += breaking(reader, place)
        elif keyword in _UNKNOWABLE:
            parts.append(_unknown(reader, place))
    return _unlooked(join(parts, reader.algebra))


def _unlooked(values: Values) -> Values:
    """Return the same values, as something that was not looked at: what fails tells nothing."""
    objects = tuple(
        replace(shape, facets=tuple(replace(facet, looks=False) for facet in shape.facets))
        for shape in values.objects
    )
    arrays = tuple(replace(shape, seen_to=0) for shape in values.arrays)
    return replace(values, objects=objects, arrays=arrays)


def _unknown(reader: Reads, place: Place) -> Values:
    return deferring(everything(reader.algebra), place.blame)


def _schema(place: Place) -> Mapping[str, Any]:
    found: Mapping[str, Any] = place.schema
    return found


def _not_below(reader: Reads, place: Place, *keys: str | int) -> Goal:
    """Return the goal of what a subschema further down does not hold."""
    return reader.negated(reader.document.below(place, *keys), place.blame)


def _goal_below(reader: Reads, place: Place, *keys: str | int) -> Goal:
    return (reader.document.below(place, *keys).number,)


def _type(reader: Reads, place: Place) -> list[Values]:
    types = types_of(place.schema) or frozenset()
    found = everything(reader.algebra)
    numbers = found.numbers
    if "number" in types:
        numbers = ()
    elif "integer" in types:
        numbers = (NumberSet(whole=False),)
    return [
        replace(
            found,
            null="null" not in types,
            booleans=frozenset() if "boolean" in types else found.booleans,
            numbers=numbers,
            text=reader.algebra.nothing if "string" in types else found.text,
            arrays=() if "array" in types else found.arrays,
            objects=() if "object" in types else found.objects,
        )
    ]


def _listed(reader: Reads, place: Place, keyword: str) -> list[Values]:
    values: Sequence[Any] = place.schema[keyword] if keyword == "enum" else [place.schema[keyword]]
    texts, numbers, containers = sorted_out(values, place, keyword)
    found = everything(reader.algebra)
    found = replace(
        found,
        null=not any(value is None for value in values),
        booleans=found.booleans - {value for value in values if isinstance(value, bool)},
        numbers=(NumberSet(left_out=frozenset(numbers)),),
        text=reader.algebra.but_texts(texts),
    )
    for value in containers:
        meaning = reader.document.invented(spelled_out(value), place.pointer, place.resource)
        other = reader.values(reader.negated(meaning, place.blame))
        found = reader.met(found, other, place.blame)
    return [found]


def _bound(reader: Reads, place: Place, keyword: str) -> list[Values]:
    held = limit_of(place.schema, keyword)
    if held is None:
        return []
    if held.least is not None:
        return [only_numbers(reader, NumberSet(most=held.least, below=not held.above))]
    return [only_numbers(reader, NumberSet(least=held.most, above=not held.below))]


def _multiple(reader: Reads, place: Place) -> list[Values]:
    step = as_decimal(place.schema["multipleOf"])
    if step is None or not is_manageable(step):
        return [_unknown(reader, place)]
    return [only_numbers(reader, NumberSet(not_multiples=frozenset([step])))]


def _length(reader: Reads, place: Place, keyword: str) -> list[Values]:
    count, a = count_of(place.schema, keyword) or 0, reader.algebra
    if keyword == "maxLength":
        return [only_text(reader, a.loop(a.char, count + 1, None))]
    return [only_text(reader, a.loop(a.char, 0, count - 1))] if count else []


def _pattern(reader: Reads, place: Place) -> list[Values]:
    deferred: set[Deferred] = set()
    held = pattern_language(reader, place.schema["pattern"], place, deferred, wide=True)
    if deferred:
        return [_unknown(reader, place)]
    return [only_text(reader, reader.algebra.but(held))]


def _item_count(reader: Reads, place: Place, keyword: str) -> list[Values]:
    count = count_of(place.schema, keyword) or 0
    if keyword == "maxItems":
        return [only_array(reader, ArrayShape(least=count + 1))]
    return [only_array(reader, ArrayShape(most=count - 1))] if count else []


def _items(reader: Reads, place: Place, keyword: str) -> list[Values]:
    schema = _schema(place)
    prefix, rest = items_of(reader, schema, place)
    found: list[Values] = []
    if isinstance(schema[keyword], list | tuple):
        for number in range(len(prefix)):
            goals = ((),) * number + (_not_below(reader, place, keyword, number),)
            shape = ArrayShape(facets=(ItemFacet(goals, ()),), least=number + 1)
            found.append(only_array(reader, shape))
    elif rest is not None and (
        keyword == "items" or isinstance(schema.get("items"), list | tuple)
    ):
        # As with `contains`: one further item that breaks it.
        breaking = Contained(
            goal=_not_below(reader, place, keyword),
            but=_goal_below(reader, place, keyword),
            least=1,
            most=None,
            source=place.blame,
            start=len(prefix),
        )
        found.append(only_array(reader, ArrayShape(contains=(breaking,))))
    return found


def _contains(reader: Reads, place: Place) -> list[Values]:
    found: list[Values] = []
    for held in contained_of(reader, place.schema, place):
        if held.least > 0:
            fewer = replace(held, least=0, most=held.least - 1)
            found.append(only_array(reader, ArrayShape(contains=(fewer,))))
        if held.most is not None:
            more = replace(held, least=held.most + 1, most=None)
            found.append(only_array(reader, ArrayShape(contains=(more,))))
    return found


def _unique(reader: Reads, place: Place) -> list[Values]:
    return [_unknown(reader, place)] if place.schema["uniqueItems"] is True else []


def _required(reader: Reads, place: Place) -> list[Values]:
    return [without_key(reader, name) for name in place.schema["required"]]


def _properties(reader: Reads, place: Place) -> list[Values]:
    found = []
    for name, below in place.schema["properties"].items():
        if below is True or below == {}:
            continue
        goal = _not_below(reader, place, "properties", name)
        facet = KeyFacet(properties=((name, goal),), tells=False)
        found.append(only_object(reader, ObjectShape(facets=(facet,), needed=(name,))))
    return found


def _pattern_properties(reader: Reads, place: Place) -> list[Values]:
    deferred: set[Deferred] = set()
    facet = key_facet(reader, place.schema, place, deferred)
    if deferred or facet is None:
        return [_unknown(reader, place)]
    found = []
    for (surely, _, _), pattern in zip(
        facet.patterns, place.schema["patternProperties"], strict=True
    ):
        goal = _not_below(reader, place, "patternProperties", pattern)
        some = SomeKey(reader.algebra.automaton(surely), goal)
        found.append(only_object(reader, ObjectShape(some=(some,))))
    return found


def _additional(reader: Reads, place: Place) -> list[Values]:
    deferred: set[Deferred] = set()
    facet = key_facet(reader, place.schema, place, deferred)
    if deferred or facet is None:
        return [_unknown(reader, place)]
    a = reader.algebra
    known = [a.automaton(of_texts([name for name, _ in facet.properties]))]
    known += [a.automaton(maybe) for _, maybe, _ in facet.patterns]
    goal = _not_below(reader, place, "additionalProperties")
    some = SomeKey(a.both(a.but(language) for language in known), goal)
    return [only_object(reader, ObjectShape(some=(some,)))]


def _property_names(reader: Reads, place: Place) -> list[Values]:
    others = reader.values(_not_below(reader, place, "propertyNames"))
    if others.is_inexact:
        return [_unknown(reader, place)]
    some = SomeKey(others.text, ())
    return [only_object(reader, ObjectShape(some=(some,)))]


def _key_count(reader: Reads, place: Place, keyword: str) -> list[Values]:
    count = count_of(place.schema, keyword) or 0
    if keyword == "maxProperties":
        return [only_object(reader, ObjectShape(least=count + 1, counted=place.blame))]
    return [only_object(reader, ObjectShape(most=count - 1))] if count else []


def _dependent_required(reader: Reads, place: Place, keyword: str) -> list[Values]:
    found = []
    for name, other in implied({keyword: place.schema[keyword]}):
        facet = KeyFacet(properties=((other, reader.never),), tells=False)
        found.append(only_object(reader, ObjectShape(facets=(facet,), needed=(name,))))
    return found


def _dependent_schemas(reader: Reads, place: Place, keyword: str) -> list[Values]:
    found = []
    for name, below in place.schema[keyword].items():
        if isinstance(below, list | tuple):
            continue
        other = reader.values(_not_below(reader, place, keyword, name))
        present = only_object(reader, ObjectShape(needed=(name,)))
        found.append(reader.met(present, other, place.blame))
    return found


def _dependencies(reader: Reads, place: Place) -> list[Values]:
    return [
        *_dependent_required(reader, place, "dependencies"),
        *_dependent_schemas(reader, place, "dependencies"),
    ]


def _all_of(reader: Reads, place: Place) -> list[Values]:
    return [
        reader.values(_not_below(reader, place, "allOf", number))
        for number in range(len(place.schema["allOf"]))
    ]


def _any_of(reader: Reads, place: Place) -> list[Values]:
    found = everything(reader.algebra)
    for number in range(len(place.schema["anyOf"])):
        other = reader.values(_not_below(reader, place, "anyOf", number))
        found = reader.met(found, other, place.blame)
    return [found]


def _one_of(reader: Reads, place: Place) -> list[Values]:
    count = len(place.schema["oneOf"])
    if count > _MAX_BRANCHES:
        return [_unknown(reader, place)]
    none = everything(reader.algebra)
    for number in range(count):
        other = reader.values(_not_below(reader, place, "oneOf", number))
        none = reader.met(none, other, place.blame)
    held = [reader.values(_goal_below(reader, place, "oneOf", number)) for number in range(count)]
    pairs = [meet(one, other, reader.algebra) for one, other in combinations(held, 2)]
    return [none, *pairs]


def _not(reader: Reads, place: Place) -> list[Values]:
    return [_untold(reader.values(_goal_below(reader, place, "not")))]


def _untold(values: Values) -> Values:
    """Return the same values, as something of which no key was declared."""
    objects = tuple(
        replace(shape, facets=tuple(replace(facet, tells=False) for facet in shape.facets))
        for shape in values.objects
    )
    return replace(values, objects=objects)


def _if(reader: Reads, place: Place) -> list[Values]:
    schema = place.schema
    found = []
    if "then" in schema:
        holds = reader.values(_goal_below(reader, place, "if"))
        breaks = reader.values(_not_below(reader, place, "then"))
        found.append(reader.met(holds, breaks, place.blame))
    if "else" in schema:
        fails = reader.values(_not_below(reader, place, "if"))
        breaks = reader.values(_not_below(reader, place, "else"))
        found.append(reader.met(fails, breaks, place.blame))
    return found


def _ref(reader: Reads, place: Place, keyword: str) -> list[Values]:
    target = reader.document.target(place, keyword)
    return [reader.values(reader.negated(target, place.blame))]


def _with_name(
    breaks: Callable[[Reads, Place, str], list[Values]], keyword: str
) -> Callable[[Reads, Place], list[Values]]:
    return lambda reader, place: breaks(reader, place, keyword)


_BREAKING: dict[str, Callable[[Reads, Place], list[Values]]] = {
    "type": _type,
    **{k: _with_name(_listed, k) for k in ("enum", "const")},
    **{
        k: _with_name(_bound, k)
        for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    },
    "multipleOf": _multiple,
    **{k: _with_name(_length, k) for k in ("minLength", "maxLength")},
    "pattern": _pattern,
    **{k: _with_name(_item_count, k) for k in ("minItems", "maxItems")},
    **{k: _with_name(_items, k) for k in ("prefixItems", "items", "additionalItems")},
    "contains": _contains,
    "uniqueItems": _unique,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    **{k: _with_name(_key_count, k) for k in ("minProperties", "maxProperties")},
    "dependentRequired": _with_name(_dependent_required, "dependentRequired"),
    "dependentSchemas": _with_name(_dependent_schemas, "dependentSchemas"),
    "dependencies": _dependencies,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    **{k: _with_name(_ref, k) for k in ("$ref", "$dynamicRef", "$recursiveRef")},
}

_UNKNOWABLE = frozenset(
    name
    for name, keyword in KEYWORDS.items()
    if keyword.support is not Support.SILENT
    and name not in _BREAKING
    and name not in ("then", "else", "minContains", "maxContains")
)
