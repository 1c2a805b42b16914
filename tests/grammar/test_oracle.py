"""Our matcher and llama.cpp's own sampler: one meaning, and nothing that hurts the native side.

Characters that the vocabulary has no token for are left out: fed in pieces, llama.cpp refuses the
first byte of an allowed character when another one with that byte is not allowed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import pytest

from goliath_local.errors import GrammarError
from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.sample import sample
from tests.grammar.scanned import Vocabulary

if TYPE_CHECKING:
    from conftest import OracleChild

    from goliath_local.grammar.rules import Rules

MAX_READINGS = 2_000  # llama.cpp compares all its stacks in pairs
NATIVE_LIMIT_S = 2
SPICE = '"\\{}[]()0a-+ \n,é中\x7f'
FRAGMENTS = (
    *('"', "|", "(", ")", "[", "]", "*", "+", "?", "{2}", "{0,3}", "{1,}", "{3,1}", "{0,2000}"),
    *("{2001}", "::=", "\n", "root", " ", " x ", "\\x00", "\\u12", "^", "-", ".", "#", '""'),
    *('("a"|"")', "<[5]>", "é", "|\n", "root ::= ", "\\", "{", "}", ",", "0", "ws", "\r", "\t"),
    *("( ", " )", " | ", ' "" ', "root*", "(root)", "{64}", "{0,65}", "[^", "\\U0010FFFF"),
)


def reading(start: Matcher, text: str) -> list[object]:
    """How many characters are taken, and whether the text may end there: as the oracle says it."""
    state = start
    for count, char in enumerate(text):
        after = state.advance(char.encode())
        if after is None:
            return [count, False]
        state = after
    return [len(text), state.is_complete]


def is_light(start: Matcher, text: str) -> bool:
    """Whether llama.cpp can read the text without an enormous number of stacks."""
    state: Matcher | None = start
    for byte in text.encode():
        if state is None or state.readings > MAX_READINGS:
            break
        state = state.step(byte)
    return state is None or state.readings <= MAX_READINGS


def texts_around(rules: Rules, chance: Random, *, sentences: int, budget: int) -> list[str]:
    """Sentences, and sentences with a few characters changed."""
    texts = []
    for _ in range(sentences):
        text = sample(rules, chance, budget_bytes=budget)
        texts.append(text)
        for _ in range(3):
            characters = list(text)
            for _ in range(chance.randint(1, 2)):
                at = chance.randrange(len(characters) + 1)
                end = at + chance.randint(0, 1)
                characters[at:end] = chance.choice([SPICE, text or SPICE])[: chance.randint(0, 1)]
                characters[at:at] = [chance.choice(SPICE)] * chance.randint(0, 1)
            texts.append("".join(characters))
    return texts


def whole(oracle: OracleChild, texts: list[str]) -> tuple[str, ...]:
    """The texts of which every character is a token of its own."""
    oracle.start()
    tokens = set(oracle.pieces)
    return tuple(text for text in texts if all(char.encode() in tokens for char in text))


@pytest.mark.model
def test_both_take_the_same_texts(example: str, oracle: OracleChild) -> None:
    rules = read_gbnf(example)
    start = Matcher.start(rules)
    texts = whole(oracle, texts_around(rules, Random(3), sentences=25, budget=150))
    answer = oracle.ask(example, texts=texts)
    assert answer["loads"]
    assert [reading(start, text) for text in texts] == answer["reads"]
    assert any(complete for _, complete in answer["reads"])
    assert not all(complete for _, complete in answer["reads"])


@pytest.mark.model
def test_both_allow_the_same_tokens_of_the_whole_vocabulary(
    example: str, oracle: OracleChild
) -> None:
    rules = read_gbnf(example)
    (text, *_) = whole(oracle, [sample(rules, Random(seed)) for seed in range(20)])
    prefixes = tuple(text[:end] for end in range(0, min(len(text), 40), 3))
    vocabulary = Vocabulary([piece if is_utf8(piece) else b"" for piece in oracle.pieces])
    for prefix, theirs in zip(prefixes, oracle.ask(example, masks=prefixes)["masks"], strict=True):
        matcher = Matcher.start(rules).advance(prefix.encode())
        assert matcher is not None
        comparable = [id_ for id_ in theirs if is_utf8(oracle.pieces[id_])]
        assert sorted(vocabulary.allowed(matcher)) == comparable, prefix


def is_utf8(piece: bytes) -> bool:
    """Pieces of characters aside: llama.cpp lets through some that cannot be completed."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.model
@pytest.mark.parametrize(
    "gbnf",
    [
        'root ::= ("a"?)*',
        'root ::= (a | "b")*\na ::= [ ]*',
        'root ::= "a"{0,64}',
        'root ::= ("a"?){0,64}',
        'root ::= "a" |',
        'root ::= ""',
        "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(4000)) + 'r4000 ::= "a"',
        "root ::= " + " | ".join(f'"{n}"' for n in range(5000)),
        "root ::= " + "(" * 64 + '"a"' + ")" * 64,
        'root ::= "' + "a" * 60_000 + '"',
        'root ::= "' + "a" * 200 + '"{2000}',
        "root ::= " + " ".join(['"a"{0,2000}'] * 100),
    ],
)
def test_what_our_reader_accepts_loads_in_llama_cpp(gbnf: str, oracle: OracleChild) -> None:
    start = Matcher.start(read_gbnf(gbnf))
    texts = ("", "a", "aa", "b", "1", "12")
    answer = oracle.ask(gbnf, texts=texts)
    assert answer is not None
    assert answer["loads"]
    assert answer["reads"] == [reading(start, text) for text in texts]


@pytest.mark.model
@pytest.mark.slow
def test_mutated_grammars_are_refused_or_mean_the_same(
    examples: dict[str, str], oracle: OracleChild
) -> None:
    chance = Random(20)
    kept = 0
    for _ in range(2000):
        gbnf = mutated(chance.choice(list(examples.values())), chance)
        started = time.perf_counter()
        rules = None
        with suppress(GrammarError):
            rules = read_gbnf(gbnf)
        if rules is not None:
            kept += 1
            assert_same_meaning(gbnf, rules, chance, oracle)
        assert time.perf_counter() - started < NATIVE_LIMIT_S + 1, gbnf
    assert kept > 200


def assert_same_meaning(gbnf: str, rules: Rules, chance: Random, oracle: OracleChild) -> None:
    start = Matcher.start(rules)
    texts = [text[:120] for text in texts_around(rules, chance, sentences=3, budget=40)]
    texts = [text for text in whole(oracle, texts) if is_light(start, text)]
    started = time.perf_counter()
    answer = oracle.ask(gbnf, texts=tuple(texts))
    took = time.perf_counter() - started
    assert answer is not None, f"llama.cpp's process died of\n{gbnf}"
    assert answer["loads"], gbnf
    assert took < NATIVE_LIMIT_S, gbnf
    ours = [reading(start, text) for text in texts]
    assert ours == answer["reads"], gbnf


def mutated(gbnf: str, chance: Random) -> str:
    """The grammar with some of it cut out, moved, or fragments of notation put in."""
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 5])):
        at = chance.randrange(len(gbnf) + 1)
        match chance.choices(["cut", "put", "move"], weights=[30, 45, 25])[0]:
            case "cut":
                gbnf = gbnf[:at] + gbnf[at + chance.choice([1, 1, 2, 5, 20]) :]
            case "put":
                gbnf = gbnf[:at] + chance.choice(FRAGMENTS) + gbnf[at:]
            case "move":
                other = chance.randrange(len(gbnf) + 1)
                piece = gbnf[other : other + chance.choice([1, 3, 10, 40])]
                gbnf = gbnf[:at] + piece + gbnf[at:]
    return gbnf
