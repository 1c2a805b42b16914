"""A schema after a refusal: it goes on behind what was sound, and never to the same end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goliath_local.grammar import compile_schema
from goliath_local.schema import narrowed

TEXT = {"type": "string"}
CALL = {
    "type": "object",
    "properties": {
        "to": TEXT,
        "dates": {"type": "array", "items": {"$ref": "#/$defs/date"}},
        "note": TEXT,
    },
    "required": ["to", "dates", "note"],
    "additionalProperties": False,
    "$defs": {"date": TEXT},
}
VALUE = {"to": "Ann", "dates": ["Monday", "someday"], "note": "x"}


def written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def test_all_before_the_refused_member_is_forced_and_its_value_is_ruled_out() -> None:
    schema = narrowed(CALL, VALUE, "/dates/1")
    assert schema is not None
    grammar = compile_schema(schema)
    assert grammar.deferred == ()
    start = grammar.matcher()
    assert start.forced() == b'{"to":"Ann","dates":['
    assert start.advance(start.forced() + b'"T') is None
    assert not grammar.accepts(written(VALUE))
    for dates in (["Monday"], ["Monday", "Sunday"], ["Monday", "some"]):
        assert grammar.accepts(written({**VALUE, "dates": dates, "note": "another"}))


def test_a_branch_that_has_not_the_refused_key_stays_open() -> None:
    either = {"anyOf": [CALL, {"type": "object", "properties": {"missing": TEXT}}]}
    schema = narrowed(either | {"$defs": CALL["$defs"]}, VALUE, "/to")
    assert schema is not None
    grammar = compile_schema(schema)
    assert grammar.accepts('{"missing":"to"}')
    assert not grammar.accepts(written(VALUE))


def test_a_key_that_was_set_free_keeps_its_place_and_no_value() -> None:
    schema = narrowed(CALL, VALUE, "/note", free="to")
    assert schema is not None
    grammar = compile_schema(schema)
    assert grammar.accepts(written({**VALUE, "to": "Bob", "note": "y"}))
    assert not grammar.accepts(written({**VALUE, "to": "Bob"}))


def test_of_equal_items_the_second_is_ruled_out() -> None:
    schema = narrowed(CALL, VALUE | {"dates": ["a", "b", "a", "c"]}, "/dates")
    assert schema is not None
    grammar = compile_schema(schema)
    assert not grammar.accepts(written(VALUE | {"dates": ["a", "b", "b"]}))
    assert grammar.accepts(written(VALUE | {"dates": ["a", "b", "c"]}))


@pytest.mark.parametrize(
    ("schema", "value", "pointer"),
    [
        (CALL, VALUE, ""),
        (CALL, VALUE, "/nowhere"),
        (CALL, VALUE, "/dates"),
        ({"properties": {"a": {"const": 1}}, "required": ["a"]}, {"a": 1}, "/a"),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": "x"}, "/a"),
        ({"prefixItems": [{"type": "null"}]}, [None], "/0"),
        ({"$ref": "#/$defs/nothing"}, 5, ""),
    ],
)
def test_where_nothing_can_be_ruled_out_there_is_no_narrower_schema(
    schema: dict[str, Any], value: Any, pointer: str
) -> None:
    assert narrowed(schema, value, pointer) is None


def test_a_place_that_only_a_validator_knows_is_looked_for_as_far_as_it_goes() -> None:
    schema = narrowed(CALL, VALUE, "/to/function-after[check(), str]")
    assert schema is not None
    assert not compile_schema(schema).accepts(written(VALUE))
