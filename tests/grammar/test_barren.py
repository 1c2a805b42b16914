"""Objects that cannot be: they are no way into a grammar, wherever they stand."""

from __future__ import annotations

import pytest

from goliath_local.errors import SchemaError
from goliath_local.grammar import compile_schema

INTEGERS = {
    "type": "object",
    "properties": {"id": {"type": "string"}},
    "additionalProperties": {"type": "integer"},
}
A_LIST = {"type": "object", "properties": {"l": {"type": "array"}}, "required": ["l"]}


def test_an_impossible_object_among_alternatives_is_left_out() -> None:
    grammar = compile_schema({"anyOf": [{"type": "boolean"}, {"allOf": [INTEGERS, A_LIST]}]})
    assert grammar.accepts("true")
    assert not grammar.accepts("{")
    assert grammar.matcher().allowed_first_bytes() == frozenset(b"ft")


def test_an_object_that_would_need_a_key_it_cannot_have_is_refused() -> None:
    either = [
        {**INTEGERS, "properties": {"id": {"const": "x"}}},
        {"type": "object", "properties": {}},
    ]
    with pytest.raises(SchemaError) as caught:
        compile_schema({"oneOf": either})
    assert caught.value.pointer == ""
