"""How likely a turn is right: said with its answer, and a reason to hand it over."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.catalogue import cards
from goliath_local.model import Choice
from goliath_local.tools import define_tool
from tests.harness.counting import Counting

FITTED = next(card.sha256 for card in cards() if card.name == "qwen2.5-coder-1.5b")


LEVEL = define_tool(
    name="read_bilge",
    description="Read the bilge.",
    parameters={"type": "object", "properties": {}, "additionalProperties": False},
    execute=lambda args, context: {"level_cm": 8},
)


def plan(share):
    choice = Choice(
        path="/want", value="question", share=share, runner_up="talk", runner_up_share=1 - share
    )
    look = {"want": "question", "kind": "tool", "brief": "read", "tool": "read_bilge"}
    return {"json": look, "choices": [choice]}


async def play(share, *, sha256=FITTED, **options):
    model = Counting([plan(share), {"text": "8 cm."}], sha256=sha256)
    agent = create_agent(model=model, tools=[LEVEL], **options)
    return await agent.run("how high is the bilge?")


async def test_a_result_says_how_likely_it_is_right_where_that_was_fitted():
    result = await play(0.99)
    assert result.confidence is not None
    assert 0 < result.confidence < 1
    (answer,) = [event for event in result.trace if event.type == "answer"]
    assert answer.confidence == result.confidence


async def test_a_turn_of_sure_choices_is_likelier_right():
    sure, unsure = await play(0.99), await play(0.4)
    assert (sure.confidence or 0) > (unsure.confidence or 0)


@pytest.mark.parametrize("sha256", [None, "0" * 64])
async def test_nothing_is_said_of_weights_that_nobody_fitted(sha256):
    assert (await play(0.99, sha256=sha256)).confidence is None


async def test_a_turn_less_likely_than_wanted_is_handed_over_before_it_is_answered():
    result = await play(0.4, min_confidence=0.999, fallback=lambda request: "Ask the skipper.")
    assert (result.text, result.handled_by) == ("Ask the skipper.", "cloud")
    assert result.reason == "low-confidence"
    assert result.confidence is None


async def test_a_turn_likelier_than_wanted_is_answered_here():
    result = await play(0.99, min_confidence=0.001)
    assert (result.text, result.handled_by) == ("8 cm.", "device")
