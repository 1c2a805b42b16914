"""Sentences drawn at random."""

from __future__ import annotations

from random import Random

from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Rules, Seq, Text
from goliath_local.grammar.sample import sample


def test_every_sample_is_a_sentence(example: str) -> None:
    rules = read_gbnf(example)
    start = Matcher.start(rules)
    chance = Random(1)
    for _ in range(30):
        text = sample(rules, chance)
        assert start.accepts(text.encode()), text


def test_the_same_seed_gives_the_same_sample(example: str) -> None:
    rules = read_gbnf(example)
    assert sample(rules, Random(7)) == sample(rules, Random(7))


def test_past_the_budget_the_shortest_way_out_is_taken() -> None:
    rules = read_gbnf('root ::= "[" (root ("," root)*)? "]"')
    texts = [sample(rules, Random(seed), budget_bytes=50) for seed in range(50)]
    assert max(map(len, texts)) < 200


def test_what_never_ends_is_never_entered() -> None:
    never = Alt((Chars(()), Ref("loop")))
    rules = Rules(
        {
            "root": Alt((Seq((Text("a"), Repeat(never, 0, None))), Ref("loop"))),
            "loop": Seq((Text("b"), Ref("loop"))),
        }
    )
    assert {sample(rules, Random(seed)) for seed in range(20)} == {"a"}
