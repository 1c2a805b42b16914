"""The keywords that speak of the value itself: types, bounds, lengths, items and keys.

Pure. One subschema in, the values that pass these keywords out; what puts schemas together is read
elsewhere (`combined`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goliath_local.errors import SchemaError
from goliath_local.schema.listed import listed
from goliath_local.schema.models import DECIMAL
from goliath_local.schema.number_texts import number_automaton
from goliath_local.schema.numbers import NumberSet, as_decimal
from goliath_local.schema.numbers import meet as meet_numbers
from goliath_local.schema.regular import (
    BadPattern,
    Beyond,
    compile_format,
    compile_pattern,
    format_tree,
    is_manageable,
    plain_language,
)
from goliath_local.schema.shapes import (
    ArrayShape,
    Contained,
    Deferred,
    Goal,
    ItemFacet,
    KeyFacet,
    ObjectShape,
    Values,
    everything,
    meet,
    nothing,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.schema.document import Place
    from goliath_local.schema.reads import Reads
    from goliath_local.schema.regular import Language

# Short as an expression, long as an automaton.
_FORMATS_AS_EXPRESSIONS = frozenset({"email", "hostname"})


def asserted(reader: Reads, place: Place) -> Values:
    """Return the values that pass the keywords about the value itself.

    Raises:
        SchemaError: they contradict each other, or one is broken.
    """
    schema = place.schema
    found = _typed(reader, schema, place)
    deferred: set[Deferred] = set()
    found = replace(
        found,
        numbers=_numbers(found.numbers, schema, place, deferred),
        text=_text(reader, found.text, schema, place, deferred),
        arrays=_arrays(reader, found.arrays, schema, place),
        objects=_objects(reader, found.objects, schema, place, deferred),
    )
    for keyword in ("const", "enum"):
        if keyword in schema:
            values = [schema["const"]] if keyword == "const" else schema["enum"]
            found = meet(found, listed(reader, values, place, keyword), reader.algebra)
    return replace(found, deferred=found.deferred | deferred)


def types_of(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the types a schema names; None when it names none."""
    named = schema.get("type")
    if named is None:
        return None
    return frozenset([named] if isinstance(named, str) else named)


def _typed(reader: Reads, schema: Mapping[str, Any], place: Place) -> Values:
    types = types_of(schema)
    if types is None:
        return everything(reader.algebra)
    found = nothing(reader.algebra)
    numbers: tuple[NumberSet, ...] = ()
    if "number" in types:
        numbers = (NumberSet(),)
    elif "integer" in types:
        numbers = (NumberSet(whole=True, dotless=place.resource.draft <= 4),)
    return replace(
        found,
        null="null" in types,
        booleans=frozenset((True, False)) if "boolean" in types else frozenset(),
        numbers=numbers,
        text=reader.algebra.anything if "string" in types else reader.algebra.nothing,
        arrays=(ArrayShape(),) if "array" in types else (),
        objects=(ObjectShape(),) if "object" in types else (),
    )


def _numbers(
    sets: tuple[NumberSet, ...],
    schema: Mapping[str, Any],
    place: Place,
    deferred: set[Deferred],
) -> tuple[NumberSet, ...]:
    limits = [limit for keyword in _LIMITS if (limit := limit_of(schema, keyword)) is not None]
    step = as_decimal(schema.get("multipleOf"))
    if step is not None and sets and not is_manageable(step):
        deferred.add((place.pointer, "multipleOf"))
    elif step is not None:
        limits.append(NumberSet(multiples=frozenset([step])))
    for limit in limits:
        sets = tuple(found for one in sets if (found := meet_numbers(one, limit)) is not None)
    return sets


_LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def limit_of(schema: Mapping[str, Any], keyword: str) -> NumberSet | None:
    """Return what a bound leaves; None when it says nothing by itself."""
    bound = as_decimal(schema.get(keyword))
    if bound is None:
        return None
    exclusive = keyword.startswith("exclusive")
    if keyword.endswith("inimum"):
        return NumberSet(least=bound, above=exclusive or schema.get("exclusiveMinimum") is True)
    return NumberSet(most=bound, below=exclusive or schema.get("exclusiveMaximum") is True)


def _text(
    reader: Reads,
    text: Language,
    schema: Mapping[str, Any],
    place: Place,
    deferred: set[Deferred],
) -> Language:
    algebra = reader.algebra
    if text is algebra.nothing:
        return text
    least, most = count_of(schema, "minLength") or 0, count_of(schema, "maxLength")
    pieces = [text]
    if most is not None and most < least:
        return algebra.nothing
    if least or most is not None:
        pieces.append(algebra.loop(algebra.char, least, most))
    if "pattern" in schema:
        pieces.append(pattern_language(reader, schema["pattern"], place, deferred))
    if DECIMAL in schema:
        sets = _numbers((NumberSet(),), schema[DECIMAL], place, deferred)
        pieces.append(algebra.automaton(number_automaton(sets, by_letter=False)))
    if "format" in schema:
        pieces.append(format_language(reader, schema["format"], place, deferred))
    return algebra.both(pieces)


def pattern_language(
    reader: Reads, pattern: str, place: Place, deferred: set[Deferred], *, wide: bool = False
) -> Language:
    """Return the texts in which a pattern is found; if that is unknown, every text and a report.

    Raises:
        SchemaError: the pattern is broken.
    """
    try:
        return reader.algebra.automaton(compile_pattern(pattern, wide=wide))
    except Beyond as reason:
        _verify_pattern(pattern, place.pointer, "pattern", reason)
        deferred.add((place.pointer, "pattern"))
        return reader.algebra.anything
    except BadPattern as reason:
        raise _bad_pattern(pattern, place.pointer, "pattern", reason) from reason


def _bad_pattern(pattern: str, pointer: str, keyword: str, reason: Exception) -> SchemaError:
    shown = pattern if len(pattern) <= 60 else f"{pattern[:57]}..."
    return SchemaError(pointer, keyword, f"{shown!r} is no regular expression: {reason}")


def _verify_pattern(pattern: str, pointer: str, keyword: str, reason: Exception) -> None:
    """Raise when a pattern that is to be checked after decoding cannot be checked then either."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise _bad_pattern(pattern, pointer, keyword, reason) from error


def format_language(reader: Reads, name: str, place: Place, deferred: set[Deferred]) -> Language:
    """Return the texts of a format; where it has no automaton every text, and a report."""
    if name in _FORMATS_AS_EXPRESSIONS:
        tree = format_tree(name, by_letter=reader.by_letter)
        if tree is not None:
            return plain_language(reader.algebra, tree)
    automaton = compile_format(name, by_letter=reader.by_letter)
    if automaton is None:
        deferred.add((place.pointer, "format"))
        return reader.algebra.anything
    return reader.algebra.automaton(automaton)


def count_of(schema: Mapping[str, Any], keyword: str) -> int | None:
    """Return a count as an integer; None when it is not there."""
    value = schema.get(keyword)
    return None if value is None else int(value)


def _arrays(
    reader: Reads, shapes: tuple[ArrayShape, ...], schema: Mapping[str, Any], place: Place
) -> tuple[ArrayShape, ...]:
    if not shapes:
        return shapes
    least, most = count_of(schema, "minItems") or 0, count_of(schema, "maxItems")
    if most is not None and least > most:
        return ()
    prefix, rest = items_of(reader, schema, place)
    facets = (ItemFacet(prefix, rest or ()),) if prefix or rest else ()
    unique = (place.pointer, "uniqueItems") if schema.get("uniqueItems") is True else None
    return (
        ArrayShape(
            facets=facets,
            least=least,
            most=most,
            unique=unique,
            contains=contained_of(reader, schema, place),
            seen_to=len(prefix) if rest is None else None,
        ),
    )


def items_of(
    reader: Reads, schema: Mapping[str, Any], place: Place
) -> tuple[tuple[Goal, ...], Goal | None]:
    """Return the goals of the first items, and of all further ones (None: nothing is said)."""
    listed_by = "prefixItems"
    rest_by = "items"
    if isinstance(schema.get("items"), list | tuple):
        listed_by, rest_by = "items", "additionalItems"
    prefix: Sequence[Any] = schema.get(listed_by, ())
    goals = tuple(reader.goal(s, place, listed_by, i) for i, s in enumerate(prefix))
    rest = reader.goal(schema[rest_by], place, rest_by) if rest_by in schema else None
    return goals, rest


def contained_of(reader: Reads, schema: Mapping[str, Any], place: Place) -> tuple[Contained, ...]:
    """Return what `contains` asks for."""
    if "contains" not in schema or place.resource.draft < 6:
        return ()
    least, most = count_of(schema, "minContains"), count_of(schema, "maxContains")
    if place.resource.draft < 2019:
        least, most = None, None
    below = reader.document.below(place, "contains")
    source = (place.pointer, "contains")
    return (
        Contained(
            goal=(below.number,),
            but=reader.negated(below, source),
            least=1 if least is None else least,
            most=most,
            source=source,
        ),
    )


def _objects(
    reader: Reads,
    shapes: tuple[ObjectShape, ...],
    schema: Mapping[str, Any],
    place: Place,
    deferred: set[Deferred],
) -> tuple[ObjectShape, ...]:
    if not shapes:
        return shapes
    least, most = count_of(schema, "minProperties") or 0, count_of(schema, "maxProperties")
    if most is not None and least > most:
        return ()
    facet = key_facet(reader, schema, place, deferred)
    names = None
    if "propertyNames" in schema and place.resource.draft >= 6:
        allowed = reader.values(reader.goal(schema["propertyNames"], place, "propertyNames"))
        names = None if allowed.text is reader.algebra.anything else allowed.text
        deferred |= allowed.deferred
    return (
        ObjectShape(
            facets=() if facet is None else (facet,),
            required=tuple(dict.fromkeys(schema.get("required", ()))),
            least=least,
            most=most,
            names=names,
            implies=tuple(implied(schema)),
            counted=(place.pointer, "minProperties") if least > 1 else None,
        ),
    )


def key_facet(
    reader: Reads, schema: Mapping[str, Any], place: Place, deferred: set[Deferred]
) -> KeyFacet | None:
    """Return what a subschema says about keys; None when it says nothing."""
    named = schema.get("properties", {})
    matched = schema.get("patternProperties", {})
    if not named and not matched and "additionalProperties" not in schema:
        # An empty `properties` declares that there are no keys, and so closes the object.
        return KeyFacet(source=(place.pointer, "properties")) if "properties" in schema else None
    additional = None
    if "additionalProperties" in schema:
        additional = reader.goal(schema["additionalProperties"], place, "additionalProperties")
    patterns = []
    for pattern, below in matched.items():
        try:
            surely = compile_pattern(pattern)
            maybe = compile_pattern(pattern, wide=True)
        except BadPattern as reason:
            raise _bad_pattern(pattern, place.pointer, "patternProperties", reason) from reason
        except Beyond as reason:
            _verify_pattern(pattern, place.pointer, "patternProperties", reason)
            deferred.add((place.pointer, "patternProperties"))
            # Any key may be one of these, and then its value need not be an additional one.
            additional = None if additional is None else ()
            continue
        goal = reader.goal(below, place, "patternProperties", pattern)
        patterns.append((surely, maybe, goal))
    return KeyFacet(
        properties=tuple(
            (name, reader.goal(below, place, "properties", name)) for name, below in named.items()
        ),
        patterns=tuple(patterns),
        additional=additional,
        source=(place.pointer, "additionalProperties"),
    )


def implied(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return which keys ask for which others."""
    found = []
    for keyword in ("dependentRequired", "dependencies"):
        for name, wanted in schema.get(keyword, {}).items():
            if isinstance(wanted, list | tuple):
                found += [(name, other) for other in wanted]
    return found
