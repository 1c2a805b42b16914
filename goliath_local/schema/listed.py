"""The meaning of `enum` and `const`: values, spelled out type by type.

Pure. Arrays and objects become the schemas that only they fit, so that nothing later has to know
about listed values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goliath_local.errors import SchemaError
from goliath_local.schema.numbers import as_decimal, point
from goliath_local.schema.regular import of_texts
from goliath_local.schema.shapes import (
    ArrayShape,
    Goal,
    ItemFacet,
    KeyFacet,
    ObjectShape,
    Values,
)

if TYPE_CHECKING:
    from decimal import Decimal

    from goliath_local.schema.document import Place
    from goliath_local.schema.reads import Reads

MAX_VALUES = 10_000
MAX_TEXT = 60_000
"""Characters of all the strings of one list."""


def listed(reader: Reads, values: Sequence[Any], place: Place, keyword: str) -> Values:
    """Return exactly the listed values."""
    texts, numbers, containers = sorted_out(values, place, keyword)
    arrays = [_array(reader, value, place) for value in containers if not _is_object(value)]
    objects = [_object(reader, value, place) for value in containers if _is_object(value)]
    return Values(
        null=any(value is None for value in values),
        booleans=frozenset(value for value in values if isinstance(value, bool)),
        numbers=tuple(dict.fromkeys(point(number) for number in numbers)),
        text=reader.algebra.automaton(of_texts(texts)),
        arrays=tuple(dict.fromkeys(arrays)),
        objects=tuple(dict.fromkeys(objects)),
    )


def sorted_out(
    values: Sequence[Any], place: Place, keyword: str
) -> tuple[list[str], list[Decimal], list[Any]]:
    """Return the strings, the numbers, and the arrays and objects of a list.

    Raises:
        SchemaError: the list is too long, or holds what is no JSON value.
    """
    pointer = place.pointer
    texts = [value for value in values if isinstance(value, str)]
    size = sum(map(len, texts))
    if len(values) > MAX_VALUES or size > MAX_TEXT:
        raise SchemaError(
            pointer,
            keyword,
            f"{len(values):,} values with {size:,} characters are more than a grammar should "
            f"hold ({MAX_VALUES:,} and {MAX_TEXT:,}): narrow them, or check them in the tool",
        )
    if any(any("\ud800" <= char <= "\udfff" for char in text) for text in texts):
        raise SchemaError(pointer, keyword, "half a surrogate pair is no character")
    numbers: list[Decimal] = []
    containers: list[Any] = []
    for value in values:
        if value is None or isinstance(value, str | bool):
            continue
        number = as_decimal(value)
        if number is not None:
            numbers.append(number)
        elif isinstance(value, Mapping | list | tuple):
            containers.append(value)
        else:
            raise SchemaError(pointer, keyword, f"{value!r} is no JSON value")
    return texts, numbers, containers


def spelled_out(value: Any) -> dict[str, Any]:
    """Return the schema that only this array or object fits."""
    if _is_object(value):
        return {
            "type": "object",
            "properties": {name: {"const": inner} for name, inner in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    return {
        "type": "array",
        "prefixItems": [{"const": inner} for inner in value] or [True],
        "minItems": len(value),
        "maxItems": len(value),
    }


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _const(reader: Reads, value: Any, place: Place) -> Goal:
    found = reader.document.invented({"const": value}, place.pointer, place.resource)
    return (found.number,)


def _array(reader: Reads, value: Sequence[Any], place: Place) -> ArrayShape:
    prefix = tuple(_const(reader, inner, place) for inner in value)
    return ArrayShape(
        facets=(ItemFacet(prefix, reader.never),), least=len(prefix), most=len(prefix)
    )


def _object(reader: Reads, value: Mapping[str, Any], place: Place) -> ObjectShape:
    members = tuple((name, _const(reader, inner, place)) for name, inner in value.items())
    facet = KeyFacet(properties=members, additional=reader.never, looks=False)
    return ObjectShape(facets=(facet,), required=tuple(value))
