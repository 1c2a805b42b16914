"""What plain code makes of an answer, and of lookups that find nothing or too much."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.model import Choice
from goliath_local.prompts import render
from goliath_local.tools import define_tool
from tests.harness.counting import Counting
from tests.harness.test_looked_up_first import SEND, tool

OPEN = {"want": "question", "kind": "tool", "tool": "look", "brief": "look"}
CHOIR = [{"id": "e3", "title": "Choir", "start": "17:00"}]


def look_tool(found):
    return tool("look", properties=("day",), run=lambda args, context: found)


async def answered(*replies, found=CHOIR):
    """Return the model, the result and the pieces of text that were heard."""
    model = Counting([{"json": OPEN}, {"json": {"missing": "", "day": "16"}}, *replies])
    agent = create_agent(model=model, tools=[look_tool(found)])
    stream = agent.stream("what is on on the 16th?")
    pieces = [item.text async for item in stream if item.type == "text"]
    return model, await stream.result(), pieces


async def test_an_answer_without_what_was_found_is_asked_for_again():
    model, result, _ = await answered({"text": "Nothing."}, {"text": "Choir at 17:00."})
    assert result.text == "Choir at 17:00."
    hint = render("guided.found", entry="title: Choir, start: 17:00")
    assert hint in model.fake.calls[-1].prompt


async def test_what_was_found_stands_behind_an_answer_that_never_tells_it():
    _, result, pieces = await answered({"text": "Nothing."}, {"text": "No, nothing."})
    assert result.text == "No, nothing. (title: Choir, start: 17:00)"
    assert pieces[-1] == " (title: Choir, start: 17:00)"


async def test_an_answer_that_tells_what_was_found_is_left_alone():
    model, result, _ = await answered({"text": "Choir."})
    assert result.text == "Choir."
    assert [call.label for call in model.fake.calls].count("answer") == 1


async def test_what_else_was_found_on_a_day_stands_behind_an_answer_that_tells_some_of_it():
    found = [{"title": "Dentist", "start": "08:30"}, {"title": "Review", "start": "14:00"}]
    _, result, pieces = await answered({"text": "The review."}, found=found)
    assert result.text == "The review. (also title: Dentist, start: 08:30)"
    assert "".join(pieces) == result.text


async def test_a_value_that_only_the_user_knows_is_asked_for():
    start = tool("start_timer", writes=True, properties=("minutes",))
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "start_timer", "brief": "start"}},
            {"json": {"missing": "minutes"}},
            {"text": "Stelle bitte einen Timer."},
            {"text": "Der Timer ist gestellt."},
        ]
    )
    result = await create_agent(model=model, tools=[start]).run("Stell mir bitte einen Timer")
    assert result.text == "Der Timer ist gestellt. (minutes?)"
    assert render("guided.ask-for", names="minutes") in model.fake.calls[-1].prompt


WRITE = tool("send", writes=True, properties=("to",))
TALK = {"json": {"want": "talk", "kind": "answer", "brief": "write to them"}}


@pytest.mark.parametrize("claim", ["I wrote to Bo.", "Okay, I've sent it.", "It has been added."])
async def test_an_answer_without_a_call_does_not_say_that_something_was_done(claim):
    model = Counting([TALK, {"text": claim}, {"text": "I can't write to Bo."}])
    result = await create_agent(model=model, tools=[WRITE]).run("write to Bo that I'm late")
    assert result.text == "I can't write to Bo."
    assert render("guided.not-done") in model.fake.calls[-1].prompt


async def test_a_claim_that_is_kept_to_is_put_right():
    model = Counting([TALK, {"text": "I wrote to Bo."}, {"text": "I sent it to Bo."}])
    result = await create_agent(model=model, tools=[WRITE]).run("write to Bo that I'm late")
    assert result.text == "I sent it to Bo. (Nothing was done.)"


@pytest.mark.parametrize(
    "text", ["I wrote a haiku: snow.", "Sure: I'm late, sorry.", "It is set to nine."]
)
async def test_other_answers_without_a_call_are_left_alone(text):
    model = Counting([TALK, {"text": text}])
    result = await create_agent(model=model, tools=[WRITE]).run("cheer me up a bit")
    assert result.text == text


def change(name, **properties):
    """A change that needs all of these values."""
    shape = {"type": "object", "properties": properties, "required": list(properties)}
    return define_tool(
        name=name, description="x", parameters=shape, execute=lambda *_: "done", writes=True
    )


TEXT = {"type": "string"}
HEAT = change("heat", room=TEXT, target={"type": "number", "description": "degrees Celsius"})


@pytest.mark.parametrize(
    ("first", "is_enough"),
    [
        ("Which room should I heat?", False),
        ("To what target should I heat the room?", True),
        ("How many degrees would you like in that room?", True),
        ("How warm do you want it?", True),
    ],
)
async def test_a_question_for_a_value_that_was_given_is_not_the_one_to_ask(first, is_enough):
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "heat", "brief": "heat the hall"}},
            {"json": {"missing": "target", "room": "hall"}},
            {"text": first},
            *([] if is_enough else [{"text": "In which room?"}]),
        ]
    )
    result = await create_agent(model=model, tools=[HEAT]).run("heat the hall for me, will you?")
    if is_enough:
        assert result.text == first
    else:
        assert result.text == "In which room? (target?)"
        hint = render("guided.ask-for", names="target: degrees Celsius")
        assert hint in model.fake.calls[-1].prompt


async def test_a_change_that_is_only_asked_once_more_in_the_answer_is_told():
    ask = "the yellow ones I have already, take them off"
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "remove", "brief": "lemons"}},
            {"json": {"missing": "", "name": "lemons"}},
            {"text": "The yellow ones I have already, take them off."},
            {"text": "The yellow ones I have already, take them off."},
        ]
    )
    remove = tool("remove", writes=True, properties=("name",))
    result = await create_agent(model=model, tools=[remove]).run(ask)
    assert result.text == "The yellow ones I have already, take them off. (lemons)"


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        ("how do I say 'ich habe gebucht' in English?", "I booked it."),
        ('translate "j\'ai envoyé le colis" into English', "I have sent the parcel."),
        ("write the first line of a diary", "I paid for the coffee and left."),
        ("drop it", "I have deleted nothing; I can't do that."),
    ],
)
async def test_a_text_that_was_asked_for_may_say_anything(ask, text):
    model = Counting([TALK, {"text": text}])
    result = await create_agent(model=model, tools=[WRITE]).run(ask)
    assert result.text == text


async def test_what_a_change_was_made_with_is_told_without_ids_and_in_short():
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "note", "brief": "note"}},
            {"json": {"missing": "", "id": "t7", "body": "milk " * 60}},
            *[{"text": "the milk task is done now"}] * 2,
        ]
    )
    note = tool("note", writes=True, properties=("id", "body"))
    result = await create_agent(model=model, tools=[note]).run("the milk task is done now")
    assert result.text.startswith("the milk task is done now (milk milk")
    assert len(result.text) < 100


TABLE = change("book_table", date=TEXT, size={"type": "number", "description": "party size"})


async def test_in_another_language_a_value_is_asked_for_by_its_name_alone():
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "heat", "brief": "heat the hall"}},
            {"json": {"missing": "target", "room": "hall"}},
            {"text": "Bitte heize die Diele."},
            {"text": "Auf wie viel Grad?"},
        ]
    )
    result = await create_agent(model=model, tools=[HEAT]).run("Heiz mir bitte die Diele")
    assert result.text == "Auf wie viel Grad?"
    hint = (
        f"{render('guided.ask-for', names='target')} {render('guided.ask-in', language='German')}"
    )
    assert hint in model.fake.calls[-1].prompt


async def test_a_right_question_may_name_what_was_given():
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "book_table", "brief": "book"}},
            {"json": {"missing": "size", "date": "2026-06-12"}},
            {"text": "How many people on that date?"},
        ]
    )
    result = await create_agent(model=model, tools=[TABLE]).run("book a table for Friday")
    assert result.text == "How many people on that date?"


MEALS = ["breakfast", "lunch", "dinner"]
SERVE = change("serve", dish=TEXT, meal={**TEXT, "enum": MEALS})


@pytest.mark.parametrize(
    ("ask", "share", "is_made"),
    [
        ("plan soup for tomorrow", 0.41, False),
        ("plan soup for tomorrow", 0.6, True),
        ("plan soup for lunch tomorrow", 0.41, True),
    ],
)
async def test_a_choice_for_a_change_that_is_a_toss_up_is_asked_for(ask, share, is_made):
    choice = Choice(path="/meal", value="lunch", share=share, runner_up="dinner")
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "serve", "brief": "plan soup"}},
            {"json": {"missing": "", "dish": "soup", "meal": "lunch"}, "choices": [choice]},
            {"text": "Soup for which meal?"},
        ]
    )
    result = await create_agent(model=model, tools=[SERVE]).run(ask)
    (served, *_) = result.steps
    assert served.skipped is not is_made
    assert served.input == {"dish": "soup", **({"meal": "lunch"} if is_made else {})}


async def test_a_change_that_several_fit_alike_is_asked_about_without_another_plan():
    found = [{"id": "c2", "name": "Tomas Reyes"}, {"id": "c4", "name": "Tomke Arends"}]
    find = tool("find", properties=("name",), run=lambda args, context: found)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "text Tom"}},
            {"json": {"missing": "", "name": "Tom"}},
            {"text": "Tomas Reyes or Tomke Arends?"},
        ]
    )
    result = await create_agent(model=model, tools=[find, SEND]).run("message Tom hello")
    assert result.text == "Tomas Reyes or Tomke Arends?"
    assert [each.tool for each in result.steps] == ["find", None]


async def test_a_change_whose_lookup_by_a_phrase_finds_nothing_is_looked_up_by_another():
    asked = []

    def execute(args, context):
        asked.append(args["name"])
        return [{"id": "n3", "name": "Gifts"}] if args["name"] == "gifts" else []

    find = tool("find", properties=("name",), run=execute)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "send", "brief": "add it"}},
            {"json": {"missing": "", "name": "Ivo: chalk bag"}},
            {"json": {"missing": "", "name": "Ivo: chalk bag"}},
            {"json": {"missing": "", "name": "gifts"}},
            {"json": {"missing": "", "id": "n3"}},
            {"text": "Added Ivo: chalk bag to n3."},
        ]
    )
    agent = create_agent(model=model, tools=[find, SEND])
    result = await agent.run("add 'Ivo: chalk bag' to my gifts, n3")
    assert asked == ["Ivo: chalk bag", "gifts"]
    assert [each.tool for each in result.steps] == ["find", "find", "send", None]
    assert render("guided.found-nothing") in model.fake.calls[3].prompt


async def test_a_sum_is_talked_about_not_looked_up():
    model = Counting(
        [
            {
                "json": {**OPEN, "brief": "calculate 20% of 45"},
                "choices": [Choice(path="/want", value="question", share=0.6)],
            },
            {"json": {"want": "talk", "kind": "answer", "brief": "9"}},
            {"text": "9."},
        ]
    )
    result = await create_agent(model=model, tools=[look_tool([])]).run("what's 20% of 45?")
    assert result.text == "9."
    assert [each.tool for each in result.steps] == [None]


async def test_a_second_choice_is_taken_when_the_first_has_failed():
    tried = []

    def execute(args, context):
        tried.append(args["at"])
        if args["at"] == "17:00":
            raise ValueError("17:00 is taken.")
        return {"ok": True}

    book = tool("book", writes=True, properties=("at",), run=execute)
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "book", "brief": "book 17:00"}},
            {"json": {"missing": "", "at": "17:00"}},
            {"json": {"why": "It is taken.", "kind": "tool", "tool": "book", "brief": "18:00"}},
            {"json": {"missing": "", "at": "18:00"}},
            {"text": "Booked at 18:00."},
        ]
    )
    agent = create_agent(model=model, tools=[look_tool([]), book])
    await agent.run("Book the court at 17:00. If it won't take that, make it 18:00.")
    assert tried == ["17:00", "18:00"]
    asked = [call.prompt.rpartition("Request:")[2] for call in model.fake.calls]
    assert ["make it 18:00" in ask for ask in asked] == [False] * 2 + [True] * 3
    assert ["at 17:00" in ask for ask in asked] == [True] * 2 + [False] * 3
    assert model.fake.calls[2].schema["properties"]["tool"]["enum"] == ["book"]


async def test_a_change_with_a_second_choice_is_tried():
    book = tool("book", writes=True, properties=("at",))
    look = look_tool([])
    model = Counting(
        [
            {"json": {"want": "change", "kind": "tool", "tool": "book", "brief": "book 17:00"}},
            {"json": {"missing": "", "at": "17:00"}},
            {"text": "Booked at 17:00."},
        ]
    )
    agent = create_agent(model=model, tools=[look, book])
    await agent.run("Book the court at 17:00. If it won't take that, make it 18:00.")
    schema = model.fake.calls[0].schema
    assert schema["properties"]["want"] == {"const": "change"}
    assert set(schema["properties"]["tool"]["enum"]) == {"look", "book"}


async def test_a_condition_told_once_more_is_no_answer():
    look = tool("look", run=lambda args, context: {"level_cm": 8})
    model = Counting(
        [
            {"json": {"want": "change-if", "kind": "tool", "tool": "look", "brief": "look"}},
            {"json": {"why": "The level is 8.", "kind": "answer", "brief": "left"}},
            {"text": "If the level is high, I will pump."},
            {"text": "The level is 8 cm, so the pump was left off."},
        ]
    )
    agent = create_agent(model=model, tools=[look, tool("pump", writes=True)])
    result = await agent.run("Pump if the level is high.")
    assert result.text == "The level is 8 cm, so the pump was left off."
    assert render("guided.repeats-unchanged", why="The level is 8.") in model.fake.calls[-1].prompt


async def in_german(*answers: str):
    model = Counting(
        [
            {"json": OPEN},
            {"json": {"missing": "", "day": "16"}},
            *({"text": answer} for answer in answers),
        ]
    )
    agent = create_agent(model=model, tools=[look_tool(CHOIR)])
    return model, await agent.run("Was steht am 16. an?")


async def test_an_answer_in_english_to_a_german_ask_is_asked_for_again():
    model, result = await in_german("You have Choir at 17:00 on it.", "Am 16. ist Choir um 17:00.")
    assert result.text == "Am 16. ist Choir um 17:00."
    assert render("guided.language", language="German") in model.fake.calls[-1].prompt


async def test_an_answer_in_english_is_better_than_none():
    _, result = await in_german("You have Choir at 17:00 on it.", "There is Choir at 17:00.")
    assert result.text == "There is Choir at 17:00."


async def test_an_answer_in_english_is_better_than_the_ask_once_more():
    _, result = await in_german("You have Choir at 17:00 on it.", "Was steht am 16. an?")
    assert result.text == "You have Choir at 17:00 on it."


async def left_undone(ask: str, *answers: str):
    why = "indoors is 18, which is less than 20, so it is left as it is"
    model = Counting(
        [
            {"json": {**OPEN, "want": "change-if"}},
            {"json": {"missing": "", "day": "16"}},
            {"json": {"why": why, "kind": "answer", "brief": "it is left"}},
            *({"text": answer} for answer in answers),
        ]
    )
    write = tool("remind", properties=("text",), writes=True)
    agent = create_agent(model=model, tools=[look_tool({"indoors": 18}), write])
    stream = agent.stream(ask)
    pieces = [item.text async for item in stream if item.type == "text"]
    return await stream.result(), "".join(pieces)


async def test_why_a_change_was_left_undone_is_told_without_the_model():
    result, heard = await left_undone("if it gets warmer than 20 indoors, remind me")
    assert result.text == heard == "Indoors is 18, which is less than 20, so nothing was done."
    assert result.handled_by == "device"


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (
            "wenn es indoors wärmer als 20 ist, erinnere mich bitte an die Jacke",
            "Das wurde nicht gemacht. (indoors: 18 < 20)",
        ),
        (
            "si la température indoors dépasse 20, rappelle-moi de prendre ma veste",
            "Cela n'a pas été fait. (indoors: 18 < 20)",
        ),
        (
            "si la temperatura indoors supera 20, avísame mañana por favor",
            "No se ha hecho. (indoors: 18 < 20)",
        ),
        ("如果室内温度高于 20 度，提醒我带外套", "没有执行。 (indoors: 18 < 20)"),
        (
            "अगर तापमान 20 से ज़्यादा हो तो मुझे जैकेट की याद दिलाओ",
            "यह नहीं किया गया। (indoors: 18 < 20)",
        ),
    ],
)
async def test_in_another_language_it_is_told_in_signs(ask, told):
    result, heard = await left_undone(ask)
    assert result.text == heard == told


BOOK = {"title": "Winter Birds", "available": False}


async def repeating(ask: str, *, want: str, answer: str | None = None, things=BOOK):
    """Return the model, the result and what was heard since the answer was asked for again."""
    found = tool("look", run=lambda args, context: things)
    plan = {"why": "It is out.", "kind": "answer", "brief": "it is out"}
    model = Counting(
        [
            {"json": {**OPEN, "want": want}},
            {"json": plan},
            {"text": ask if answer is None else answer},
            {"text": ask},
        ]
    )
    write = tool("lend", properties=("title",), writes=True)
    agent = create_agent(model=model, tools=[found, write])
    stream = agent.stream(ask)
    heard = ""
    async for item in stream:
        heard = "" if item.type == "retry" else heard + (item.text if item.type == "text" else "")
    return model, await stream.result(), heard


@pytest.mark.parametrize(
    "answer",
    ["Wenn du mir sagst, wo es steht, lege ich es zurück.", "Which book do you mean, please?"],
)
async def test_an_answer_that_says_more_than_the_ask_is_no_repetition(answer):
    ask = "Falls Winter Birds gerade da ist, leg es bitte zurück"
    model, result, _ = await repeating(ask, want="change-if", answer=answer)
    assert "Das wurde nicht gemacht" not in result.text
    assert [call.label for call in model.fake.calls].count("answer") == 2


async def test_a_german_ask_said_once_more_becomes_what_code_knows_of_it():
    ask = "Falls Winter Birds gerade da ist, leg es bitte zurück"
    model, result, heard = await repeating(ask, want="change-if")
    told = "Das wurde nicht gemacht. (title: Winter Birds, available: false)"
    assert result.text == heard == told
    assert [call.label for call in model.fake.calls].count("answer") == 1


async def test_where_no_one_entry_is_meant_the_reason_is_told():
    things = [{"title": "Tides", "shelf": "S2"}, {"title": "Knots", "shelf": "S3"}]
    ask = "Falls das Buch gerade da ist, leg es bitte zurück"
    _, result, _ = await repeating(ask, want="change-if", things=things)
    assert result.text == "Das wurde nicht gemacht. (It is out.)"


@pytest.mark.parametrize(
    "ask", ["Lend Winter Birds to me if it is available", "lend me Winter Birds"]
)
async def test_an_english_ask_said_once_more_is_asked_for_again(ask):
    model, _, _ = await repeating(ask, want="change-if")
    assert [call.label for call in model.fake.calls].count("answer") == 2
