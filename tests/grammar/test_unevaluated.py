"""What counts as looked at: keywords that name keys and items do, values and failures do not."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from goliath_local.grammar import SchemaError, compile_schema

PAIR = {"a": 1, "b": 2}
ONLY_A = {"properties": {"a": True}}
ONE_OF = {"$ref": "#/$defs/pair", "$defs": {"pair": {"const": PAIR}}}
LISTING_KEYS = [
    {"const": PAIR},
    {"enum": [PAIR, {"a": "x"}]},
    {"allOf": [{"const": PAIR}]},
    {"anyOf": [{"const": PAIR}, {"enum": [{"b": 1}]}]},
    {"oneOf": [{"const": PAIR}, {"enum": [{"b": 1}]}]},
    ONE_OF,
    {"if": {"const": PAIR}, "else": False},
    {"not": {"not": {"const": PAIR}}},
    {"not": {"if": {"properties": {"a": True, "b": True}, "required": ["b"]}, "then": False}},
    {"not": {"oneOf": [{"required": ["a"]}, {"properties": {"b": {"type": "integer"}}}]}},
]
LISTING_ITEMS = [
    {"const": [1, 2]},
    {"enum": [[1, 2], [3]]},
    {"allOf": [{"const": [1, 2]}]},
    {"if": {"const": [1, 2]}, "else": False},
    {"not": {"not": {"prefixItems": [{"const": 1}, {"const": 2}]}}},
]


def allows(schema: dict[str, Any], value: Any, *, closed: bool) -> bool:
    """Whether a grammar and the checks after it let a value pass, as `jsonschema` does too."""
    try:
        grammar = compile_schema(schema, closed=closed)
    except SchemaError:
        found = False
    else:
        assert not grammar.deferred
        found = grammar.accepts(json.dumps(value, separators=(",", ":")))
    assert found <= jsonschema.Draft202012Validator(schema).is_valid(value)
    return found


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("listing", LISTING_KEYS)
def test_a_key_of_a_listed_value_or_a_failure_was_not_looked_at(
    listing: dict[str, Any], closed: bool
) -> None:
    shut = {**listing, "unevaluatedProperties": False}
    assert not allows(shut, PAIR, closed=closed)
    assert not allows({**shut, **ONLY_A}, PAIR, closed=closed)


@pytest.mark.parametrize("listing", LISTING_KEYS[:7])
def test_a_listed_object_whose_keys_were_looked_at_elsewhere_may_be_written(
    listing: dict[str, Any],
) -> None:
    looked_at = {"properties": {"a": True, "b": {"type": "integer"}}}
    shut = {**listing, **looked_at, "unevaluatedProperties": False}
    assert allows(shut, PAIR, closed=True)
    assert allows({**listing, "unevaluatedProperties": {"type": "integer"}}, PAIR, closed=True)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("listing", LISTING_ITEMS)
def test_an_item_of_a_listed_value_or_a_failure_was_not_looked_at(
    listing: dict[str, Any], closed: bool
) -> None:
    shut = {**listing, "unevaluatedItems": False}
    assert not allows(shut, [1, 2], closed=closed)
    assert not allows({**shut, "prefixItems": [True]}, [1, 2], closed=closed)
    assert allows({**shut, "prefixItems": [True, True]}, [1, 2], closed=closed)


def test_a_listed_object_is_a_declaration_of_its_keys_all_the_same() -> None:
    grammar = compile_schema({"properties": {"a": {}}, "const": PAIR}, closed=True)
    assert grammar.accepts('{"a":1,"b":2}')
