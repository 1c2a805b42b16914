"""What an ask wants, weighed."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.harness.wanted import tool_by_name, weighed_want
from goliath_local.model import Choice
from goliath_local.tools import define_tool
from tests.harness.counting import Counting


def wanted(**shares):
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])
    (value, share), (other, less), *_ = ranked
    return Choice(
        path="/want",
        value=value,
        share=share,
        runner_up=other,
        runner_up_share=less,
        shares=tuple(ranked),
    )


def value_of(choice):
    return choice and choice.value


def test_what_is_said_too_seldom_counts_for_more():
    assert value_of(weighed_want([wanted(change=0.5, impossible=0.3, talk=0.2)])) == "impossible"
    assert weighed_want([wanted(change=0.7, impossible=0.2, talk=0.1)]) is None
    assert weighed_want([wanted(impossible=0.7, change=0.3)]) is None
    assert weighed_want([Choice(path="/want", value="change", share=0.5)]) is None
    assert weighed_want([]) is None


def test_what_is_known_already_need_not_be_looked_up():
    choices = [wanted(question=0.6, talk=0.3, change=0.1)]
    assert weighed_want(choices) is None
    assert value_of(weighed_want(choices, is_known=True)) == "talk"


def test_the_shares_of_what_is_wanted_after_all_are_the_weighed_ones():
    choice = weighed_want([wanted(change=0.5, impossible=0.3, talk=0.2)])
    assert choice.share == pytest.approx(0.538, abs=0.001)
    assert (choice.runner_up, choice.runner_up_share) == (
        "change",
        pytest.approx(0.330, abs=0.001),
    )
    assert sum(share for _, share in choice.shares) == pytest.approx(1.0)


def find():
    return define_tool(name="find", description="x", execute=lambda args, context: "ok")


async def test_an_ask_that_is_likely_too_big_is_handed_over_and_its_choice_told():
    model = Counting(
        [
            {
                "json": {"want": "change", "kind": "tool", "tool": "find", "brief": "find"},
                "choices": [wanted(change=0.5, impossible=0.3, talk=0.2)],
            },
            {"json": {"want": "impossible", "kind": "escalate", "brief": "too big"}},
            {"text": "That is too big for me."},
        ]
    )
    result = await create_agent(model=model, tools=[find()]).run("plan my year")
    plan = next(event for event in result.trace if event.type == "plan")
    assert plan.kind == "escalate"
    assert plan.choices[0].value == "impossible"
    assert model.fake.calls[1].schema["properties"]["want"] == {"const": "impossible"}


async def test_a_fact_that_the_ask_names_makes_it_known_and_the_day_of_today_does_not():
    said = [wanted(question=0.6, talk=0.3, change=0.1)]
    look = {"json": {"want": "question", "kind": "tool", "tool": "find", "brief": "find"}}
    talk = {"json": {"want": "talk", "kind": "answer", "brief": "Lindau"}}
    facts = {"home station": "Lindau", "today": "Tuesday 2026-04-14"}

    model = Counting([{**look, "choices": said}, talk, {"text": "Lindau."}])
    agent = create_agent(model=model, tools=[find()], facts=facts)
    assert not (await agent.run("which station did I set as home?")).steps[0].tool

    model = Counting([{**look, "choices": said}, {"text": "Nothing."}])
    agent = create_agent(model=model, tools=[find()], facts=facts)
    assert (await agent.run("what do I have today?")).steps[0].tool == "find"


def tools(**shares):
    ranked = tuple(sorted(shares.items(), key=lambda pair: -pair[1]))
    return [Choice(path="/tool", value=ranked[0][0], share=ranked[0][1], shares=ranked)]


@pytest.mark.parametrize(
    ("brief", "shares", "name"),
    [
        ("set the alarm for 05:50", {"set_level": 0.7, "create_alarm": 0.3}, "create_alarm"),
        ("set the alarm for 05:50", {"set_level": 0.95, "create_alarm": 0.05}, None),
        ("set the ringer level", {"set_level": 0.7, "create_alarm": 0.3}, None),
        ("list the alarms", {"list_events": 0.6, "list_alarms": 0.4}, "list_alarms"),
        ("set it", {"set_level": 0.7, "create_alarm": 0.3}, None),
    ],
)
def test_a_likely_tool_that_the_order_names_is_taken(brief, shares, name):
    assert tool_by_name(tools(**shares), brief) == name


def test_without_shares_the_tool_of_the_reply_stands():
    assert tool_by_name([Choice(path="/tool", value="set_level", share=0.7)], "set alarm") is None
    assert tool_by_name([], "set alarm") is None
