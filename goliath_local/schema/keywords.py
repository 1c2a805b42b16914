"""The keywords of JSON Schema: what is done about each, and what its value must look like.

Pure. The table is the whole truth: `docs/grammar.md` is written from it, the reader checks by it,
and a keyword that is not in it is reported as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from goliath_local.errors import SchemaError
from goliath_local.schema.numbers import as_decimal


class Support(StrEnum):
    """What is done about a keyword."""

    ENFORCED = "enforced"
    """The grammar allows nothing that breaks it."""

    PARTLY = "enforced or deferred"
    """Enforced where a grammar can; otherwise reported, and checked after decoding."""

    REFUSED = "refused"
    """A schema that uses it in a way that matters is an error."""

    SILENT = "changes nothing"
    """Says nothing about which values are valid."""


class Form(StrEnum):
    """What the value of a keyword looks like."""

    ANY = "any value"
    BOOL = "true or false"
    TEXT = "a string"
    NUMBER = "a number"
    POSITIVE = "a number above 0"
    COUNT = "a whole number from 0 on"
    BOUND = "a number, or true or false as in draft 4"
    SCHEMA = "a schema"
    SCHEMAS = "a list of at least one schema"
    SCHEMA_MAP = "an object of schemas"
    ITEMS = "a schema, or a list of schemas as in draft 7"
    NAMES = "a list of strings"
    NAME_LISTS = "an object of lists of strings"
    DEPENDENCIES = "an object of schemas or lists of strings"
    VALUES = "a list"
    TYPE = "a type name or a list of them"


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword."""

    support: Support
    form: Form
    note: str = ""


_E, _P, _R, _S = Support.ENFORCED, Support.PARTLY, Support.REFUSED, Support.SILENT

KEYWORDS: Mapping[str, Keyword] = {
    # any value
    "type": Keyword(_E, Form.TYPE),
    "enum": Keyword(_E, Form.VALUES, "as a prefix tree"),
    "const": Keyword(_E, Form.ANY),
    # numbers
    "minimum": Keyword(_E, Form.NUMBER, "exact, by decimal digits"),
    "maximum": Keyword(_E, Form.NUMBER, "exact, by decimal digits"),
    "exclusiveMinimum": Keyword(_E, Form.BOUND),
    "exclusiveMaximum": Keyword(_E, Form.BOUND),
    "multipleOf": Keyword(_P, Form.POSITIVE, "deferred above about a thousand remainders"),
    # strings
    "minLength": Keyword(
        _P, Form.COUNT, "characters; deferred beside a pattern too large with it"
    ),
    "maxLength": Keyword(
        _P, Form.COUNT, "characters; deferred beside a pattern too large with it"
    ),
    "pattern": Keyword(_P, Form.TEXT, "deferred: look-behind, back references, inline flags"),
    "format": Keyword(_P, Form.TEXT, "see the table of formats; an unknown one is deferred"),
    "x-decimal": Keyword(_E, Form.SCHEMA, "ours: the number that a string spells (`Decimal`)"),
    # arrays
    "prefixItems": Keyword(_E, Form.SCHEMAS),
    "items": Keyword(_E, Form.ITEMS),
    "additionalItems": Keyword(_E, Form.SCHEMA),
    "unevaluatedItems": Keyword(_P, Form.SCHEMA, "deferred beside `contains`"),
    "minItems": Keyword(_E, Form.COUNT),
    "maxItems": Keyword(_E, Form.COUNT),
    "uniqueItems": Keyword(_P, Form.BOOL, "enforced over up to six values or up to one item"),
    "contains": Keyword(_P, Form.SCHEMA, "deferred where the counts get too many"),
    "minContains": Keyword(_P, Form.COUNT),
    "maxContains": Keyword(_P, Form.COUNT),
    # objects
    "properties": Keyword(_E, Form.SCHEMA_MAP, "keys in the order given here"),
    "patternProperties": Keyword(_P, Form.SCHEMA_MAP),
    "additionalProperties": Keyword(
        _P, Form.SCHEMA, "absent: no more keys, unless `closed=False`"
    ),
    "unevaluatedProperties": Keyword(_E, Form.SCHEMA),
    "propertyNames": Keyword(_E, Form.SCHEMA),
    "required": Keyword(_E, Form.NAMES),
    "minProperties": Keyword(_P, Form.COUNT, "also checked afterwards: a key may come twice"),
    "maxProperties": Keyword(_E, Form.COUNT),
    "dependentRequired": Keyword(_E, Form.NAME_LISTS),
    "dependentSchemas": Keyword(_P, Form.SCHEMA_MAP),
    "dependencies": Keyword(_P, Form.DEPENDENCIES, "as in draft 7"),
    # putting schemas together
    "allOf": Keyword(_E, Form.SCHEMAS, "merged"),
    "anyOf": Keyword(_P, Form.SCHEMAS, "what stands beside it is worked into each branch"),
    "oneOf": Keyword(
        _P, Form.SCHEMAS, "exact where the branches differ, or their complements can be told"
    ),
    "not": Keyword(_P, Form.SCHEMA, "deferred where the complement cannot be told"),
    "if": Keyword(_P, Form.SCHEMA, "deferred where its complement cannot be told"),
    "then": Keyword(_P, Form.SCHEMA),
    "else": Keyword(_P, Form.SCHEMA),
    # references
    "$ref": Keyword(_E, Form.TEXT, "inside the document, and to the standard meta-schemas"),
    "$dynamicRef": Keyword(_R, Form.TEXT, "read as `$ref` where only one anchor bears the name"),
    "$recursiveRef": Keyword(_R, Form.TEXT),
    "$defs": Keyword(_S, Form.ANY),
    "definitions": Keyword(_S, Form.ANY),
    "$id": Keyword(_S, Form.TEXT, "resolves references"),
    "id": Keyword(_S, Form.ANY, "as `$id`, in draft 4"),
    "$anchor": Keyword(_S, Form.TEXT, "resolves references"),
    "$dynamicAnchor": Keyword(_S, Form.TEXT, "resolves references"),
    "$recursiveAnchor": Keyword(_S, Form.ANY),
    "$schema": Keyword(_S, Form.ANY, "tells the draft"),
    "$vocabulary": Keyword(_S, Form.ANY),
    "$comment": Keyword(_S, Form.ANY),
    # annotations
    "title": Keyword(_S, Form.ANY),
    "description": Keyword(_S, Form.ANY),
    "default": Keyword(_S, Form.ANY),
    "examples": Keyword(_S, Form.ANY),
    "deprecated": Keyword(_S, Form.ANY),
    "readOnly": Keyword(_S, Form.ANY),
    "writeOnly": Keyword(_S, Form.ANY),
    "contentEncoding": Keyword(_S, Form.ANY),
    "contentMediaType": Keyword(_S, Form.ANY),
    "contentSchema": Keyword(_S, Form.ANY),
    "discriminator": Keyword(_S, Form.ANY, "OpenAPI; the branches themselves tell"),
}

SILENT = frozenset(
    name
    for name, keyword in KEYWORDS.items()
    if keyword.support is Support.SILENT and name not in ("$id", "id", "$anchor", "$schema")
)
"""Keywords that two schemas may differ in and still say the same."""

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def escaped(key: str) -> str:
    """Return a key as a token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def verify_form(schema: Mapping[str, Any], pointer: str) -> None:
    """Raise `SchemaError` when the value of a keyword is not what it must be."""
    for name, value in schema.items():
        keyword = KEYWORDS.get(name)
        if keyword is None or keyword.form is Form.ANY:
            continue
        if not _has_form(value, keyword.form):
            reason = f"{name} must be {keyword.form.value}, not {_shown(value)}"
            raise SchemaError(pointer, name, reason)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _has_form(value: Any, form: Form) -> bool:  # noqa: C901, PLR0911, PLR0912
    match form:
        case Form.BOOL:
            return isinstance(value, bool)
        case Form.TEXT:
            return isinstance(value, str)
        case Form.NUMBER:
            return as_decimal(value) is not None
        case Form.POSITIVE:
            number = as_decimal(value)
            return number is not None and number > 0
        case Form.COUNT:
            number = as_decimal(value)
            return number is not None and number >= 0 and number == int(number)
        case Form.BOUND:
            return isinstance(value, bool) or as_decimal(value) is not None
        case Form.SCHEMA:
            return _is_schema(value)
        case Form.SCHEMAS:
            return _is_list(value) and len(value) > 0 and all(_is_schema(item) for item in value)
        case Form.ITEMS:
            return _is_schema(value) or (_is_list(value) and all(_is_schema(i) for i in value))
        case Form.SCHEMA_MAP:
            return isinstance(value, Mapping) and all(_is_schema(v) for v in value.values())
        case Form.NAMES:
            return _is_names(value)
        case Form.NAME_LISTS:
            return isinstance(value, Mapping) and all(_is_names(v) for v in value.values())
        case Form.DEPENDENCIES:
            return isinstance(value, Mapping) and all(
                _is_schema(v) or _is_names(v) for v in value.values()
            )
        case Form.VALUES:
            return _is_list(value)
        case Form.TYPE:
            names = value if _is_list(value) else [value]
            return len(names) > 0 and all(isinstance(n, str) and n in TYPES for n in names)
        case _:
            return True


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping | bool)


def _is_names(value: Any) -> bool:
    return _is_list(value) and all(isinstance(name, str) for name in value)


def crossed_bounds(said: Mapping[str, Any]) -> str:
    """Return which lower bound stands above its upper one, and what follows; empty when none."""
    for low, high, what in _BOUNDS:
        if low in said and high in said and said[low] > said[high]:
            return f"{low} {said[low]} is above {high} {said[high]}, so no {what} can match"
    return ""


_BOUNDS = (
    ("minLength", "maxLength", "text"),
    ("minItems", "maxItems", "list"),
    ("minProperties", "maxProperties", "object"),
    ("minimum", "maximum", "number"),
)
