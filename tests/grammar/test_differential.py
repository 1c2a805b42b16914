"""Random schemas of every kind against `jsonschema`: the same values pass, and nothing else.

The seeds are fixed, so that every machine plays the same.
"""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Any

import jsonschema
import pytest

from goliath_local.errors import InvalidValue
from goliath_local.grammar import Grammar, SchemaError, compile_schema, sample
from tests.grammar import worlds


def compiled(schema: Any, *, closed: bool) -> Grammar | None:
    with suppress(SchemaError):
        return compile_schema(schema, closed=closed)
    return None


def written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def assert_same(seed: int) -> None:
    """By the letter a grammar and the checks after it allow what the schema allows."""
    chance = Random(seed)
    schema = worlds.schema(chance)
    validator = jsonschema.Draft202012Validator(schema)
    grammar = compiled(schema, closed=False)
    for _ in range(25):
        value = worlds.value(chance)
        is_valid = validator.is_valid(value)
        if grammar is None:
            assert not is_valid, (schema, value)
        elif grammar.accepts(written(value)) != is_valid:
            # More may be allowed only where that is reported.
            assert grammar.deferred, (schema, value, is_valid)
            assert not is_valid, (schema, value)
            with pytest.raises(InvalidValue):
                grammar.check(value)


def assert_sound(seed: int) -> None:
    """What a grammar writes is valid, or something was left to be checked."""
    chance = Random(seed)
    schema = worlds.schema(chance, 4)
    validator = jsonschema.Draft202012Validator(schema)
    for closed in (True, False):
        grammar = compiled(schema, closed=closed)
        for turn in range(4 if grammar else 0):
            assert grammar is not None
            value = json.loads(sample(grammar.rules, Random(seed + turn), budget_bytes=150))
            errors = [e for e in validator.iter_errors(value) if not is_binary_fraction(e)]
            assert not errors or grammar.deferred, (schema, value, closed)


def is_binary_fraction(error: jsonschema.ValidationError) -> bool:
    """Whether `jsonschema` divided binary fractions, and a multiple seemed to be none."""
    return error.validator == "multipleOf" and isinstance(error.instance, float)


@pytest.mark.parametrize("seed", range(25))
def test_a_grammar_allows_what_its_schema_allows(seed: int) -> None:
    assert_same(seed)


@pytest.mark.parametrize("seed", range(15))
def test_a_grammar_writes_nothing_that_its_schema_forbids(seed: int) -> None:
    assert_sound(seed)


@pytest.mark.slow
def test_a_grammar_allows_what_its_schema_allows_very_often() -> None:
    for seed in range(100, 700):
        assert_same(seed)


@pytest.mark.slow
def test_a_grammar_writes_nothing_that_its_schema_forbids_very_often() -> None:
    for seed in range(100, 400):
        assert_sound(seed)
