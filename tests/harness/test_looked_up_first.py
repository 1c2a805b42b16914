"""What plain code does for a plan: what it needs first, what was nearly said, what is doubted."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.harness.ambiguous import names_of
from goliath_local.harness.near_miss import near_miss
from goliath_local.harness.offer import first_needed, offer
from goliath_local.model import Choice
from goliath_local.prompts import render
from goliath_local.records import StepRecord
from goliath_local.tools import define_tool
from tests.harness.counting import Counting


def tool(
    name, *, requires=(), writes=False, properties=(), required=None, run=None, description=None
):
    return define_tool(
        name=name,
        description=description or f"Does {name}.",
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
    assert first_needed("a", named(a, b), []) == "a"
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
    find = tool("find", properties=("name",), run=lambda args, context: [{"id": "c1"}])
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "text Nadia"}},
            {"json": {"missing": "", "name": "Nadia"}},
            {"json": {"missing": "", "id": "c1"}},
            {"text": "I sent Nadia (c1) a text."},
        ]
    )
    result = await create_agent(model=model, tools=[find, send]).run("text Nadia")
    assert [each.tool for each in result.steps] == ["find", "send", None]
    assert sent == [{"id": "c1"}]
    assert result.handled_by == "device"
    plans = [event for event in result.trace if event.type == "plan"]
    assert [(plan.tool, plan.brief) for plan in plans[:2]] == [
        ("find", "text Nadia"),
        ("send", "text Nadia"),
    ]
    told = render("conductor.prerequisite", first="find", then="send")
    assert told not in model.fake.calls[0].system


@pytest.mark.parametrize("found", [[], [{"id": "c1"}, {"id": "c2"}]])
async def test_where_nothing_or_several_were_found_the_model_thinks_again(found):
    find = tool("find", properties=("name",), run=lambda args, context: found)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "text Nadia"}},
            {"json": {"missing": "", "name": "Nadia"}},
            {"json": {"why": "It is not there.", "kind": "answer", "brief": "not found"}},
            {"text": "I know no Nadia."},
        ]
    )
    result = await create_agent(model=model, tools=[find, SEND]).run("text Nadia")
    assert [call.label for call in model.fake.calls][2:] == ["conductor", "answer"]
    assert [each.tool for each in result.steps] == ["find", None]


def test_a_question_makes_no_change_to_look_something_up():
    login = tool("login", writes=True)
    inbox = tool("inbox", requires=("login",))
    tools = named(login, inbox)
    assert offer(list(tools), tools, [], ask="any mail?", want="question").tools == ()
    assert offer(list(tools), tools, [], ask="any mail?").tools == ("login", "inbox")


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


@pytest.mark.parametrize(
    ("given", "result", "meant"),
    [
        ("Bregens", "Known: Lindau, Bregenz.", "Bregenz"),
        ("unlock", "Known: lock.", None),
        ("2026-04-11", "Known: 2026-04-12.", None),
        ("Bregenz", "Known: Bregenz.", None),
    ],
)
def test_what_was_meant_is_read_off_the_error(given, result, meant):
    miss = near_miss(step("find", input={"name": given}, failed=True, result=result))
    assert (miss and miss.value) == meant


def test_a_change_is_not_guessed_at():
    failed = step(
        "wipe", input={"name": "Bregens"}, failed=True, writes=True, result="Known: Bregenz."
    )
    assert near_miss(failed) is None


async def test_the_next_call_is_held_to_the_value_that_was_meant():
    def execute(args, context):
        if args["name"] != "Bregenz":
            raise ValueError("Nothing found. Known: Lindau, Bregenz.")
        return "rain"

    model = Counting(
        [
            {"json": {"want": "question", "kind": "tool", "tool": "find", "brief": "look"}},
            {"json": {"missing": "", "name": "Bregens"}},
            {"json": {"why": "Bregenz.", "kind": "tool", "tool": "find", "brief": "look"}},
            {"json": {"missing": "", "name": "Bregenz"}},
            {"text": "Rain."},
        ]
    )
    find = tool("find", properties=("name",), run=execute)
    result = await create_agent(model=model, tools=[find]).run("weather in Bregens?")
    assert result.text == "Rain."
    whole = model.fake.calls[3].schema["anyOf"][0]
    assert whole["properties"]["name"] == {"const": "Bregenz"}


def test_a_day_near_another_is_no_slip_of_the_pen():
    tools = named(FIND, tool("list"))
    failed = step(
        "find", input={"name": "2026-04-11"}, failed=True, result="Known: 2026-04-12, 2026-04-13"
    )
    assert offer(list(tools), tools, [failed], ask="and then?").tools == ("find", "list")


# Which one is meant


async def test_a_question_which_one_is_meant_names_them_all():
    found = [{"id": "c2", "name": "Tomas Reyes"}, {"id": "c4", "name": "Tomke Arends"}]
    find = tool("find", properties=("name",), run=lambda args, context: found)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "find", "brief": "find Tom"}},
            {"json": {"missing": "", "name": "Tom"}},
            {"json": {"why": "It is c2.", "kind": "tool", "tool": "send", "brief": "text c2"}},
            {"json": {"missing": "", "id": "c2"}},
            {"text": "Which Tom?"},
            {"text": "Which one, Tomas Reyes?"},
        ]
    )
    result = await create_agent(model=model, tools=[find, SEND]).run("message Tom hello")
    assert result.text == "Which one, Tomas Reyes? (Tomas Reyes, Tomke Arends)"
    assert "Ask which one is meant: Tomas Reyes, Tomke Arends?" in model.fake.calls[-1].prompt


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (["id: c2, name: Tomas Reyes, role: x", "id: c4, name: Tomke"], ("Tomas Reyes", "Tomke")),
        (["contact_id: c2, name: Tom", "contact_id: c4, name: Ann"], ("Tom", "Ann")),
        (["id: 1, name: Tom", "id: 2, name: Tom"], ("id: 1, name: Tom", "id: 2, name: Tom")),
    ],
)
def test_entries_are_called_by_what_tells_them_apart(entries, names):
    assert names_of(entries) == names


# A filter that nobody asked for


async def looked_with(guess, ask, **options):
    """Return what a lookup with one optional choice was called with."""
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
    model = Counting(
        [
            {"json": {"want": "question", "kind": "tool", "tool": "look", "brief": "look"}},
            {"json": {"list": "home"}, "choices": [guess]},
            {"text": "Nothing."},
        ]
    )
    await create_agent(model=model, tools=[look], **options).run(ask)
    return got


@pytest.mark.parametrize(
    ("share", "runner_up", "ask", "seen"),
    [
        (0.6, "errands", "tick off the books", {}),
        (0.85, "null", "tick off the books", {}),
        (0.85, "errands", "tick off the books", {"list": "home"}),
        (0.95, "null", "tick off the books", {"list": "home"}),
        (0.6, "null", "what is open at home?", {"list": "home"}),
    ],
)
async def test_only_a_filter_that_was_said_or_is_sure_narrows_a_lookup(
    share, runner_up, ask, seen
):
    guess = Choice(path="/list", value="home", share=share, runner_up=runner_up)
    assert await looked_with(guess, ask) == [seen]


async def test_a_filter_that_a_fact_says_narrows_a_lookup():
    guess = Choice(path="/list", value="home", share=0.6, runner_up="null")
    facts = {"usual list": "home"}
    assert await looked_with(guess, "what is open?", facts=facts) == [{"list": "home"}]


BILLS = [
    {"id": "R-117", "client": "Northgate School", "status": "paid"},
    {"id": "R-120", "client": "Kessler & Sons", "status": "open"},
]


async def paid_with(ask: str, narrowed: str):
    """Return the steps of marking a bill, when the first lookup is narrowed to a status."""
    changed = []

    def look(args, context):
        return [bill for bill in BILLS if args.get("status") in {None, bill["status"]}]

    pay = tool(
        "mark_paid",
        requires=["list_invoices"],
        writes=True,
        properties=["invoice"],
        run=lambda args, context: changed.append(args["invoice"]) or {"ok": True},
    )
    bills = tool("list_invoices", properties=["status"], required=[], run=look)
    order = {"kind": "tool", "tool": "mark_paid", "brief": "mark the invoice as paid"}
    filled = {"missing": "", "invoice": "R-120"}
    plans = [{"json": {"why": "It is R-120.", **order}}]
    model = Counting(
        [
            {"json": {"want": "change", **order}},
            {"json": {"status": narrowed}},
            *(plans if narrowed == "paid" else []),
            {"json": filled},
            {"text": "La facture R-120 de Kessler est marquée comme payée."},
        ]
    )
    result = await create_agent(model=model, tools=[bills, pay], confirm=lambda _: True).run(ask)
    return [(each.tool, each.input) for each in result.steps if each.tool], changed


async def test_a_lookup_for_a_change_that_was_narrowed_away_is_made_in_all_of_the_list():
    steps, changed = await paid_with("Kessler vient de payer, marque-la, s'il te plaît", "paid")
    assert steps[:2] == [("list_invoices", {"status": "paid"}), ("list_invoices", {})]
    assert changed == ["R-120"]


async def test_a_narrowed_lookup_that_found_what_the_ask_names_is_enough():
    steps, changed = await paid_with("Kessler vient de payer, marque-la, s'il te plaît", "open")
    assert [name for name, _ in steps] == ["list_invoices", "mark_paid"]
    assert changed == ["R-120"]


@pytest.mark.parametrize(
    ("ask", "looked", "changed"),
    [
        ("what is on on Saturday?", "2026-04-18", None),
        (
            "if it is warm in Bregenz on Thursday, remind me on Wednesday",
            "2026-04-16",
            "2026-04-15",
        ),
        ("if it is due before Thursday, push it to Friday", "2026-04-20", "2026-04-17"),
        ("what is on next Saturday?", "2026-04-20", None),
    ],
)
async def test_a_date_that_nobody_said_becomes_the_day_that_the_ask_names(
    ask: str, looked: str, changed: str | None
):
    look = tool("look", properties=["day"], run=lambda args, context: "warm, 22, until 2026-04-20")
    remind = tool("remind", properties=["on"], writes=True)
    first = {"kind": "tool", "tool": "look", "brief": "look"}
    wrong = {"json": {"missing": "", "day": "2026-04-20"}}
    replies = [{"json": {"want": "question", **first}}, wrong]
    if changed:
        second = {"why": "it is", "kind": "tool", "tool": "remind", "brief": "remind"}
        replies = [{"json": {"want": "change-if", **first}}, wrong, {"json": second}]
        replies.append({"json": {"missing": "", "on": "2026-04-20"}})
    model = Counting([*replies, {"text": "It is warm, 22, until 2026-04-20."}])
    agent = create_agent(
        model=model,
        tools=[look, remind] if changed else [look],
        facts={"today": "Tuesday 2026-04-14"},
        confirm=lambda _: True,
    )
    steps = [step.input for step in (await agent.run(ask)).steps if step.tool]
    assert steps == [{"day": looked}, *([{"on": changed}] if changed else [])]


# What the first lookup only lists

LETTERS = [
    {"id": "l1", "title": "Trip to the mill", "arrived": "2026-06-08"},
    {"id": "l2", "title": "Summer fair", "arrived": "2026-06-10"},
]
MILL = "when are we back from the mill?"


async def lettered(ask: str, found, *, then: list[dict], by=()) -> list[str | None]:
    """Return the tools of a turn that begins with a list of letters, looked up by what is said."""
    letters = tool("list_letters", properties=by, run=lambda args, context: found)
    read = tool(
        "read_letter",
        requires=("list_letters",),
        properties=("letter",),
        run=lambda args, context: "Back at 16:40.",
    )
    first = {"want": "question", "kind": "tool", "tool": "list_letters", "brief": "list"}
    model = Counting([{"json": first}, *then])
    result = await create_agent(model=model, tools=[letters, read]).run(ask)
    return [each.tool for each in result.steps]


async def test_a_question_about_one_entry_of_a_list_of_titles_is_read_on():
    then = [{"json": {"missing": "", "letter": "l1"}}, {"text": "At 16:40."}]
    assert await lettered(MILL, LETTERS, then=then) == ["list_letters", "read_letter", None]


FULL = [{"id": "l1", "title": "Mill", "back": "16:40", "room": "4", "who": "all"}]


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        ("did a letter about the mill come?", LETTERS),
        ("what came from the mill and the fair?", LETTERS),
        ("when are we back from the zoo?", LETTERS),
        (MILL, FULL),
        (MILL, []),
    ],
    ids=["yes or no", "two meant", "none meant", "an entry that says more", "nothing"],
)
async def test_other_questions_are_left_to_the_model(ask, found):
    closing = {"json": {"why": "It says so.", "kind": "answer", "brief": "that"}}
    then = [closing, {"text": "Trip to the mill, 16:40."}, {"text": "Trip to the mill, 16:40."}]
    assert await lettered(ask, found, then=then) == ["list_letters", None]


async def test_what_was_looked_up_by_something_is_not_read_on_without_being_asked():
    closing = {"json": {"why": "It says so.", "kind": "answer", "brief": "that"}}
    then = [{"json": {"missing": "", "name": "mill"}}, closing, {"text": "Trip to the mill."}]
    assert await lettered(MILL, LETTERS, then=then, by=("name",)) == ["list_letters", None]
