"""Compiled schemas: the rules, their GBNF read back, and llama.cpp all mean the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from goliath_local.errors import SchemaError
from goliath_local.grammar import Grammar, Matcher, compile_schema, read_gbnf, sample
from tests.grammar.scanned import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import OracleChild

HERE = Path(__file__).parent
MAX_READINGS = 2_000  # llama.cpp compares all its stacks in pairs


def cases() -> Iterator[tuple[str, Grammar, list[str]]]:
    """Every case that compiles, with all of its texts in both spacings."""
    for path in sorted((HERE / "cases").glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        if case["expect"] == "compile":
            texts = [*case.get("accept", ()), *case.get("reject", ())]
            texts += [compact(text) for text in texts]
            texts += [*case.get("incomplete", ()), *case.get("reject_runaway", ())]
            yield case["name"], compile_schema(case["schema"]), list(dict.fromkeys(texts))


def benchmark(step: int) -> Iterator[tuple[str, Grammar, list[str]]]:
    """Every so-many-th schema of the sample of JSONSchemaBench, with its texts."""
    path = HERE / "jsonschemabench" / "schemas.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in list(file)[::step]:
            entry = json.loads(line)
            texts = [json.dumps(test["data"], ensure_ascii=False) for test in entry["tests"]]
            try:
                yield entry["id"], compile_schema(entry["schema"]), list(map(compact, texts))
            except SchemaError:
                continue


def compact(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reading(start: Matcher, text: str) -> list[object]:
    """How many characters are taken, and whether the text may end there."""
    state = start
    for count, char in enumerate(text):
        after = state.advance(char.encode(errors="surrogatepass"))
        if after is None:
            return [count, False]
        state = after
    return [len(text), state.is_complete]


def is_light(start: Matcher, text: str) -> bool:
    state: Matcher | None = start
    for byte in text.encode(errors="surrogatepass"):
        if state is None or state.readings > MAX_READINGS:
            break
        state = state.step(byte)
    return state is None or state.readings <= MAX_READINGS


def changed(text: str, chance: Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice('"\\{}[],: 0a-é') * chance.randint(0, 1) + text[at + 1 :]


def sentences(grammar: Grammar, chance: Random, number: int) -> list[str]:
    return [sample(grammar.rules, chance, budget_bytes=120) for _ in range(number)]


@pytest.mark.slow
def test_the_gbnf_read_back_means_what_the_rules_mean() -> None:
    chance = Random(1)
    for name, grammar, texts in (*cases(), *benchmark(4)):
        again = Matcher.start(read_gbnf(grammar.gbnf, max_bytes=1 << 20))
        start = grammar.matcher()
        drawn = sentences(grammar, chance, 2)
        for text in drawn:
            assert start.accepts(text.encode()), (name, text)
        for text in (*texts, *drawn, *(changed(text, chance) for text in drawn)):
            assert reading(start, text) == reading(again, text), (name, text)


def test_at_every_prefix_of_a_sentence_the_next_token_is_allowed_and_an_end_is_in_reach() -> None:
    chance = Random(2)
    for name, grammar, _ in cases():
        (text,) = sentences(grammar, chance, 1)
        state = grammar.matcher()
        rest = text.encode()[:300]
        while rest:
            token, rest = rest[: (size := chance.randint(1, 6))], rest[size:]
            after = state.advance(token)
            assert after is not None, (name, token, rest)
            state = after
            ending = state.shortest_ending()
            assert len(ending) == state.distance
            assert state.accepts(ending), (name, ending)
            forced = state.forced()
            assert rest.startswith(forced[: len(rest)]), (name, forced, rest)


def test_no_way_through_a_grammar_is_a_dead_end() -> None:
    chance = Random(3)
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b'","', b'":', b"true", b"12", b"\\u", b'"}', b'""']
    vocabulary = Vocabulary(tokens)
    for name, grammar, _ in list(cases())[::6]:
        for _ in range(3):
            state = grammar.matcher()
            for _ in range(25):
                allowed = vocabulary.allowed(state)
                assert allowed or state.is_complete, name
                if not allowed:
                    break
                after = state.advance(tokens[chance.choice(allowed)])
                assert after is not None
                state = after
            assert state.accepts(state.shortest_ending()), name


def test_a_token_that_was_checked_before_is_looked_up_and_not_walked_again() -> None:
    for _, grammar, texts in list(cases())[::6]:
        start = grammar.matcher()
        for text in texts:
            data = text.encode(errors="surrogatepass")
            tokens = [data[at : at + 4] for at in range(0, len(data), 4)]
            first = walked(start, tokens)
            start._automaton._leads_to.clear()  # a walk would have to make its states anew
            assert all(a is b for a, b in zip(first, walked(start, tokens), strict=True))


def walked(state: Matcher | None, tokens: list[bytes]) -> list[Matcher | None]:
    """The states after each token, up to the one that is refused."""
    found: list[Matcher | None] = []
    for token in tokens:
        if state is None:
            break
        state = state.advance(token)
        found.append(state)
    return found


@pytest.mark.model
@pytest.mark.slow
def test_llama_cpp_takes_and_refuses_the_same_texts(oracle: OracleChild) -> None:
    oracle.start()
    known = set(oracle.pieces)
    chance = Random(4)
    compared = 0
    for name, grammar, texts in (*cases(), *benchmark(4)):
        start = grammar.matcher()
        drawn = sentences(grammar, chance, 2)
        tried = tuple(
            text
            for text in (*texts, *drawn, *(changed(text, chance) for text in drawn * 3))
            if len(text) < 400 and feedable(text, known) and is_light(start, text)
        )
        answer = oracle.ask(grammar.gbnf, texts=tried)
        assert answer is not None, name
        assert answer["loads"], name
        for text, theirs in zip(tried, answer["reads"], strict=True):
            assert reading(start, text) == theirs, (name, text)
            compared += 1
    assert compared > 1000


def feedable(text: str, known: set[bytes]) -> bool:
    """Whether every character is a token of its own, and so fed whole to llama.cpp."""
    return all(not "\ud800" <= char <= "\udfff" and char.encode() in known for char in text)
