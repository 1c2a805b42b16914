"""Random schemas: they compile or are refused by name, and whatever a model does, a reply fits.

The model is a source of numbers here: all tokens equally likely, random, or as hostile as can be.
The tokens are those of a real model.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pytest

from goliath_local.engine.decode import Wanted, decode
from goliath_local.engine.native.tokenizer import Tokenizer
from goliath_local.engine.sampling import Odds
from goliath_local.engine.vocabulary import Vocabulary
from goliath_local.errors import InvalidValue, SchemaError
from goliath_local.grammar import Grammar, Matcher, compile_schema, read_gbnf, sample
from tests.levers import first_seed, many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FIRST, EXAMPLES = first_seed(0), many(5_000)
"""Random schemas tried, each of its own seed."""

WORDS = (
    "id",
    "name",
    "größe",
    'a"b',
    "x-1",
    "list_tasks",
    "list_notes",
    "💡",
    "",
    "very long key",
)
PATTERNS = (
    "^[a-z]{2,5}$",
    "^\\d{3}-\\d{4}$",
    "cat|dog",
    "^(?!no)[a-z]+$",
    "^[A-Z][a-z]*( [A-Z])?$",
)
FORMATS = ("date", "date-time", "time", "uuid", "email", "ipv4", "uri")


def schema(chance: Random, depth: int) -> Any:
    """One schema, most likely satisfiable; deeper ones are made of shallower ones."""
    simple = (string, integer, number, choice, fixed, lambda _: {"type": "boolean"}, nullable)
    if depth == 0:
        return chance.choice(simple)(chance)
    nested = (object_, object_, counted, array, array, held, union, combined, conditional, barred)
    make = chance.choice((*simple, *nested, *nested))
    return make(chance, depth) if make in nested else make(chance)


def string(chance: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "string"}
    match chance.randrange(5):
        case 0:
            made["minLength"] = chance.randrange(6)
        case 1:
            made |= {"minLength": chance.randrange(4), "maxLength": chance.choice((4, 20, 300))}
        case 2:
            made["pattern"] = chance.choice(PATTERNS)
        case 3:
            made["format"] = chance.choice(FORMATS)
    return made


def integer(chance: Random) -> dict[str, Any]:
    low = chance.choice((-1000, -7, 0, 1, 13, 10**6))
    keywords = (
        {},
        {"minimum": low},
        {"maximum": low},
        {"minimum": low, "maximum": low + chance.choice((0, 5, 999, 10**9))},
        {"exclusiveMinimum": low},
        {"multipleOf": chance.choice((2, 5, 10, 7))},
    )
    return {"type": "integer"} | chance.choice(keywords)


def number(chance: Random) -> dict[str, Any]:
    low = chance.choice((-1.5, 0, 0.25, 100))
    keywords = ({}, {"minimum": low}, {"minimum": low, "maximum": low + 2.75}, {"multipleOf": 0.5})
    return {"type": "number"} | chance.choice(keywords)


def choice(chance: Random) -> dict[str, Any]:
    values: list[Any] = [*WORDS, 1, 2.5, None, True, {"a": [1]}, []]
    return {"enum": chance.sample(values, chance.randint(1, 6))}


def fixed(chance: Random) -> dict[str, Any]:
    return {"const": chance.choice((*WORDS, 3, False, {"k": "v"}))}


def nullable(chance: Random) -> dict[str, Any]:
    return {"type": [chance.choice(("string", "integer")), "null"]}


def object_(chance: Random, depth: int) -> dict[str, Any]:
    keys = chance.sample(WORDS, chance.randint(0, 5))
    made: dict[str, Any] = {
        "type": "object",
        "properties": {key: schema(chance, depth - 1) for key in keys},
        "required": [key for key in keys if chance.random() < 0.6],
    }
    if chance.random() < 0.3:
        made["additionalProperties"] = chance.choice((False, {"type": "integer"}))
    return made


def array(chance: Random, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "array", "items": schema(chance, depth - 1)}
    if chance.random() < 0.5:
        made["minItems"] = chance.randrange(3)
    if chance.random() < 0.7:
        made["maxItems"] = made.get("minItems", 0) + chance.choice((0, 1, 3, 40))
    if chance.random() < 0.2:
        made["prefixItems"] = [schema(chance, depth - 1) for _ in range(chance.randint(1, 2))]
    return made


def counted(chance: Random, depth: int) -> dict[str, Any]:
    """An object with something to say of its keys as a whole."""
    made = object_(chance, depth)
    keys = list(made["properties"]) or ["id"]
    match chance.randrange(5):
        case 0:
            made["minProperties"] = chance.randrange(4)
        case 1:
            made["maxProperties"] = chance.randrange(1, 5)
        case 2:
            made["dependentRequired"] = {chance.choice(keys): [chance.choice(keys)]}
        case 3:
            made["patternProperties"] = {"^x-": schema(chance, depth - 1)}
        case 4:
            made["propertyNames"] = {"maxLength": chance.choice((4, 12, 40))}
    return made


def held(chance: Random, depth: int) -> dict[str, Any]:
    """An array with something to say of its items as a whole."""
    made = array(chance, depth)
    match chance.randrange(3):
        case 0:
            made |= {"uniqueItems": True, "items": choice(chance)}
        case 1:
            made["contains"] = schema(chance, 0)
        case 2:
            made |= {"contains": fixed(chance), "maxContains": chance.randint(1, 2)}
    return made


def conditional(chance: Random, depth: int) -> dict[str, Any]:
    made = object_(chance, depth)
    made["properties"]["kind"] = {"enum": ["a", "b", "c"]}
    made["required"] = [*made["required"], "kind"]
    made["if"] = {"properties": {"kind": {"const": chance.choice("abc")}}, "required": ["kind"]}
    made["then"] = {"required": [chance.choice(list(made["properties"]))]}
    if chance.random() < 0.5:
        made["else"] = {"properties": {"kind": {"not": {"const": chance.choice("abc")}}}}
    return made


def barred(chance: Random, depth: int) -> dict[str, Any]:
    return {"allOf": [schema(chance, depth - 1)], "not": schema(chance, 0)}


def union(chance: Random, depth: int) -> dict[str, Any]:
    word = chance.choice(("anyOf", "anyOf", "oneOf"))
    return {word: [schema(chance, depth - 1) for _ in range(chance.randint(1, 3))]}


def combined(chance: Random, depth: int) -> dict[str, Any]:
    return {"allOf": [object_(chance, depth), object_(chance, depth)]}


def compiled(wanted: Any, *, closed: bool = True) -> Grammar | None:
    """The grammar; None when the schema was refused, which it may be, by name."""
    with suppress(SchemaError):
        return compile_schema(wanted, closed=closed)
    return None


@pytest.mark.slow
@pytest.mark.timeout(1800)  # all of them together; one that hangs does not come to an end
def test_a_random_schema_compiles_to_what_it_means_or_is_refused() -> None:
    for seed in range(FIRST, FIRST + EXAMPLES):
        chance = Random(seed)
        wanted = schema(chance, 3)
        grammar = compiled(wanted, closed=chance.random() < 0.5)
        if grammar is not None:
            assert_means_what_it_says(grammar, wanted, chance)


def assert_means_what_it_says(grammar: Grammar, wanted: Any, chance: Random) -> None:
    """What the rules write its GBNF takes too, it can be ended, and it fits the schema."""
    start = Matcher.start(read_gbnf(grammar.gbnf, max_bytes=1 << 20))
    text = sample(grammar.rules, chance, budget_bytes=200)
    assert start.accepts(text.encode()), (wanted, text)
    assert start.accepts(start.shortest_ending())
    assert_fits(grammar, wanted, text)


def assert_fits(grammar: Grammar, wanted: Any, text: str) -> None:
    """The text is JSON and valid; where checks are left for later, they may object."""
    value = json.loads(text)
    validator = jsonschema.Draft202012Validator(
        wanted, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    if not grammar.deferred:
        validator.validate(value)
        return
    try:
        grammar.check(value)
    except InvalidValue:
        assert not validator.is_valid(value)
    else:
        validator.validate(value)


class Noise:
    """A model that knows nothing: it only gives numbers."""

    def __init__(self, make: Callable[[], np.ndarray[Any, Any]]) -> None:
        self._make = make

    def evaluate(self, ids: object) -> None:
        pass

    def logits(self) -> np.ndarray[Any, Any]:
        return self._make().astype(np.float32)


@pytest.fixture(scope="module")
def tokenizer(weights: Callable[[str], Path]) -> Iterator[Tokenizer]:
    """The tokenizer of the tiny model, of which only the vocabulary is loaded."""
    from goliath_local.engine.native.library import open_library

    # A log callback of our own would be gone with this fixture, and the next load would call it.
    llama_cpp = open_library()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    path = weights("smollm2-135m")
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
    vocab = llama_cpp.llama_model_get_vocab(model)
    yield Tokenizer(SimpleNamespace(library=llama_cpp, vocab=vocab, path=path))
    llama_cpp.llama_model_free(model)


def moods(vocabulary: Vocabulary, chance: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Ways to answer: indifferent, random, and against everything a reply needs."""
    size = len(vocabulary.pieces)
    longest = np.array([float(len(piece)) for piece in vocabulary.pieces])
    closing = np.array([float(bool(set(piece) & set(b'"}]'))) for piece in vocabulary.pieces])
    digits = np.array([float(piece.isdigit()) for piece in vocabulary.pieces])
    foreign = np.array([float(not piece.isascii()) for piece in vocabulary.pieces])
    ends = np.zeros(size)
    ends[list(vocabulary.end_ids)] = 9
    return {
        "indifferent": lambda: np.zeros(size),
        "random": lambda: chance.normal(size=size) * 3,
        "never closing": lambda: chance.normal(size=size) - 50 * closing,
        "long tokens": lambda: longest,
        "digits": lambda: 50 * digits + chance.normal(size=size),
        "foreign": lambda: 50 * foreign + chance.normal(size=size),
        "ending at once": lambda: ends + chance.normal(size=size),
    }


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_whatever_the_model_prefers_the_reply_fits_or_says_that_it_is_cut(
    tokenizer: Tokenizer,
) -> None:
    vocabulary = Vocabulary(tokenizer.pieces, tokenizer.end_ids)
    chance = Random(FIRST + 7)
    numbers = np.random.default_rng(FIRST + 7)
    replies = cut = 0
    examples = many(300)
    for seed in range(FIRST, FIRST + examples):
        wanted = schema(Random(seed), 3)
        grammar = compiled(wanted)
        if grammar is None:
            continue
        mood = chance.choice(list(moods(vocabulary, numbers).items()))
        cap = chance.choice((8, 40, 120))
        temperature = chance.choice((0.0, 1.0))
        reply = decode(
            Noise(mood[1]),
            Wanted(
                constraint=grammar.matcher(),
                max_tokens=cap,
                odds=Odds(temperature=temperature, top_k=40, top_p=0.95, chance=numbers),
                clock=time.perf_counter,
            ),
            tokenizer,
            vocabulary,
        )
        replies += 1
        where = (seed, wanted, mood[0], cap, reply.text)
        assert reply.tokens <= cap, where
        if reply.finish == "length":
            cut += 1
            needed = len(tokenizer.encode_bytes(grammar.matcher().shortest_ending()))
            assert needed > cap, where
        else:
            assert_fits(grammar, wanted, reply.text)
    assert replies > examples * 2 / 3
    assert cut < replies / 2
