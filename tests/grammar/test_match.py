"""The matcher: what it takes, what it forces, how it ends."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from goliath_local.errors import GrammarError
from goliath_local.grammar import automaton, match
from goliath_local.grammar.match import Matcher
from goliath_local.grammar.read import read_gbnf
from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Rules, Seq, Text

OBJECT = r"""
root ::= "{\"size\": \"" ("small" | "large" | "largest") "\", \"n\": " "-"? [0-9]{1,15} "}"
"""


def start(gbnf: str) -> Matcher:
    return Matcher.start(read_gbnf(gbnf))


def after(gbnf: str, text: str | bytes) -> Matcher:
    found = start(gbnf).advance(text if isinstance(text, bytes) else text.encode())
    assert found is not None
    return found


def test_bytes_are_taken_one_by_one_or_together() -> None:
    state: Matcher | None = start(OBJECT)
    for byte in b'{"size": "small", "n": 12}':
        assert state is not None
        state = state.advance(bytes([byte]))
    assert state is start(OBJECT).advance(b'{"size": "small", "n": 12}') or state is not None
    assert state.is_complete


def test_a_refused_text_gives_none_and_changes_nothing() -> None:
    state = after(OBJECT, '{"size": "')
    assert state.advance(b"medium") is None
    assert state.advance(b"small") is not None


def test_the_same_state_is_the_same_object_however_it_was_reached() -> None:
    state = after('root ::= ("a" | "b") [0-9]* "."', "")
    assert state.advance(b"a1") is state.advance(b"b234")
    assert len({state.advance(b"a"), state.advance(b"b")}) == 1


def test_starting_again_from_the_same_rules_goes_on_with_the_same_tables() -> None:
    rules = read_gbnf(OBJECT)
    assert Matcher.start(rules) is Matcher.start(rules)


def test_state_ids_differ_between_grammars() -> None:
    assert start(OBJECT).state_id != start(OBJECT + " ").state_id


def test_what_the_grammar_forces_is_told_up_to_the_next_choice() -> None:
    assert start(OBJECT).forced() == b'{"size": "'
    assert after(OBJECT, '{"size": "').forced() == b""
    assert after(OBJECT, '{"size": "s').forced() == b'mall", "n": '
    assert after(OBJECT, '{"size": "large').forced() == b""


def test_nothing_is_forced_where_the_text_may_end() -> None:
    state = after('root ::= "a" "b"?', "a")
    assert state.is_complete
    assert state.forced() == b""


def test_forced_text_is_bounded() -> None:
    assert len(start('root ::= "abc"{2000}').forced()) == match.MAX_FORCED_BYTES


@pytest.mark.parametrize(
    ("gbnf", "text", "ending"),
    [
        (OBJECT, "", '{"size": "small", "n": 0}'),
        (OBJECT, '{"size": "large', '", "n": 0}'),
        (OBJECT, '{"size": "small", "n": 1', "}"),
        ('root ::= "a"', "a", ""),
        ('root ::= "[" root? "]"', "[" * 30, "]" * 30),
        ('root ::= "\\"" [^"]{3,9} "\\""', '"x', 'aa"'),
        ('root ::= "x"{2,5} | "yyyyy"', "y", "yyyy"),
        ("root ::= [é-ü]{2}", b"\xc3", b"\xa9".decode("latin-1")),
    ],
)
def test_the_shortest_ending_completes_the_text(gbnf: str, text: str | bytes, ending: str) -> None:
    state = after(gbnf, text)
    if isinstance(text, str):
        assert state.shortest_ending() == ending.encode()
    assert state.distance == len(state.shortest_ending())
    assert state.accepts(state.shortest_ending())


def test_letters_are_liked_best_in_an_ending() -> None:
    assert start('root ::= "\\"" [^"\\\\]{5} "\\""').shortest_ending() == b'"aaaaa"'


def test_the_bytes_that_may_come_next_are_told() -> None:
    assert after(OBJECT, '{"size": "').allowed_first_bytes() == frozenset(b"sl")
    assert after(OBJECT, '{"size": "large').allowed_first_bytes() == frozenset(b'"s')
    assert after('root ::= "a"', "a").allowed_first_bytes() == frozenset()


@pytest.mark.parametrize(
    "bad",
    [
        b"\x00",
        b"\x80",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf0\x80\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xf5",
        b"\xff",
    ],
)
def test_any_character_is_well_formed_utf_8(bad: bytes) -> None:
    for body in (".", "[^x]", r"[\x00-\U0010FFFF]"):
        state: Matcher | None = start(f"root ::= {body}")
        for byte in bad:
            state = state.step(byte) if state else None
        assert state is None


@pytest.mark.parametrize(
    "code", [1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F99C, 0x10FFFF]
)
def test_every_character_is_a_character(code: int) -> None:
    for body in (".", "[^x]", r"[\x00-\U0010FFFF]"):
        assert start(f"root ::= {body}").accepts(chr(code).encode())


def test_a_class_over_all_lengths_of_utf_8_is_exact() -> None:
    edges = (0x61, 0x7E, 0x7F, 0x80, 0xE9, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF)
    edges += (0x10000, 0x10FFF, 0x3FFFF, 0x40000, 0x10FFFE)
    for low, high in itertools.combinations(edges, 2):
        state = start(rf"root ::= [\U{low:08X}-\U{high:08X}]")
        for code in {code + by for code in edges for by in (-1, 0, 1)} - {0xD800, 0xDFFF}:
            assert state.accepts(chr(code).encode()) == (low <= code <= high), (low, high, code)


def test_a_dead_end_is_never_entered() -> None:
    rules = Rules(
        {
            "root": Alt(
                (Seq((Text("a"), Ref("endless"))), Text("ab"), Seq((Chars(()), Text("q"))))
            ),
            "endless": Seq((Text("b"), Ref("endless"))),
        }
    )
    state = Matcher.start(rules).advance(b"ab")
    assert state is not None
    assert state.is_complete
    assert state.allowed_first_bytes() == frozenset()


def test_unsound_rules_are_refused_before_they_run() -> None:
    with pytest.raises(GrammarError, match="left recursion"):
        Matcher.start(Rules({"root": Seq((Ref("root"), Text("a")))}))
    with pytest.raises(GrammarError, match="line 2, column 1: rule x is not defined"):
        Matcher.start(Rules({"root": Text("a"), "b": Ref("x")}))


def test_an_ambiguous_grammar_costs_no_more_than_its_levels() -> None:
    state = after('root ::= "a" | "(" (root "x" | root "y") ")"', "(" * 300 + "a")
    assert state.readings == 2**300
    assert state.accepts(b"x)y)" * 150)


@pytest.mark.parametrize(
    ("gbnf", "text"),
    [
        ('root ::= "\\"" [^"]{0,2000} "\\""', '"' + "abcde " * 300),
        ('root ::= "\\"" ([^"]{40}){0,49} [^"]{0,39} "\\""', '"' + "abcde " * 300),
        ('root ::= "\\"" ([^"]{1,20}){0,50} "\\""', '"' + "abcde " * 40),
        ('root ::= "[" ([a-z ]{0,20} ". "){0,90} "]"', "[" + "ab cd. " * 90),
    ],
)
def test_large_counts_are_not_written_out(gbnf: str, text: str) -> None:
    state = after(gbnf, text)
    assert state.distance > 0
    assert len(state._items) < 10


def test_a_deep_text_needs_no_deep_recursion() -> None:
    state = after('root ::= "[" (root ("," root)*)? "]"', "[" * 5_000)
    assert state.distance == 5_000
    assert state.accepts(b"]" * 5_000)


def test_tables_are_dropped_when_they_are_full_and_states_live_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(automaton, "MAX_UNITS", 1_000)
    text = b"[" + b"[a,bc,[d]]," * 100 + b"x]"
    gbnf = 'root ::= "[" (root | [a-z]+) ("," (root | [a-z]+))* "]"'
    first = start(gbnf)
    state: Matcher | None = first
    for position, byte in enumerate(text):
        assert state is not None
        assert state.accepts(state.shortest_ending()), position
        state = state.advance(bytes([byte]))
    assert state is not None
    assert state.is_complete
    assert len(first._automaton) < 100


def test_several_threads_may_run_one_grammar_while_tables_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(automaton, "MAX_UNITS", 300)
    first = start('root ::= "[" (root "a" | root "b" | [a-z]{0,30}) ("," root)* "]"')

    def run(seed: int) -> bool:
        text = b"[" * (seed % 9 + 1) + b"abc" * (seed % 7)
        for _ in range(60):
            state = first.advance(text)
            if state is None or not state.accepts(state.shortest_ending()):
                return False
        return first.advance(text + b"!") is None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(64)))


LEAVES = (Text("a"), Text("b"), Text("ab"), Text(""), Chars(((0x61, 0x62),)), Ref("x"), Ref("y"))
REPEATS = ((0, 1), (0, None), (1, None), (2, 3), (0, 3), (2, None), (1, 1))


def expr(chance: Random, depth: int = 3) -> Expr:
    """An expression over a and b, with references that can only come after a byte."""
    match chance.randrange(5) if depth else 0:
        case 1:
            return Seq(tuple(expr(chance, depth - 1) for _ in range(chance.randrange(4))))
        case 2:
            return Alt(tuple(expr(chance, depth - 1) for _ in range(chance.randint(1, 3))))
        case 3:
            return Repeat(expr(chance, depth - 1), *chance.choice(REPEATS))
        case _:
            return chance.choice(LEAVES)


def as_regex(held: Expr, named: dict[str, str]) -> str:
    """The same in Python's notation; an independent reading of what rules mean."""
    match held:
        case Text(text):
            return re.escape(text)
        case Chars():
            return "[ab]"
        case Ref(name):
            return named[name]
        case Seq(items):
            return "".join(f"(?:{as_regex(item, named)})" for item in items)
        case Alt(options):
            return "(?:" + "|".join(as_regex(option, named) for option in options) + ")"
        case Repeat(item, least, most):
            return f"(?:{as_regex(item, named)}){{{least},{'' if most is None else most}}}"


WORDS = ["".join(letters) for size in range(6) for letters in itertools.product("ab", repeat=size)]


def test_rules_without_recursion_match_like_regular_expressions() -> None:
    for seed in range(150):
        chance = Random(seed)
        assert_match_alike(expr(chance), expr(chance), expr(chance))


def assert_match_alike(root: Expr, x: Expr, y: Expr) -> None:
    plain = {"x": "a?", "y": "ba"}
    named = {"x": as_regex(x, plain), "y": as_regex(y, plain)}
    inner = {"x": Repeat(Text("a"), 0, 1), "y": Text("ba")}
    rules = Rules(
        {
            "root": renamed(root, "outer"),
            "outer-x": renamed(x, "inner"),
            "outer-y": renamed(y, "inner"),
            **{f"inner-{name}": expr for name, expr in inner.items()},
        }
    )
    pattern = re.compile(as_regex(root, named))
    state = Matcher.start(rules)
    for word in WORDS:
        assert state.accepts(word.encode()) == bool(pattern.fullmatch(word)), word
    assert_no_dead_end(state, depth=4)


def renamed(held: Expr, prefix: str) -> Expr:
    match held:
        case Ref(name):
            return Ref(f"{prefix}-{name}")
        case Seq(items):
            return Seq(tuple(renamed(item, prefix) for item in items))
        case Alt(options):
            return Alt(tuple(renamed(option, prefix) for option in options))
        case Repeat(item, least, most):
            return Repeat(renamed(item, prefix), least, most)
    return held


def assert_no_dead_end(state: Matcher, *, depth: int) -> None:
    ending = state.shortest_ending()
    assert len(ending) == state.distance
    assert state.accepts(ending)
    if depth:
        for byte in state.allowed_first_bytes():
            then = state.step(byte)
            assert then is not None
            assert_no_dead_end(then, depth=depth - 1)
