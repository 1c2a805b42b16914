"""A plan that names what is wanted done, and what plain code looks up for it; what is doubted."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.harness.ambiguous import names_of
from goliath_local.harness.offer import condition_of, first_needed, offer
from goliath_local.harness.plans import planning_schema
from goliath_local.harness.wanted import weighed_want, with_want
from goliath_local.model import Choice
from goliath_local.prompts import Claim, claims, example_dates
from goliath_local.records import StepRecord
from goliath_local.tools import define_tool, without_copied
from tests.harness.counting import Counting


def tool(name, *, requires=(), writes=False, properties=(), required=None, run=None):
    return define_tool(
        name=name,
        description=f"Does {name}.",
        parameters={
            "type": "object",
            "properties": {key: {"type": "string"} for key in properties},
            "required": list(properties if required is None else required),
            "additionalProperties": False,
        },
        execute=run or (lambda args, context: {"ok": True}),
        writes=writes,
        requires=requires,
    )


def named(*tools):
    return {each.name: each for each in tools}


def step(name, **more):
    return StepRecord(index=0, kind="tool", brief="", tool=name, **{"input": {}, **more})


FIND = tool("find", properties=("name",))
SEND = tool("send", requires=("find",), writes=True, properties=("id",))


# What a tool needs first


def test_what_a_tool_needs_is_called_in_its_place_until_it_is_there():
    tools = named(FIND, SEND)
    assert first_needed("send", tools, []) == "find"
    assert first_needed("find", tools, []) == "find"
    assert first_needed("send", tools, [step("find", result="id: c1")]) == "send"
    assert first_needed("send", tools, [step("find", failed=True)]) == "find"


def test_needs_are_followed_to_the_first_and_a_ring_ends():
    a, b, c = tool("a", requires=("b",)), tool("b", requires=("c",)), tool("c")
    assert first_needed("a", named(a, b, c), []) == "c"
    a, b = tool("a", requires=("b",)), tool("b", requires=("a",))
    assert first_needed("a", named(a, b), []) in {"a", "b"}
    assert offer(["a", "b"], named(a, b), [], ask="do it").tools == ()


def test_a_tool_is_offered_when_what_it_needs_can_be_called():
    assert offer(["find", "send"], named(FIND, SEND), [], ask="text Nadia").tools == (
        "find",
        "send",
    )
    assert offer(["send"], named(FIND, SEND), [], ask="text Nadia").tools == ()


async def test_a_change_that_needs_a_lookup_first_is_looked_up_and_then_made():
    sent = []
    send = tool(
        "send",
        requires=("find",),
        writes=True,
        properties=("id",),
        run=lambda args, context: sent.append(args) or {"ok": True},
    )
    find = tool("find", properties=("name",), run=lambda args, context: {"id": "c1"})
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "text Nadia"}},
            {"json": {"missing": "", "name": "Nadia"}},
            {"json": {"why": "It is c1.", "kind": "tool", "tool": "send", "brief": "text c1"}},
            {"json": {"missing": "", "id": "c1"}},
            {"text": "I sent Nadia (c1) a text."},
        ]
    )
    result = await create_agent(model=model, tools=[find, send]).run("text Nadia")
    assert [each.tool for each in result.steps] == ["find", "send", None]
    assert sent == [{"id": "c1"}]
    assert result.handled_by == "device"
    plans = [event for event in result.trace if event.type == "plan"]
    assert plans[0].tool == "find"
    assert "before" not in model.fake.calls[0].system


# What was almost said


def known(result, **more):
    return step("find", input={"name": "Bregens"}, failed=True, result=result, **more)


@pytest.mark.parametrize(
    ("result", "left"),
    [
        ("Failed: Nothing found for 'Bregens'. Known: Lindau, Kempten, Bregenz.", ("find",)),
        ("Failed: No 'Bregens'. Known: Lindau, Bregenz. Try other arguments.", ("find",)),
        ("Failed: Nothing found for 'Bregens'. Known: Lindau, Kempten.", ("find", "list")),
        ("Failed: The board is off.", ("find", "list")),
    ],
)
def test_an_error_that_lists_almost_the_text_it_was_given_leaves_the_same_tool(result, left):
    tools = named(FIND, tool("list"))
    found = offer(list(tools), tools, [known(result)], ask="what is in Bregens?")
    assert found.tools == left
    assert bool(found.closing) is (left != ("find",))


def test_a_day_near_another_is_no_slip_of_the_pen():
    tools = named(FIND, tool("list"))
    failed = step(
        "find", input={"name": "2026-04-11"}, failed=True, result="Known: 2026-04-12, 2026-04-13"
    )
    assert offer(list(tools), tools, [failed], ask="and then?").tools == ("find", "list")


# What the reason for a conditional change begins with


@pytest.mark.parametrize(
    ("ask", "condition"),
    [
        ("if it's below 10 percent, go offline", "if it's below 10 percent"),
        ("Start it, unless the disk is 60.5% full.", "unless the disk is 60.5% full"),
        ("look first. If it's taken, leave it.", "If it's taken"),
        ("如果低于10度，打开暖气", "如果低于10度"),
        ("start it", ""),
    ],
)
def test_a_condition_ends_with_its_clause(ask, condition):
    assert condition_of(ask) == condition


BATH = "1. room: hall, temperature: 18, target: 19\n2. room: bath, temperature: 22.5, target: 21"
DISKS = (
    "1. disk: media, used_percent: 93, free_gb: 70\n2. disk: backup, used_percent: 67, free_gb: 30"
)


def claimed(ask, result):
    return [(claim.text, claim.acts) for claim in claims(ask, condition_of(ask), result)]


def test_the_numbers_of_the_condition_are_compared_and_no_others():
    ask = "if it's colder than 20 in the bath, heat it to 23"
    left = "so it is left as it is"
    assert claimed(ask, BATH) == [
        (f"bath temperature is 22.5, which is more than 20, {left}", False),
        (f"bath target is 21, which is more than 20, {left}", False),
        ("number of entries is 2, which is less than 20, so it is to be done", True),
    ]


@pytest.mark.parametrize(
    ("ask", "result", "told"),
    [
        ("if my battery's under 20 percent save it", "battery_percent: 17\nbrightness: 80", True),
        ("if my battery is at least 17 percent, go", "battery_percent: 17\nbrightness: 3", True),
        ("if my battery is above 17 percent, go", "battery_percent: 17\nbrightness: 80", False),
        ("Start, unless the backup disk is more than 60% full.", DISKS, False),
        ("Start if the backup disk is more than 60% full.", DISKS, True),
        ("Wenn es unter 18 Grad hat, heiz", "temperature: 17.5", True),
        ("如果电量低于20%就开省电", "battery_percent: 25", False),
        ("si la batterie est à plus de 50 %, arrête", "percent: 60", True),
    ],
)
def test_whether_a_condition_holds_is_decided_by_the_field_it_names(ask, result, told):
    assert [acts for _, acts in claimed(ask, result)] == [told]


@pytest.mark.parametrize(
    ("ask", "result"),
    [
        ("if it's cold, heat it to 23", BATH),
        ("if the 2 o'clock train is late, tell me", "platform: 5"),
        ("if it isn't above 20, heat it", BATH),
        ("if it is above 20, heat it", "state: open"),
        ("if it is above 20 or below 10, tell me", "temperature: 5"),
    ],
)
def test_a_condition_that_code_cannot_decide_is_left_to_the_model(ask, result):
    assert claimed(ask, result) == []


def test_a_plan_follows_from_the_reason_that_it_gives():
    act, leave = Claim(text="8.5 is less than 10%", acts=True), Claim(text="it is not", acts=False)
    calling, ending = planning_schema(["pump"], claims=[act, leave])["anyOf"]
    assert calling["properties"]["why"]["enum"] == [act.text]
    assert ending["properties"]["why"]["enum"] == [leave.text]
    assert ending["properties"]["kind"]["enum"] == ["answer"]
    only = planning_schema(["pump"], claims=[leave])
    assert only["properties"]["why"]["enum"] == [leave.text]
    assert "tool" not in only["properties"]
    assert "enum" not in planning_schema([], claims=[act])["properties"]["why"]


async def test_a_condition_that_does_not_hold_leaves_only_an_answer():
    look = tool("look", run=lambda args, context: {"level_cm": 8})
    model = Counting(
        [
            {"json": {"want": "change-if", "kind": "tool", "tool": "look", "brief": "read"}},
            {"json": {"why": "x", "kind": "answer", "brief": "nothing was done"}},
            {"text": "It is at 8 cm."},
        ]
    )
    agent = create_agent(model=model, tools=[look, tool("pump", writes=True)])
    await agent.run("If the level is above 10 cm, pump.")
    schema = model.fake.calls[1].schema
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["answer"]}


async def test_an_ask_with_another_way_out_is_left_to_the_model():
    look = tool("look", run=lambda args, context: {"level_cm": 8})
    model = Counting(
        [
            {"json": {"want": "change-if", "kind": "tool", "tool": "look", "brief": "read"}},
            {"json": {"why": "x", "kind": "answer", "brief": "nothing was done"}},
            {"text": "It is at 8 cm."},
        ]
    )
    agent = create_agent(model=model, tools=[look, tool("pump", writes=True)])
    await agent.run("If the level is above 10 cm, pump, otherwise ring.")
    assert len(model.fake.calls[1].schema["anyOf"]) == 2


# Which one is meant


async def test_a_question_which_one_is_meant_names_them_all():
    found = [{"id": "c2", "name": "Tomas Reyes"}, {"id": "c4", "name": "Tomke Arends"}]
    find = tool("find", properties=("name",), run=lambda args, context: found)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "text Tom"}},
            {"json": {"missing": "", "name": "Tom"}},
            {"json": {"why": "It is c2.", "kind": "tool", "tool": "send", "brief": "text c2"}},
            {"json": {"missing": "", "id": "c2"}},
            {"text": "Which Tom?"},
            {"text": "Which one, Tomas Reyes?"},
        ]
    )
    result = await create_agent(model=model, tools=[find, SEND]).run("message Tom hello")
    assert result.text == "Which one, Tomas Reyes? (Tomas Reyes, Tomke Arends)"
    assert names_of(["id: c2, name: Tomas Reyes, role: x", "id: c4"]) == ("Tomas Reyes",)


# A filter that nobody asked for


@pytest.mark.parametrize(
    ("share", "ask", "seen"),
    [
        (0.6, "tick off the books", {}),
        (0.95, "tick off the books", {"list": "home"}),
        (0.6, "what is open at home?", {"list": "home"}),
    ],
)
async def test_a_filter_that_nobody_said_and_the_model_is_unsure_of_is_none(share, ask, seen):
    got = []
    look = define_tool(
        name="look",
        description="Look.",
        parameters={
            "type": "object",
            "properties": {"list": {"type": "string", "enum": ["home", "errands"]}},
            "additionalProperties": False,
        },
        execute=lambda args, context: got.append(args) or {"ok": True},
    )
    guess = Choice(path="/list", value="home", share=share)
    model = Counting(
        [
            {"json": {"want": "question", "kind": "tool", "tool": "look", "brief": "look"}},
            {"json": {"list": "home"}, "choices": [guess]},
            {"text": "Nothing."},
        ]
    )
    await create_agent(model=model, tools=[look]).run(ask)
    assert got == [seen]


# Dates of the examples


def test_a_date_of_the_examples_is_taken_out_unless_it_was_told():
    date = min(example_dates())
    look = tool("look", properties=("day", "to"), required=("to",))
    found = without_copied(look, {"day": date, "to": "x"}, example_dates(), "what is on?")
    assert (found.value, found.missing) == ({"to": "x"}, ())
    found = without_copied(look, {"to": date}, example_dates(), "what is on?")
    assert found.missing == ("to",)
    told = f"today: {date}"
    assert without_copied(look, {"to": date}, example_dates(), told).value == {"to": date}


# What is wanted, weighed


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


def test_what_is_said_too_seldom_counts_for_more():
    assert weighed_want([wanted(change=0.5, impossible=0.3, talk=0.2)]) == "impossible"
    assert weighed_want([wanted(change=0.7, impossible=0.2, talk=0.1)]) is None
    assert weighed_want([wanted(impossible=0.7, change=0.3)]) is None
    assert weighed_want([Choice(path="/want", value="change", share=0.5)]) is None
    assert weighed_want([]) is None


def test_what_is_known_already_need_not_be_looked_up():
    choices = [wanted(question=0.6, talk=0.3, change=0.1)]
    assert weighed_want(choices) is None
    assert weighed_want(choices, is_known=True) == "talk"


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
    result = await create_agent(model=model, tools=[FIND]).run("plan my year")
    plan = next(event for event in result.trace if event.type == "plan")
    assert plan.kind == "escalate"
    assert (plan.choices[0].value, plan.choices[0].share) == ("impossible", 0.3)
    assert model.fake.calls[1].schema["properties"]["want"] == {"const": "impossible"}


def test_the_choice_of_a_reply_that_was_held_is_the_one_it_was_held_to():
    first = [wanted(change=0.5, impossible=0.3, talk=0.2)]
    (choice,) = with_want([], "impossible", first=first)
    assert (choice.value, choice.share, choice.runner_up) == ("impossible", 0.3, "change")
    assert with_want([], "impossible", first=[]) == ()
