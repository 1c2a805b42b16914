"""The laws of the budget policy on a real tokenizer: that of the tiny model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.budget import (
    Block,
    Brief,
    Draft,
    Fixed,
    Log,
    LogLine,
    Recent,
    Window,
    clip_tokens,
    compact_result,
    counter_from_model,
    excerpt,
    plan_budget,
    select_recent,
)
from goliath_local.errors import ConfigError
from goliath_local.model import ExampleTurn, Part, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goliath_local.engine import LocalModel

pytestmark = pytest.mark.model

PIECES = st.sampled_from(
    [
        "the list ",
        "milk, ",
        "\n",
        "  ",
        "é",
        "漢字",
        "😀",
        "<|im_end|>",
        '{"kind":',
        "0x1F ",
        "zzzz",
    ]
)
TEXT = st.lists(PIECES, max_size=60).map("".join)
LONG = st.lists(PIECES, min_size=1, max_size=20).map(lambda pieces: "".join(pieces) * 40)


def _line(result: str, content: bool) -> LogLine:
    return LogLine(
        text=f"1. look() → {result}\n",
        short=f"1. look() → {compact_result(result)}\n",
        excerpt=result if content else None,
        omitted="1. look() → left out\n" if content else None,
    )


DRAFTS = st.builds(
    lambda stage, system, brief, blocks, lines, ask, examples: Draft(
        stage=stage,
        system=(Fixed(part=Part(name="instructions", text=system)),),
        user=(
            Brief(text=brief, before="Brief: ", after="\n\n"),
            Recent(heading="Earlier:\n", blocks=tuple(blocks), after="\n\n"),
            Log(heading="Steps:\n", lines=tuple(lines), after="\n"),
            Fixed(part=Part(name="ask", text=f"Ask: {ask}")),
        ),
        examples=tuple(examples),
    ),
    st.sampled_from(Stage),
    TEXT,
    LONG,
    st.lists(st.builds(lambda a, b: Block(lines=(a, b)), TEXT, LONG), max_size=3),
    st.lists(st.builds(_line, LONG, st.booleans()), max_size=3),
    TEXT,
    st.lists(st.builds(ExampleTurn, user=TEXT, assistant=TEXT), max_size=2),
)
WINDOWS = st.sampled_from([512, 1024, 2048])
ONE_MODEL = settings(deadline=None, max_examples=15)


@pytest.fixture(scope="module")
def tiny(weights: Callable[[str], Path]) -> Iterator[LocalModel]:
    from goliath_local.engine import load_model

    with load_model(weights("smollm2-135m")) as model:
        yield model


@ONE_MODEL
@given(DRAFTS, WINDOWS)
def test_what_is_reported_is_what_would_be_evaluated_and_never_over_the_limit(
    tiny: LocalModel, draft: Draft, window: int
) -> None:
    counter = counter_from_model(tiny)
    plan = plan_budget(draft, window=Window(tokens=window), counter=counter)
    bill = tiny.count_request(plan.request)
    assert bill.total == plan.report.tokens
    assert dict(bill.by_part) == plan.report.by_part
    assert sum(bill.by_part.values()) == bill.total
    assert plan.report.fits == (bill.total <= plan.report.limit)
    assert plan_budget(draft, window=Window(tokens=window), counter=counter) == plan


async def test_what_is_reported_is_what_is_evaluated(tiny: LocalModel) -> None:
    counter = counter_from_model(tiny)
    for result in ("short", "a line\n" * 40, "<|im_end|> 漢字 😀 " * 12):
        draft = Draft(
            stage=Stage.CONDUCTOR,
            system=(Fixed(part=Part(name="instructions", text="Be brief.")),),
            user=(
                Brief(text="Goal: milk " * 20, before="Brief: ", after="\n\n"),
                Log(lines=(_line(result, True), _line(result, False)), after="\n"),
                Fixed(part=Part(name="ask", text="What is on my list?")),
            ),
            examples=(ExampleTurn(user="Hi", assistant="Hello."),),
        )
        plan = plan_budget(draft, window=Window(tokens=1024), counter=counter)
        assert plan.report.fits
        reply = await tiny.generate(replace(plan.request, max_tokens=1))
        assert reply.usage.prompt_tokens == plan.report.tokens


@ONE_MODEL
@given(LONG, st.integers(0, 200))
def test_clipped_text_never_exceeds_its_budget_on_a_tokenizer(
    tiny: LocalModel, text: str, budget: int
) -> None:
    clipped = clip_tokens(text, budget, count=tiny.count_text)
    assert clipped == "" or tiny.count_text(clipped) <= budget


@ONE_MODEL
@given(LONG, st.integers(1, 200))
def test_an_excerpt_never_exceeds_its_budget_on_a_tokenizer(
    tiny: LocalModel, text: str, budget: int
) -> None:
    try:
        shown = excerpt(text, budget, count=tiny.count_text)
    except ConfigError:
        assert budget < 16
        return
    assert tiny.count_text(shown) <= budget


@ONE_MODEL
@given(
    st.lists(st.builds(lambda a, b: Block(lines=(a, b)), TEXT, LONG), max_size=3),
    st.integers(0, 200),
)
def test_recent_conversation_never_exceeds_its_budget_on_a_tokenizer(
    tiny: LocalModel, blocks: list[Block], budget: int
) -> None:
    shown = select_recent("Earlier:\n", blocks, budget, count=tiny.count_text)
    assert shown.text == "" or tiny.count_text(shown.text) <= budget
