"""Patterns as automata: what `re` finds they accept, on what both can read."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest

from goliath_local.schema.regular import Automaton, BadPattern, Beyond, compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

ALPHABET = "abcxz019AZ_-., :/@\"\\'\n\t"

PATTERNS = [
    "",
    "a",
    "^a",
    "a$",
    "^a|b$",
    "^(a|b)$",
    "[0-9]",
    "^[a-z]{2,5}$",
    "^([A-Z]{2}-){1,3}[0-9]{2,4}$",
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
    "^(?!admin$)[a-z]{1,8}$",
    "^(?=.*[0-9])(?=.*[a-z])[a-z0-9]{2,4}$",
    "a(?!b)",
    "^(?:a(?=b)|c)b?$",
    "(^|,)a(,|$)",
    "^$|^a+$",
    r"\ba\b",
    r"a\Bb",
    r"^\S+\s\S+$",
    "^[^/]+/[^/]+$",
    r"^[\w.-]+@[\w-]+\.[a-z]{2,}$",
    "^(ab?|b{2})*c$",
    "^(a{0,2}){2}$",
    "x*?y+?",
    "^(a|^b)c?$",
    r"\x61\u0062",
    r"^[\]\-^\\]$",
    "^{$",
    "a{b}",
    "^(?<year>[0-9]{2})$",
]


def sampled(automaton: Automaton, chance: Random) -> str:
    """A text that leads through the automaton, perhaps not to its end."""
    text, state = "", 0
    for _ in range(chance.randrange(14)):
        tail = automaton.tails[state]
        steps = [(tail.chars, state)] if tail else automaton.steps[state]
        if not steps:
            break
        held, state = chance.choice(steps)
        low, high = chance.choice(held)
        text += chr(chance.randint(low, min(high, low + 40)))
    return text


def tried(automaton: Automaton, chance: Random) -> Iterator[str]:
    """Texts near the language: walked, random, and spoilt."""
    for _ in range(150):
        text = sampled(automaton, chance)
        yield text
        at = chance.randrange(len(text) + 1)
        yield text[:at] + chance.choice(ALPHABET) + text[at + chance.randrange(2) :]
        yield "".join(chance.choices(ALPHABET, k=chance.randrange(6)))


def is_read_two_ways(text: str) -> bool:
    """Whether ECMA-262 and Python may disagree: beyond ASCII, and at the ends of lines."""
    return not text.isascii() or any(char in text for char in "\n\r\x1c\x1d\x1e\x1f")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_automaton_accepts_what_the_pattern_is_found_in(pattern: str) -> None:
    automaton = compile_pattern(pattern)
    found = re.compile(pattern.replace("(?<year>", "(?P<year>"))
    for text in tried(automaton, Random(7)):
        if not is_read_two_ways(text):
            assert automaton.accepts(text) == bool(found.search(text)), repr(text)


@pytest.mark.parametrize("pattern", [r"^\d$", r"^\D$", r"^\w$", r"^\W$", r"^\s$", r"^\S$", "^.$"])
def test_a_named_set_holds_only_what_both_languages_hold(pattern: str) -> None:
    automaton = compile_pattern(pattern)
    odd = "é٣߀ßЖ中\u00a0\u0085\ufeff\u2028\u180e\u200b_5 ~€😀\x1c\r\n"
    by_python = re.compile(pattern.replace("$", r"\Z"))
    by_ecma = re.compile(_ecma(pattern), re.ASCII)
    for char in odd:
        if automaton.accepts(char):
            assert by_python.search(char), repr(char)
            assert by_ecma.search(char), repr(char)


def _ecma(pattern: str) -> str:
    space = r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    sets = {r"\s": f"[{space}]", r"\S": f"[^{space}]", ".": r"[^\n\r\u2028\u2029]"}
    for short, written in sets.items():
        pattern = pattern.replace(short, written)
    return pattern.replace("$", r"\Z")


def test_a_wide_reading_holds_what_either_language_holds() -> None:
    assert not compile_pattern(r"^\d$").accepts("٣")
    assert compile_pattern(r"^\d$", wide=True).accepts("٣")
    assert compile_pattern(r"^(?!\d)..?$", wide=True).accepts("٣x")
    assert not compile_pattern(r"^(?!\d)..?$").accepts("٣x")


def test_a_category_of_unicode_is_a_set() -> None:
    letters = compile_pattern(r"^\p{L}+$")
    assert letters.accepts("Größe中")
    assert not letters.accepts("a1")


@pytest.mark.parametrize(
    "pattern", ["^(a$", "a)", "[a-z", "*a", "a{2,1}", "[z-a]", "a**", "\\", "(" * 5000]
)
def test_a_broken_pattern_is_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(BadPattern, match=r"."):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"(?<=x)a", r"(a)\1", "(?i)a", "(?:^a)*b", "a*+", r"\Aa", "(?#note)a", "a{,3}", "[]a]"],
)
def test_what_no_automaton_can_hold_is_told_apart_from_what_is_broken(pattern: str) -> None:
    with pytest.raises(Beyond):
        compile_pattern(pattern)


def test_a_pattern_that_would_need_too_many_states_is_left_alone() -> None:
    with pytest.raises(Beyond, match="states"):
        compile_pattern("^.*a.{14}$")


def test_a_long_repetition_is_one_state() -> None:
    automaton = compile_pattern("^[a-z]{1,50000}$")
    assert len(automaton.steps) <= 3
    assert automaton.accepts("a" * 50000)
    assert not automaton.accepts("a" * 50001)
