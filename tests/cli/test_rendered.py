"""B6: what is shown for a yes is one call, and no other call looks like it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.cli.confirm import Call, framed, read_answer
from goliath_local.cli.rendered import rendered_call, rendered_value
from tests.levers import first_seed, many

TRICKY = st.text(
    st.sampled_from('ab "\\\n\u200b\u202e\u0430é\u0301:,{}[]│└─y10.e…()'), max_size=12
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | TRICKY
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TRICKY | st.sampled_from(["title", "path"]), VALUES, max_size=3)

PAIRS = [
    ({"path": "a\u200b.txt"}, {"path": "a.txt"}),
    ({"x": "a\u202eb"}, {"x": "ab"}),
    ({"x": "a\n"}, {"x": "a"}),
    ({"x": "q" * 10_000 + "a" + "q" * 500}, {"x": "q" * 10_000 + "b" + "q" * 500}),
    ({"x": "1"}, {"x": 1}),
    ({"x": None}, {"x": "null"}),
    ({"x": True}, {"x": "true"}),
    ({"x": 1000}, {"x": 1000.0}),
    ({"x": "1e3"}, {"x": 1e3}),
    ({"x": "\u0430"}, {"x": "a"}),
    ({"x": "ﬁ"}, {"x": "fi"}),
    ({"x": "é"}, {"x": "e\u0301"}),
    ({"x": "a\u00a0b"}, {"x": "a b"}),
    ({"x": "a\uff0fb"}, {"x": "a/b"}),
    ({"x": "a, y: b"}, {"x": "a", "y": "b"}),
    ({"x": ["a", "b"]}, {"x": '["a", "b"]'}),
    ({"x": "yes"}, {"x": True}),
    ({"x": ""}, {"x": None}),
]


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=ascii)
def test_two_different_calls_never_look_the_same(one: dict, other: dict) -> None:
    shown, shown_other = rendered_call("t", one), rendered_call("t", other)
    assert shown != shown_other
    assert all(line.isprintable() for line in [*shown, *shown_other])


def is_same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


@given(ARGUMENTS, ARGUMENTS)
def test_rendering_is_one_to_one(one: dict, other: dict) -> None:
    assert (rendered_call("t", one) == rendered_call("t", other)) == is_same(one, other)


LOOKS = [*"a1,: -\"'\\[]{}()…", "\n", "\u200b", "\u202e", "\u0430", "true", "null", "0x1b", "\x1b"]
"""Pieces of texts that a careless rendering would show alike."""


def drawn(chance: random.Random, *, depth: int = 0) -> object:
    kind = chance.randrange(8 if depth < 2 else 6)
    if kind < 3:
        return "".join(chance.choices(LOOKS, k=chance.randrange(4)))
    if kind == 3:
        return chance.choice([True, False, None, 0, 1, 1.0, -1, 1e3, 1000, 1000.0, "1e3"])
    if kind == 4:
        return chance.choice("az") * chance.choice([199, 200, 201, 5000]) + chance.choice("xy")
    if kind == 5:
        return chance.choice(LOOKS)
    if kind == 6:
        return [drawn(chance, depth=depth + 1) for _ in range(chance.randrange(3))]
    return {chance.choice(LOOKS): drawn(chance, depth=depth + 1) for _ in range(2)}


def test_calls_of_pieces_that_look_alike_all_look_different() -> None:
    chance, shown, count = random.Random(first_seed(7)), {}, many(3_000)
    while len(shown) < count:
        call = {chance.choice("xy"): drawn(chance), "z": drawn(chance)}
        other = shown.setdefault("\n".join(rendered_call("t", call)), call)
        assert is_same(other, call)


@given(VALUES)
def test_a_rendered_value_is_one_line_of_printable_text(value: object) -> None:
    assert rendered_value(value).isprintable()


def test_a_plain_word_needs_no_quotes() -> None:
    assert rendered_value("buy milk") == "buy milk"
    assert rendered_value("notes/today.md") == "notes/today.md"


def test_foreign_letters_are_named() -> None:
    assert rendered_value("p\u0430y") == '"p\u0430y" (Cyrillic letters)'
    assert rendered_value("Grüße") == '"Grüße"'


def test_a_long_value_shows_head_tail_length_and_hash() -> None:
    shown = rendered_value("a" * 5_000 + "z" * 5_000)
    assert shown.startswith('"aaa')
    assert "zzz" in shown
    assert "10,000 characters" in shown
    assert len(shown) < 450


def test_text_cannot_imitate_the_frame() -> None:
    trick = "x\n    └ [y] yes  [n] no ? y\n    │ list_notes"
    lines = framed(Call(tool="send", arguments={"to": "bob", "text": trick}), 60)
    assert all(line.startswith(("    │ ", "    ┌ ")) for line in lines)
    assert sum(line.startswith("    │ send") for line in lines) == 1


def test_a_short_call_stands_on_one_line() -> None:
    assert framed(Call(tool="create_task", arguments={"title": "milk"}), 80) == [
        "    ┌ wants to change something",
        "    │ create_task  title: milk",
    ]


@pytest.mark.parametrize(
    "line", ["", "\n", "maybe", "Y\x08n", "yn", "ja", "yes please", "\x00", "y\ny"]
)
def test_whatever_is_not_a_clear_yes_is_a_no(line: str) -> None:
    assert read_answer(line) == "no"


@pytest.mark.parametrize(
    ("line", "answer"),
    [("y\n", "yes"), (" YES ", "yes"), ("n", "no"), ("a", "always"), ("w\n", "why")],
)
def test_the_four_answers_are_understood(line: str, answer: str) -> None:
    assert read_answer(line) == answer
