from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import (
    ESTIMATE,
    choose_counter,
    counter_from_function,
    estimate_tokens,
)
from goliath_local.errors import ModelError
from goliath_local.model import (
    Capabilities,
    ExampleTurn,
    Part,
    PromptTokens,
    Reply,
    Request,
    Stage,
)

REQUEST = Request(
    stage=Stage.WORKER,
    system=(Part(name="instructions", text="Be kind."), Part(name="tools", text=" Use tools.")),
    user=(Part(name="ask", text="What is up?"),),
    examples=(ExampleTurn(user="Hi", assistant='{"kind":"answer"}'),),
    schema={"type": "object", "properties": {"größe": {"type": "integer"}}},
    max_tokens=10,
)


class Counting:
    """A model that counts words."""

    def capabilities(self) -> Capabilities:
        return Capabilities()

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_request(self, request: Request) -> PromptTokens:
        words = self.count_text(request.system_text + " " + request.user_text)
        return PromptTokens(total=words, by_part={"all": words})

    async def generate(self, request: Request) -> Reply:
        raise NotImplementedError


def test_a_counter_that_says_100_gives_108() -> None:
    counter = counter_from_function(lambda text: 100)
    assert counter.source == "tokenizer"
    assert counter.request(REQUEST).total == 108


def test_the_function_sees_system_examples_schema_and_prompt_joined_by_blank_lines() -> None:
    seen: list[str] = []
    counter_from_function(lambda text: seen.append(text) or 1).request(REQUEST)
    schema = '{"type":"object","properties":{"größe":{"type":"integer"}}}'
    assert seen == [f'Be kind. Use tools.\n\nHi\n\n{{"kind":"answer"}}\n\n{schema}\n\nWhat is up?']


def test_empty_parts_are_left_out_of_what_the_function_sees() -> None:
    seen: list[str] = []
    request = Request(
        stage=Stage.ANSWER, system=(), user=(Part(name="ask", text="Hi"),), max_tokens=1
    )
    counter_from_function(lambda text: seen.append(text) or 1).request(request)
    assert seen == ["Hi"]


def test_without_a_counter_the_messages_are_estimated_separately_and_added() -> None:
    texts = [
        "Be kind. Use tools.",
        "Hi",
        '{"kind":"answer"}',
        '{"type":"object","properties":{"größe":{"type":"integer"}}}',
        "What is up?",
    ]
    bill = ESTIMATE.request(REQUEST)
    assert bill.total == sum(map(estimate_tokens, texts)) + 8
    assert ESTIMATE.source == "estimate"


def test_a_function_counts_results_and_the_estimate_the_conversation() -> None:
    counter = counter_from_function(len)
    assert counter.text("four") == 4
    assert counter.conversation("four") == estimate_tokens("four")


def test_a_model_that_counts_counts_everything() -> None:
    counter = choose_counter(Counting())
    assert counter.source == "tokenizer"
    assert counter.text("one two") == counter.conversation("one two") == 2
    assert counter.request(REQUEST).total == 7


def test_a_function_goes_before_the_model_and_the_model_before_the_estimate() -> None:
    assert choose_counter(Counting(), len).request(REQUEST).total > 100
    assert choose_counter(object()) is ESTIMATE


def test_the_bill_by_part_adds_up_to_the_total() -> None:
    for counter in (ESTIMATE, counter_from_function(len), counter_from_function(lambda _: 3)):
        bill = counter.request(REQUEST)
        assert sum(bill.by_part.values()) == bill.total
        assert bill.by_part["template"] == 8


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=40)), max_size=6))
def test_the_bill_of_any_parts_adds_up_and_charges_nobody_less_than_nothing(
    parts: list[tuple[str, str]],
) -> None:
    named = tuple(Part(name=name, text=text) for name, text in parts)
    request = Request(stage=Stage.ANSWER, system=named, user=named, max_tokens=1)
    for counter in (ESTIMATE, counter_from_function(len)):
        bill = counter.request(request)
        assert sum(bill.by_part.values()) == bill.total
        assert min(bill.by_part.values()) >= 0


@pytest.mark.parametrize("figure", [-1, 1.5, math.nan, math.inf, "4", None, True])
def test_an_impossible_figure_is_a_model_error_and_never_an_estimate(figure: Any) -> None:
    counter = counter_from_function(lambda text: figure)
    with pytest.raises(ModelError, match="no whole number of tokens"):
        counter.request(REQUEST)
    with pytest.raises(ModelError):
        counter.text("x")


def test_a_raising_counter_is_a_model_error_that_says_what_it_raised() -> None:
    def count(text: str) -> int:
        raise KeyError("vocabulary")

    with pytest.raises(ModelError, match="KeyError: 'vocabulary'") as caught:
        counter_from_function(count).request(REQUEST)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_whole_number_written_as_a_float_counts() -> None:
    assert counter_from_function(lambda text: 4.0).text("x") == 4  # type: ignore[arg-type, return-value]  # what an application may do
