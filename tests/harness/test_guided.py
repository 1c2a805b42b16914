"""What a model is asked that counts tokens: its prompts, and when a value counts as missing."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.model import Choice
from goliath_local.tools import define_tool
from tests.harness.counting import Counting


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
CLOSE = [
    {"json": {"why": "x", "kind": "answer", "brief": "done"}},
    {"text": "The bilge is at 8 cm, so the galley is left."},
]


SAID = {"text": "The galley is pumped."}
ASKED = {"text": "Which room?"}


def named(share):
    choice = Choice(path="/missing", value="room", share=share)
    return {"json": {"missing": "room"}, "choices": [choice]}


async def test_a_value_that_is_called_missing_with_little_share_is_asked_for_again():
    called = []
    filled = {"json": {"missing": "", "room": "galley"}}
    _, calls = await play([PLAN, named(0.6), filled, SAID], "pump the galley", called)
    assert called == [{"room": "galley"}]
    assert len(calls[1].schema["anyOf"]) == 2
    assert len(calls[2].schema["anyOf"]) == 1


async def test_a_value_that_was_first_called_missing_has_to_be_one_that_was_said():
    called = []
    made_up = {"json": {"missing": "", "room": "unknown"}}
    result, _ = await play([PLAN, named(0.6), made_up, ASKED], "switch the pump", called)
    assert called == []
    assert result.steps[0].skip_reason == "missing"


async def test_a_value_that_is_called_missing_with_a_large_share_is_missing():
    called = []
    result, _ = await play([PLAN, named(0.9), ASKED], "switch the pump", called)
    assert called == []
    assert result.steps[0].skip_reason == "missing"


@pytest.mark.parametrize(("want", "is_told"), [("change-if", True), ("question", False)])
async def test_numbers_are_compared_for_a_conditional_ask_only(want, is_told):
    look = {"json": {"want": want, "kind": "tool", "tool": "read_bilge", "brief": "read"}}
    _, calls = await play([look, *CLOSE], "if the bilge is above 10, switch the pump on", [])
    assert ("Compared with 10: level_cm 8 is less." in calls[1].prompt) is is_told


async def test_the_answer_is_told_what_was_just_done():
    filled = {"json": {"missing": "", "room": "galley"}}
    _, calls = await play([PLAN, filled, SAID], "pump the galley", [])
    assert 'Done just now: switch it - switch_pump({"room":"galley"}).' in calls[-1].prompt
    assert "Draft:" not in calls[-1].prompt


async def test_where_only_an_answer_can_follow_no_plan_is_asked_for():
    filled = {"json": {"missing": "", "room": "galley"}}
    result, calls = await play([PLAN, filled, SAID], "pump the galley", [])
    assert [call.label for call in calls] == ["conductor", "worker", "answer"]
    assert [step.kind for step in result.steps] == ["tool", "answer"]
    assert result.handled_by == "device"


async def test_a_lookup_is_answered_from_its_result_and_not_from_a_draft():
    look = {"json": {"want": "question", "kind": "tool", "tool": "read_bilge", "brief": "read"}}
    _, calls = await play([look, {"text": "8 cm."}], "how high is the bilge?", [])
    assert [call.label for call in calls] == ["conductor", "answer"]
    assert "Draft:" not in calls[-1].prompt.rsplit("Steps done", 1)[-1]


async def test_a_change_that_was_not_made_is_said_not_to_be():
    look = {"json": {"want": "change-if", "kind": "tool", "tool": "read_bilge", "brief": "read"}}
    _, calls = await play([look, *CLOSE], "if the bilge is above 10, switch the pump on", [])
    assert "Reason: x\nNothing was changed.\nRequest:" in calls[-1].prompt


FILLED = {"json": {"missing": "", "room": "galley"}}


async def test_an_answer_that_names_nothing_of_the_change_is_asked_for_once_more():
    vague = [PLAN, FILLED, {"text": "Done."}, {"text": "The galley is pumped."}]
    result, calls = await play(vague, "pump the galley", [])
    assert result.text == "The galley is pumped."
    assert "Say also what it was about: galley." in calls[-1].prompt


async def test_a_second_vague_answer_stands_with_what_the_change_was_about_behind_it():
    vague = [PLAN, FILLED, {"text": "Done."}, {"text": "It is done."}]
    agent = create_agent(model=Counting(vague), tools=[read(), switch([])])
    stream = agent.stream("pump the galley")
    pieces = [item.text async for item in stream if item.type == "text"]
    result = await stream.result()
    assert result.text == "It is done. (galley)"
    assert pieces[-1] == " (galley)"
    assert result.handled_by == "device"


async def test_an_answer_that_only_repeats_the_ask_is_asked_for_once_more():
    parrot = [PLAN, FILLED, {"text": "Pump the galley now."}, {"text": "The galley is pumped."}]
    result, calls = await play(parrot, "please pump the galley now", [])
    assert result.text == "The galley is pumped."
    assert "That repeats the request." in calls[-1].prompt


async def test_a_short_answer_may_be_a_word_of_the_ask():
    talk = {"json": {"want": "talk", "kind": "answer", "brief": "yes"}}
    result, _ = await play([talk, {"text": "galley"}], "say galley", [])
    assert result.text == "galley"


def failing(calls):
    def execute(args, context):
        calls.append(args)
        if args["place"] == "Bregens":
            raise ValueError("Nothing found for 'Bregens'. Known: Bregenz.")
        return "rain"

    schema = {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    }
    return define_tool(name="forecast", description="Weather.", parameters=schema, execute=execute)


async def test_arguments_that_failed_are_not_tried_again_as_they_are():
    called = []
    look = {"json": {"want": "question", "kind": "tool", "tool": "forecast", "brief": "look"}}
    again = {"json": {"why": "x", "kind": "tool", "tool": "forecast", "brief": "look"}}
    wrong, right = ({"json": {"missing": "", "place": place}} for place in ("Bregens", "Bregenz"))
    model = Counting([look, wrong, again, wrong, right, CLOSE[0], {"text": "Rain."}])
    result = await create_agent(model=model, tools=[failing(called)]).run("rain in Bregens?")
    assert called == [{"place": "Bregens"}, {"place": "Bregenz"}]
    assert "Known: Bregenz" in model.fake.calls[4].prompt.rsplit("Request:", 1)[-1]
    assert result.handled_by == "device"


def people(sent):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    found = [{"id": "c2", "name": "Tomas Reyes"}, {"id": "c4", "name": "Tomke Arends"}]
    find = define_tool(
        name="find",
        description="Find people.",
        parameters=schema,
        execute=lambda args, context: [p for p in found if args["name"] in p["name"]],
    )
    card = {
        "type": "object",
        "properties": {"person": {"type": "string", "description": "id from find"}},
        "required": ["person"],
        "additionalProperties": False,
    }
    send = define_tool(
        name="send",
        description="Send a card.",
        parameters=card,
        execute=lambda args, context: sent.append(args),
        writes=True,
    )
    return [find, send]


@pytest.mark.parametrize(
    ("ask", "name", "is_sent"),
    [
        ("a card to Tom please", "Tom", False),
        ("a card to Tomke please", "Tomke", True),
        ("a card to Tom Reyes please", "Tom", True),
        ("a card to Tom on Friday", "Tom", True),  # what a day tells is not judged
    ],
)
async def test_a_change_for_one_of_several_that_fit_alike_is_not_made(ask, name, is_sent):
    sent = []
    find = {"json": {"want": "change", "kind": "tool", "tool": "find", "brief": "find"}}
    send = {"json": {"why": "x", "kind": "tool", "tool": "send", "brief": "send"}}
    values = [{"json": {"missing": "", "name": name}}, {"json": {"missing": "", "person": "c2"}}]
    model = Counting([find, values[0], send, values[1], CLOSE[0], {"text": f"{name}?"}])
    result = await create_agent(model=model, tools=people(sent)).run(ask)
    assert bool(sent) is is_sent
    assert ("several entries fit" in (result.steps[1].result or "")) is not is_sent
