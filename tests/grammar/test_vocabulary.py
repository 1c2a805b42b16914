"""Asking a grammar about all tokens of a vocabulary at once."""

from __future__ import annotations

import pytest

from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.vocabulary import Vocabulary

TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(
        b"",
        b'", "',
        b"small",
        b"sma",
        b"smaller",
        b'large"',
        b'large", "n": 1',
        b"12345",
        b"1" * 20,
    ),
    *(b"\xff\xff", b"\xff", "é".encode(), "éé".encode(), b"\xc3", b"", b"small"),
]
GBNF = r'root ::= "{\"size\": \"" ("small" | "large" | [à-ü]{1,3}) "\", \"n\": " [0-9]{1,15} "}"'


@pytest.mark.parametrize("text", ["", '{"size": "', '{"size": "small', '{"size": "é'])
def test_a_scan_finds_exactly_the_tokens_that_are_allowed(text: str) -> None:
    matcher = Matcher.start(read_gbnf(GBNF)).advance(text.encode())
    assert matcher is not None
    one_by_one = [id_ for id_, token in enumerate(TOKENS) if token and matcher.advance(token)]
    assert sorted(Vocabulary(TOKENS).allowed(matcher)) == one_by_one


def test_tokens_without_text_are_never_allowed() -> None:
    matcher = Matcher.start(read_gbnf("root ::= .*"))
    allowed = Vocabulary([b"", b"a", b""]).allowed(matcher)
    assert allowed == [1]


def test_an_empty_vocabulary_allows_nothing() -> None:
    assert Vocabulary([]).allowed(Matcher.start(read_gbnf("root ::= .*"))) == []
