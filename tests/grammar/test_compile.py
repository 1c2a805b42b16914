"""What the compiler makes of a schema: order, limits, spacing, sources, reports, refusals."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from decimal import Decimal  # noqa: TC003  # pydantic reads it
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field

from goliath_local.errors import InvalidValue
from goliath_local.grammar import SchemaError, compile_schema, read_gbnf
from tests.grammar.readings import Readings

HANG_S = 20
"""It takes under a second, which the bench holds it to; here a slow machine is no failure."""


def closed(**properties: Any) -> dict[str, Any]:
    """An object of just these keys, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def refused(schema: Any, **options: Any) -> SchemaError:
    with pytest.raises(SchemaError) as error:
        compile_schema(schema, **options)
    return error.value


# Order and keys


def test_keys_come_in_the_order_of_properties_whatever_required_says() -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a", "b"]}
    grammar = compile_schema(schema)
    assert grammar.accepts('{"b":1,"a":2}')
    assert not grammar.accepts('{"a":2,"b":1}')


def test_a_base_that_is_named_first_gives_its_keys_first() -> None:
    base = closed(a={"type": "null"}) | {"additionalProperties": True}
    del base["additionalProperties"]
    own = {"type": "object", "properties": {"z": {"type": "null"}}, "required": ["z"]}
    first = compile_schema({"allOf": [{"$ref": "#/$defs/B"}], **own, "$defs": {"B": base}})
    last = compile_schema({**own, "allOf": [{"$ref": "#/$defs/B"}], "$defs": {"B": base}})
    assert first.accepts('{"a":null,"z":null}')
    assert last.accepts('{"z":null,"a":null}')


def test_an_object_that_names_no_keys_may_have_any() -> None:
    assert compile_schema({"type": "object"}).accepts('{"x":{"y":1}}')
    assert not compile_schema({"type": "object", "properties": {}}).accepts('{"x":1}')


def test_an_extra_key_may_stand_anywhere_but_never_bears_a_declared_name() -> None:
    schema = closed(a={"const": 1}) | {"additionalProperties": {"type": "string"}}
    grammar = compile_schema(schema)
    for text in ('{"a":1}', '{"x":"","a":1}', '{"a":1,"x":""}', '{"aa":"","a":1,"b":""}'):
        assert grammar.accepts(text), text
    for text in ('{"a":""}', '{"a":1,"a":""}', '{"a":1,"\\u0061":""}'):
        assert not grammar.accepts(text), text


def test_by_the_letter_keys_are_open_and_come_in_any_order() -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}}
    grammar = compile_schema(schema, closed=False)
    assert grammar.accepts('{"b":2,"x":null,"a":1}')
    assert not grammar.accepts('{"b":2,"a":2}')


def test_by_the_letter_every_spelling_of_a_character_is_taken() -> None:
    schema = {"enum": ["é😀/"]}
    assert compile_schema(schema, closed=False).accepts('"\\u00E9\\ud83d\\ude00\\/"')
    assert not compile_schema(schema).accepts('"\\u00E9\\ud83d\\ude00\\/"')


def test_kinds_of_object_are_told_apart_by_the_key_in_which_they_differ() -> None:
    why = {"type": "string", "maxLength": 20}
    schema = {
        "oneOf": [
            closed(why=why, kind={"const": "tool"}, tool={"enum": ["list_a", "list_b"]}),
            closed(why=why, kind={"const": "talk"}, text={"type": "string"}),
        ]
    }
    grammar = compile_schema(schema)
    assert grammar.deferred == ()
    found = Readings(grammar.rules).read('{"why":"x","kind":"t')
    assert found is not None
    assert len(found.stacks) <= 2
    assert found.read('ool","tool":"list_b"}')
    assert not found.read('alk","tool":"list_b"}')


# Limits


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 100_000},
        {"type": "string", "minLength": 70_000},
        {"type": "string", "pattern": "^[a-z]{1,30000}$"},
        {"type": "string", "pattern": "^[a-z]+$", "maxLength": 50_000},
        {"type": "array", "items": {"type": "integer"}, "maxItems": 5000},
        {
            "type": "array",
            "items": closed(a={"maxLength": 5000, "type": "string"}),
            "minItems": 3001,
        },
        {
            "type": "object",
            "properties": {f"option_{n:02}": {"type": "string"} for n in range(60)},
        },
        {"type": "object", "maxProperties": 5000, "additionalProperties": {"type": "null"}},
        {"type": "integer", "minimum": -(10**300), "maximum": 10**300},
    ],
)
def test_a_large_limit_is_quick_and_small(schema: dict[str, Any]) -> None:
    start = time.process_time()
    grammar = compile_schema(schema)
    assert time.process_time() - start < HANG_S
    assert len(grammar.gbnf) < 64 * 1024
    for least, most in re.findall(r"\{(\d+)(?:,(\d*))?\}", grammar.gbnf):
        assert int(least) <= int(most or least) <= 2000
    assert read_gbnf(grammar.gbnf).by_name.keys() == grammar.rules.by_name.keys()


@pytest.mark.parametrize(
    ("least", "most"), [(0, 3000), (5, 257), (300, 300), (1000, 2500), (7, 999)]
)
def test_a_long_limit_holds_to_the_character(least: int, most: int) -> None:
    grammar = compile_schema({"type": "string", "minLength": least, "maxLength": most})
    for size in {least, least + 1, (least + most) // 2, most - 1, most}:
        if least <= size <= most:
            assert grammar.accepts(f'"{"x" * size}"'), size
    assert not grammar.accepts(f'"{"x" * (most + 1)}"')
    assert least == 0 or not grammar.accepts(f'"{"x" * (least - 1)}"')


def test_strings_without_a_limit_can_be_given_one() -> None:
    schema = closed(a={"type": "string"}, b={"type": "string", "maxLength": 2}, c={})
    grammar = compile_schema(schema, max_string=4)
    assert grammar.accepts('{"a":"1234","b":"12","c":["1234"]}')
    assert not grammar.accepts('{"a":"12345","b":"12","c":1}')
    assert not grammar.accepts('{"a":"1","b":"123","c":1}')
    assert not grammar.accepts('{"a":"1","b":"1","c":["12345"]}')


# Spacing


def test_a_spacing_is_one_style() -> None:
    schema = closed(a={"type": "array", "items": {"type": "integer"}}, b={})
    assert compile_schema(schema, spacing="pretty").accepts('{"a": [1, 2], "b": {"c": 0}}')
    assert not compile_schema(schema, spacing="pretty").accepts('{"a":[1,2],"b":0}')
    assert not compile_schema(schema).accepts('{"a": [1, 2], "b": 0}')


def test_free_spacing_takes_a_bounded_blank_wherever_json_does() -> None:
    value = {"a": [1, {"c": []}], "b": {}}
    grammar = compile_schema(closed(a={}, b={}), spacing="free")
    for text in (json.dumps(value), json.dumps(value, indent=2), json.dumps(value, indent=None)):
        assert grammar.accepts(text), text
    assert grammar.accepts(json.dumps(value, separators=(",", ":")))
    assert not grammar.accepts('{"a":1,' + " " * 40 + '"b":2}')
    assert not grammar.accepts(' {"a":1,"b":2}')
    assert not grammar.accepts('{"a":1,"b":2} ')


# Sources


@dataclass
class Point:
    x: int
    y: int = 0


class Price(BaseModel):
    amount: Decimal = Field(ge=0, le=100, max_digits=5, decimal_places=2)


def even(value: int) -> int:
    if value % 2:
        message = "odd"
        raise ValueError(message)
    return value


@pytest.mark.parametrize(
    ("source", "good", "bad"),
    [
        (list[int], "[1,2]", '["a"]'),
        (Literal["a", 3], '"a"', '"b"'),
        (dict[str, int], '{"a":1}', '{"a":"1"}'),
        (tuple[int, str], '[1,"a"]', "[1]"),
        (int | None, "null", '"1"'),
        (Point, '{"x":1,"y":2}', '{"y":2}'),
        (Price, '{"amount":"99.99"}', '{"amount":"100.01"}'),
        (Price, '{"amount":5.25}', '{"amount":5.255}'),
        (True, '{"any":["thing"]}', "{"),
    ],
)
def test_a_type_is_as_good_as_a_schema(source: Any, good: str, bad: str) -> None:
    grammar = compile_schema(source)
    assert grammar.accepts(good)
    assert not grammar.accepts(bad)


def test_what_only_a_type_knows_is_reported_and_checked() -> None:
    grammar = compile_schema(Annotated[int, AfterValidator(even)])
    assert grammar.deferred == (("", "model"),)
    assert grammar.accepts("3")
    grammar.check(2)
    with pytest.raises(InvalidValue, match="odd"):
        grammar.check(3)


def test_a_type_without_a_schema_is_refused() -> None:
    assert "object" in refused(object()).reason


# Reports


def test_what_is_left_to_check_is_named_at_each_of_its_places() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    grammar = compile_schema(closed(a=tags, b=dict(tags)))
    assert grammar.deferred == (
        ("/properties/a", "uniqueItems"),
        ("/properties/b", "uniqueItems"),
    )
    grammar.check({"a": ["x"], "b": []})
    with pytest.raises(InvalidValue, match="/a"):
        grammar.check({"a": ["x", "x"], "b": []})


def test_a_key_that_may_come_twice_is_counted_afterwards() -> None:
    grammar = compile_schema({"type": "object", "minProperties": 2})
    assert grammar.accepts('{"a":1,"a":2}')
    assert grammar.deferred == (("", "minProperties"),)


def test_an_unknown_keyword_is_ignored_but_not_silently() -> None:
    grammar = compile_schema(closed(a={"type": "integer", "nullable": True}))
    assert grammar.ignored == (("/properties/a", "nullable"),)
    assert not grammar.accepts('{"a":null}')


def test_nothing_is_checked_that_the_grammar_enforces() -> None:
    grammar = compile_schema(closed(a={"enum": ["x"]}))
    assert grammar.deferred == ()
    grammar.check({"anything": "goes"})


def test_a_pattern_that_no_automaton_can_hold_is_left_to_python() -> None:
    grammar = compile_schema({"type": "string", "pattern": "(?<=x)y", "maxLength": 3})
    assert grammar.deferred == (("", "pattern"),)
    assert grammar.accepts('"abc"')
    assert not grammar.accepts('"abcd"')
    grammar.check("xy")
    with pytest.raises(InvalidValue):
        grammar.check("ay")


# Refusals


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        (closed(n={"type": "integer", "minimum": 5, "maximum": 3}), "/properties/n", "maximum"),
        (closed(n={"enum": []}), "/properties/n", "enum"),
        (closed(n={"type": "string", "enum": [1, 2]}), "/properties/n", "enum"),
        (
            closed(n={"minLength": 3, "type": "string", "maxLength": 2}),
            "/properties/n",
            "maxLength",
        ),
        (closed(a=closed(b=False)), "/properties/a", "required"),
        ({"$ref": "#/$defs/x"}, "", "$ref"),
        ({"$ref": "other.json"}, "", "$ref"),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "/$defs/a", "$ref"),
        ({"type": "strnig"}, "", "type"),
        (closed(a={"minimum": "5"}), "/properties/a", "minimum"),
        ({"properties": {"a": {"required": True}}}, "/properties/a", "required"),
        (closed(p={"type": "string", "pattern": "^(a$"}), "/properties/p", "pattern"),
        ({"type": "string", "pattern": "(" * 5000}, "", "pattern"),
        ({"enum": [f"value {n}" for n in range(100_000)]}, "", "enum"),
        (
            {"$defs": {"N": closed(next={"$ref": "#/$defs/N"})}, "$ref": "#/$defs/N"},
            None,
            "required",
        ),
    ],
)
def test_a_schema_that_cannot_be_is_refused_by_place_and_keyword(
    schema: dict[str, Any], pointer: str | None, keyword: str
) -> None:
    error = refused(schema)
    assert pointer is None or error.pointer == pointer, str(error)
    assert error.keyword == keyword, str(error)
    assert len(str(error)) < 300


def nested(keyword: str, depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        inner = [schema] if keyword in ("allOf", "anyOf") else schema
        schema = {keyword: {"a": inner} if keyword == "properties" else inner}
    return schema


@pytest.mark.parametrize("keyword", ["properties", "items", "allOf", "anyOf", "not"])
def test_a_schema_nested_without_end_is_refused_and_not_a_crash(keyword: str) -> None:
    start = time.process_time()
    assert "nested deeper" in refused(nested(keyword, 10_000)).reason
    assert time.process_time() - start < HANG_S


def test_a_schema_nested_as_deep_as_allowed_compiles() -> None:
    grammar = compile_schema(nested("items", 190), closed=False)
    assert grammar.accepts("[" * 190 + "1" + "]" * 190)


def test_a_chain_of_references_is_refused_where_it_gets_too_long() -> None:
    names = {f"r{n}": {"$ref": f"#/$defs/r{n + 1}"} for n in range(5000)}
    schema = {"$defs": {**names, "r5000": {"type": "null"}}, "$ref": "#/$defs/r0"}
    assert "inside one another" in refused(schema).reason


def test_a_huge_name_is_refused_by_the_size_of_its_grammar() -> None:
    start = time.process_time()
    assert "bytes" in refused(closed(**{"x" * 1_048_576: {}})).reason
    assert time.process_time() - start < HANG_S


def test_a_schema_that_holds_itself_is_refused() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    assert "nested deeper" in refused(schema).reason


# The text of a grammar


def test_a_grammar_is_the_same_each_time() -> None:
    schema = {"anyOf": [closed(a={}, b={"format": "date", "type": "string"}), {"type": "array"}]}
    assert compile_schema(schema).gbnf == compile_schema(schema).gbnf


def test_a_grammar_reads_back_as_its_own_rules() -> None:
    odd = 'a"b\\c\n\t\x01[]^-]é😀\u2028'
    schema = closed(
        **{odd: {"enum": [odd, "^-", "]"]}, "p": {"pattern": "^[\\]^\\-\\[\\\\é-ü]+$"}}
    )
    grammar = compile_schema(schema)
    again = read_gbnf(grammar.gbnf)
    text = json.dumps({odd: odd, "p": "]^-[\\ê"}, ensure_ascii=False, separators=(",", ":"))
    assert grammar.accepts(text)
    found = Readings(again).read(text)
    assert found is not None
    assert found.is_complete


def test_names_of_rules_are_names_in_llama_cpp_too() -> None:
    schema = closed(**{"größe (m²)": {"type": "number"}, "root": {}, "a_b": {"format": "uuid"}})
    for name in compile_schema(schema).rules.by_name:
        assert re.fullmatch("[a-z][a-z0-9-]*|[0-9][a-z0-9-]*", name), name


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"properties": {"a": {"type": "string", "enum": [1]}}}, "/properties/a"),
    ({"type": "array", "items": {"type": "string", "const": 1}}, "/items"),
]


@pytest.mark.parametrize(("schema", "pointer"), IMPOSSIBLE)
def test_a_contradiction_in_what_may_be_left_out_is_refused_by_its_place(
    schema: dict[str, Any], pointer: str
) -> None:
    assert refused(schema).pointer == pointer


@pytest.mark.parametrize(("schema", "pointer"), IMPOSSIBLE)
def test_by_the_letter_what_nothing_fits_has_to_be_left_out(
    schema: dict[str, Any], pointer: str
) -> None:
    grammar = compile_schema(schema, closed=False)
    assert grammar.accepts("[]" if schema.get("type") == "array" else "{}")
    assert not grammar.accepts('["x"]' if schema.get("type") == "array" else '{"a":"x"}')


@pytest.mark.parametrize("never", [False, {"not": {}}, {"$ref": "#/$defs/never"}])
def test_a_key_that_is_ruled_out_in_so_many_words_is_never_written(never: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"a": never, "b": {"type": "null"}},
        "$defs": {"never": False},
    }
    grammar = compile_schema(schema)
    assert grammar.accepts("{}")
    assert grammar.accepts('{"b":null}')
    assert not grammar.accepts('{"a":null}')


def test_what_is_written_by_the_letter_can_be_read_back_whatever_its_size() -> None:
    names = [f"{word}{number}" for word in ("alpha", "beta", "gamma") for number in range(300)]
    schema = {"type": "object", "properties": {name: {"type": "null"} for name in names}}
    grammar = compile_schema(schema, closed=False)
    assert read_gbnf(grammar.gbnf).by_name.keys() == grammar.rules.by_name.keys()


def test_optional_keys_are_written_once_however_many_required_ones_there_are() -> None:
    def size(required: int) -> int:
        properties = {f"key_{n:02}": {"type": "null"} for n in range(40)}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return len(
            compile_schema({**schema, "required": list(properties)[:required]}, closed=False).gbnf
        )

    assert size(7) < 2 * size(1)


def test_an_undeclared_key_is_any_text_but_the_declared_names() -> None:
    properties = {name: {"type": "null"} for name in ("id", "idea", "in", '\u00e9"')}
    schema = {"type": "object", "properties": properties, "additionalProperties": {"const": 1}}
    grammar = compile_schema(schema)
    for key in ("", "i", "ide", "ideas", "inn", "x", "\u00e9", '\u00e9\\"x'):
        assert grammar.accepts(f'{{"{key}":1}}'), key
    for key in ("id", "idea", "in", '\u00e9\\"'):
        assert not grammar.accepts(f'{{"{key}":1}}'), key


HALF = "a\ud800"


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "object", "required": [HALF]}, ""),
        ({"type": "object", "properties": {HALF: {}}, "required": [HALF]}, ""),
        (closed(a=closed(**{HALF: {}})), "/properties/a"),
        ({"const": {HALF: 1}}, ""),
    ],
)
@pytest.mark.parametrize("is_closed", [True, False])
def test_a_required_key_that_no_text_can_hold_is_refused_by_its_place(
    schema: dict[str, Any], pointer: str, is_closed: bool
) -> None:
    error = refused(schema, closed=is_closed)
    assert error.pointer == pointer
    assert "surrogate" in error.reason


def test_an_optional_key_that_no_text_can_hold_is_left_out() -> None:
    properties = {HALF: {}, "b": {"type": "null"}}
    for is_closed in (True, False):
        grammar = compile_schema({"type": "object", "properties": properties}, closed=is_closed)
        assert 'D800":' not in grammar.gbnf.upper()
        assert grammar.accepts('{"b":null}')
