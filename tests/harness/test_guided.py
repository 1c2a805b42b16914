"""What a model is asked that counts tokens: its prompts, and when a value counts as missing."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.model import Capabilities, Choice, PromptTokens
from goliath_local.testing import fake_model
from goliath_local.tools import define_tool


class Counting:
    """A scripted model with a tokenizer: a token a word."""

    def __init__(self, replies):
        self.fake = fake_model(replies)

    async def generate(self, request):
        return await self.fake.generate(request)

    def capabilities(self):
        return Capabilities(window_tokens=4096)

    def count_text(self, text):
        return len(text.split())

    def count_request(self, request):
        total = len(f"{request.system_text} {request.user_text}".split())
        return PromptTokens(total=total, by_part={"all": total})


def switch(called):
    return define_tool(
        name="switch_pump",
        description="Switch the pump.",
        parameters={
            "type": "object",
            "properties": {"room": {"type": "string"}},
            "required": ["room"],
            "additionalProperties": False,
        },
        execute=lambda args, context: called.append(args) or {"ok": True},
        writes=True,
    )


def read():
    return define_tool(
        name="read_bilge",
        description="Read the bilge.",
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        execute=lambda args, context: {"level_cm": 8},
    )


async def play(replies, ask, called):
    model = Counting(replies)
    result = await create_agent(model=model, tools=[read(), switch(called)]).run(ask)
    return result, model.fake.calls


PLAN = {"json": {"want": "change", "kind": "tool", "tool": "switch_pump", "brief": "switch it"}}
CLOSE = [{"json": {"why": "x", "kind": "answer", "brief": "done"}}, {"text": "Done."}]


def named(share):
    choice = Choice(path="/missing", value="room", share=share)
    return {"json": {"missing": "room"}, "choices": [choice]}


async def test_a_value_that_is_called_missing_with_little_share_is_asked_for_again():
    called = []
    filled = {"json": {"missing": "", "room": "galley"}}
    _, calls = await play([PLAN, named(0.6), filled, *CLOSE], "pump the galley", called)
    assert called == [{"room": "galley"}]
    assert len(calls[1].schema["anyOf"]) == 2
    assert len(calls[2].schema["anyOf"]) == 1


async def test_a_value_that_is_called_missing_with_a_large_share_is_missing():
    called = []
    result, _ = await play([PLAN, named(0.9), *CLOSE], "switch the pump", called)
    assert called == []
    assert result.steps[0].skip_reason == "missing"


@pytest.mark.parametrize(("want", "is_told"), [("change-if", True), ("question", False)])
async def test_numbers_are_compared_for_a_conditional_ask_only(want, is_told):
    look = {"json": {"want": want, "kind": "tool", "tool": "read_bilge", "brief": "read"}}
    _, calls = await play([look, *CLOSE], "if the bilge is above 10, switch the pump on", [])
    assert ("Compared with 10: level_cm 8 is less." in calls[1].prompt) is is_told


async def test_the_answer_is_told_what_was_just_done():
    filled = {"json": {"missing": "", "room": "galley"}}
    _, calls = await play([PLAN, filled, *CLOSE], "pump the galley", [])
    assert 'Done just now: switch_pump({"room":"galley"}).' in calls[-1].prompt
    assert "Draft:" not in calls[-1].prompt
