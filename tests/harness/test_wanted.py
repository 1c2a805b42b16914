"""What an ask wants, weighed."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.errors import ToolError
from goliath_local.harness.wanted import nearly_named, tool_by_name, weighed_want
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


def test_an_order_with_a_condition_is_hardly_a_question():
    choices = [wanted(question=0.51, **{"change-if": 0.39}, talk=0.1)]
    assert weighed_want(choices) is None
    assert value_of(weighed_want(choices, is_order=True)) == "change-if"
    assert weighed_want([wanted(question=0.8, **{"change-if": 0.2})], is_order=True) is None
    assert weighed_want([wanted(**{"change-if": 0.6}, question=0.4)], is_order=True) is None


@pytest.mark.parametrize(
    ("ask", "wants"),
    [
        ("is it open? then shut it. if not, don't.", ["question", "change-if"]),
        ("if I leave at nine, when am I there?", ["question"]),
        ("is it open", ["question"]),
        ("tell me if it is open.", ["question"]),
    ],
)
async def test_what_ends_as_a_question_or_has_no_condition_is_no_order(ask, wants):
    look = {"json": {"want": "question", "kind": "tool", "tool": "find", "brief": "find"}}
    first = {**look, "choices": [wanted(question=0.51, **{"change-if": 0.39}, talk=0.1)]}
    replies = [first, *([look] * (len(wants) - 1)), {"text": "ok"}]
    model = Counting(replies)
    await create_agent(model=model, tools=[find()]).run(ask)
    asked = [call for call in model.fake.calls if call.label == "conductor"]
    assert len(asked) == len(wants)
    if len(wants) > 1:
        assert asked[1].schema["properties"]["want"] == {"const": wants[1]}


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


def test_a_note_to_be_kept_is_no_talk():
    choices = [wanted(talk=0.69, change=0.28, impossible=0.02)]
    assert weighed_want(choices) is None
    assert value_of(weighed_want(choices, names_a_change=True)) == "change"
    assert weighed_want([wanted(talk=0.9, change=0.1)], names_a_change=True) is None


def noting():
    return define_tool(
        name="create_note", description="x", execute=lambda args, context: "ok", writes=True
    )


@pytest.mark.parametrize(
    ("ask", "tool"),
    [
        ("note for later: the key is at number 14", "create_note"),
        ("did you note the key?", None),
        ("the key is at number 14", None),
    ],
)
async def test_what_a_tool_changes_is_named_by_its_noun(ask: str, tool: str | None):
    said = [wanted(talk=0.69, change=0.28)]
    model = Counting(
        [
            {"json": {"want": "talk", "kind": "answer", "brief": "yes"}, "choices": said},
            *(
                [{"json": {"want": "change", "kind": "tool", "tool": tool, "brief": "note it"}}]
                if tool
                else []
            ),
            {"text": "I have written down where the key lies."},
        ]
    )
    result = await create_agent(model=model, tools=[noting()], confirm=lambda _: True).run(ask)
    assert result.steps[0].tool == tool


def looking(name: str, result: str):
    return define_tool(name=name, description="x", execute=lambda args, context: result)


@pytest.mark.parametrize(
    ("first", "share", "tools_called"),
    [
        ("door: front, open: false", 0.53, ["list_doors", "list_rooms"]),
        ("door: office, open: false", 0.53, ["list_doors"]),
        ("door: front, open: false", 0.8, ["list_doors"]),
    ],
)
async def test_the_lookup_that_was_nearly_made_is_made_where_the_first_says_no_word_of_it(
    first: str, share: float, tools_called: list[str]
):
    look = {
        "want": "question",
        "kind": "tool",
        "tool": "list_doors",
        "brief": "look at the office",
    }
    model = Counting(
        [
            {"json": look, "choices": tools(list_doors=share, list_rooms=1 - share)},
            {"text": "The office is set to 20."},
            {"text": "The office is set to 20."},
        ]
    )
    doors, rooms = looking("list_doors", first), looking("list_rooms", "room: office, target: 20")
    result = await create_agent(model=model, tools=[doors, rooms]).run("how warm is the office?")
    assert [step.tool for step in result.steps if step.tool] == tools_called


def test_a_tool_that_was_named_surely_or_alone_has_none_beside_it():
    assert nearly_named(tools(a=0.5, b=0.4, c=0.1), "a") == "b"
    assert nearly_named(tools(a=0.5, b=0.1, c=0.1), "a") is None
    assert nearly_named(tools(a=0.9, b=0.1), "a") is None
    assert nearly_named(tools(a=1.0), "a") is None
    assert nearly_named([], "a") is None


async def test_a_question_whose_first_lookup_knew_of_no_such_thing_is_looked_up_once_more():
    def refuse(args, context):
        raise ToolError("Nothing found for 'gym'. Known: 2026-04-12.")

    model = Counting(
        [
            {"json": {"want": "question", "kind": "tool", "tool": "get_day", "brief": "look"}},
            {"json": {"kind": "tool", "why": "x", "tool": "list_workouts", "brief": "list"}},
            {"json": {"kind": "answer", "why": "x", "brief": "the 11th"}},
            {"text": "You were at the gym on the 11th."},
        ]
    )
    day = define_tool(name="get_day", description="x", execute=refuse)
    workouts = looking("list_workouts", "type: gym, date: 2026-04-11")
    writing = noting()
    agent = create_agent(model=model, tools=[day, workouts, writing])
    result = await agent.run("when was I at the gym?")
    assert [step.tool for step in result.steps if step.tool] == ["get_day", "list_workouts"]
    offered = model.fake.calls[1].schema
    assert offered["properties"]["tool"]["enum"] == ["list_workouts"]


BEDS = "bed: wall, plant: basil, soil_percent: 31"


@pytest.mark.parametrize(
    ("ask", "first", "called"),
    [
        (
            "is the soil of the plant dry?",
            "air_percent: 71",
            ["read_climate", "list_beds"],
        ),
        ("how moist is the air there?", "air_percent: 71", ["read_climate"]),
        ("how is it out there?", "outside_c: 14", ["read_climate"]),
    ],
)
async def test_the_lookup_that_is_described_by_the_ask_is_made_where_the_first_says_none_of_it(
    ask: str, first: str, called: list[str]
):
    climate = define_tool(
        name="read_climate",
        description="Inside and outside climate.",
        execute=lambda args, context: first,
    )
    beds = define_tool(
        name="list_beds",
        description="Beds with plant and soil moisture.",
        execute=lambda args, context: BEDS,
    )
    look = {"want": "question", "kind": "tool", "tool": "read_climate", "brief": "read it"}
    said = {"text": "The soil of the basil has 31 percent, the air 71, and 14 degrees."}
    model = Counting([{"json": look}, said, said])
    result = await create_agent(model=model, tools=[climate, beds]).run(ask)
    assert [step.tool for step in result.steps if step.tool] == called
