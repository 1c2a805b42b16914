"""A request as canonical parts, and its bill."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.prompt import (
    SHORT_TOKENS,
    PromptPart,
    bill,
    joined,
    lay_out,
    pieces,
    shape_of,
)
from goliath_local.engine.reuse import lasting_end
from goliath_local.engine.template import CHATML, Setting, render_skeleton
from goliath_local.model import ExampleTurn, Part, Request, Stage

SETTING = Setting(today=dt.date(2025, 1, 1), variables={})


class Letters:
    """One id a character; control texts, read only when asked for, are one id above all others."""

    def encode(self, text: str, *, control: bool) -> tuple[int, ...]:
        ids: list[int] = []
        while text:
            mark = next((m for m in ("<|im_start|>", "<|im_end|>") if text.startswith(m)), "")
            if control and mark:
                ids.append(0x110000 + len(mark))
                text = text[len(mark) :]
            else:
                ids.append(ord(text[0]))
                text = text[1:]
        return tuple(ids)


def request(user: tuple[Part, ...], system: tuple[Part, ...] = (), examples: int = 0) -> Request:
    turns = tuple(ExampleTurn(user=f"u{n}", assistant=f"a{n}") for n in range(examples))
    return Request(stage=Stage.ANSWER, system=system, user=user, examples=turns, max_tokens=8)


def parts_of(asked: Request, **more: int):
    return lay_out(asked, render_skeleton(CHATML, shape_of(asked), SETTING), Letters(), **more)


def text(ids: tuple[int, ...]) -> str:
    return "".join(chr(token) if token < 0x110000 else "•" for token in ids)


def test_each_part_is_a_run_of_its_own_and_the_template_joins_its_neighbour():
    asked = request(
        (Part(name="log", text="L\n"), Part(name="ask", text="A")),
        (Part(name="instructions", text="I"), Part(name="tools", text="T")),
        examples=2,
    )
    parts = parts_of(asked)
    assert [(part.name, part.is_head, text(part.ids)) for part in parts] == [
        ("instructions", True, "•system\nI"),
        ("tools", True, "T•\n•user\n"),
        ("examples", True, "u0•\n•assistant\na0•\n•user\n"),
        ("examples", True, "u1•\n•assistant\na1•\n•user\n"),
        ("log", False, "L\n"),
        ("ask", False, "A•\n•assistant\n"),
    ]


def test_empty_parts_take_no_run():
    asked = request((Part(name="brief", text=""), Part(name="ask", text="A")))
    assert [part.name for part in parts_of(asked)] == ["ask"]


def test_a_request_of_empty_texts_is_still_a_prompt():
    (only,) = parts_of(request((Part(name="ask", text=""),)))
    assert text(only.ids) == "•user\n•\n•assistant\n"


def test_the_start_token_comes_first_and_once():
    asked = request((Part(name="ask", text="A"),))
    (part,) = parts_of(asked, start_id=7)
    assert part.ids[0] == 7
    first = Letters().encode("<|im_start|>", control=True)[0]
    assert parts_of(asked, start_id=first)[0].ids.count(first) == 2


@given(st.text(alphabet=st.sampled_from("a<|>im_stared\n"), max_size=40))
def test_no_text_adds_a_control_token(ask: str):
    asked = request((Part(name="ask", text=f"{ask}<|im_end|>{ask}"),))
    control = [i for part in parts_of(asked) for i in part.ids if i >= 0x110000]
    assert len(control) == 3


def a_part(name: str, count: int, *, head: bool = False) -> PromptPart:
    return PromptPart(name=name, ids=tuple(range(count)), template_tokens=1, is_head=head)


def test_examples_are_evaluated_together_and_short_parts_with_the_next():
    parts = [
        a_part("instructions", 5, head=True),
        a_part("tools", 5, head=True),
        a_part("examples", 40, head=True),
        a_part("examples", 50, head=True),
        a_part("log", SHORT_TOKENS),
        a_part("log", SHORT_TOKENS - 1),
        a_part("counter", 4),
        a_part("ask", 4),
    ]
    assert [(part.name, len(part.ids), part.is_head) for part in joined(parts)] == [
        ("instructions", 5, True),
        ("tools", 5, True),
        ("examples", 90, True),
        ("log", SHORT_TOKENS, False),
        ("log and counter", SHORT_TOKENS + 3, False),
        ("ask", 4, False),
    ]


def test_short_facts_that_are_joined_are_no_longer_the_facts():
    parts = joined([a_part("instructions", 50, head=True), a_part("facts", 9), a_part("ask", 40)])
    assert lasting_end(parts) is None


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["examples", "log"]), st.integers(1, 30)))
)
def test_joining_changes_no_id_and_never_the_end_of_the_head(drawn: list[tuple[bool, str, int]]):
    drawn.sort(key=lambda one: not one[0])
    parts = [a_part(name, count, head=head) for head, name, count in drawn]
    found = joined(parts)
    assert [i for part in found for i in part.ids] == [i for part in parts for i in part.ids]
    heads = [sum(len(p.ids) for p in some if p.is_head) for some in (parts, found)]
    assert heads[0] == heads[1]
    assert sum(p.template_tokens for p in found) == len(parts)


def test_the_bill_adds_up_to_what_is_evaluated():
    asked = request(
        (Part(name="log", text="LL"), Part(name="log", text="L"), Part(name="ask", text="A")),
        (Part(name="instructions", text="III"),),
        examples=1,
    )
    parts = parts_of(asked)
    cost = bill(parts)
    assert cost.total == sum(len(part.ids) for part in parts) == sum(cost.by_part.values())
    assert {name: cost.by_part[name] for name in ("log", "ask", "instructions", "examples")} == {
        "log": 3,
        "ask": 1,
        "instructions": 3,
        "examples": 4,
    }


def test_the_shown_prompt_is_what_is_evaluated_and_marks_what_the_template_wrote():
    asked = request(
        (Part(name="ask", text="say <|im_end|>"),),
        (Part(name="instructions", text="I"), Part(name="tools", text="T")),
        examples=1,
    )
    shown = pieces(asked, render_skeleton(CHATML, shape_of(asked), SETTING), Letters())
    ids = [
        token
        for piece in shown
        for token in Letters().encode(piece.text, control=piece.is_template)
    ]
    assert ids == [token for part in parts_of(asked) for token in part.ids]
    assert sum(piece.tokens for piece in shown) == bill(parts_of(asked)).total
    assert [(piece.name, piece.text) for piece in shown if not piece.is_template] == [
        ("instructions", "I"), ("tools", "T"), ("examples", "u0"), ("examples", "a0"),
        ("ask", "say <|im_end|>"),
    ]  # fmt: skip


def test_the_start_token_is_shown_in_front_unless_the_template_wrote_it():
    asked = request((Part(name="ask", text="A"),))
    skeleton = render_skeleton(CHATML, shape_of(asked), SETTING)
    first = pieces(asked, skeleton, Letters(), start_text="<s>")[0]
    assert (first.text, first.is_template) == ("<s>", True)
    first = pieces(asked, skeleton, Letters(), start_text="<|im_start|>")[0]
    assert first.text == "<|im_start|>user\n"
