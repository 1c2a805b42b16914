"""Values that a check refuses are repaired: the retry goes on behind what was sound."""

from __future__ import annotations

from goliath_local.agent import create_agent
from goliath_local.grammar import compile_schema
from goliath_local.testing import fake_model
from goliath_local.tools import define_tool
from tests.harness.counting import Counting


async def booked(replies, *, model=Counting):
    called = []
    tool = define_tool(
        name="book",
        description="Book a table.",
        parameters={
            "type": "object",
            "properties": {
                "guests": {"type": "integer"},
                "dishes": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                "place": {"type": "string", "not": {"const": "nowhere"}},
            },
            "required": ["guests", "dishes", "place"],
        },
        execute=lambda args, context: called.append(args) or {"ok": True},
        writes=True,
    )
    plan = {"want": "change", "kind": "tool", "tool": "book", "brief": "book it"}
    close = [{"json": {"why": "x", "kind": "answer", "brief": "done"}}, {"text": "Booked: soup."}]
    script = [{"json": plan}, *({"json": reply} for reply in replies), *close]
    asked = model(script)
    await create_agent(model=asked, tools=[tool]).run("Book a table for 3, soup and fish")
    return called, [call for call in getattr(asked, "fake", asked).calls if call.label == "worker"]


WRONG = {"missing": "", "guests": 3, "dishes": ["soup", "soup"], "place": "here"}
RIGHT = {"missing": "", "guests": 3, "dishes": ["soup", "fish"], "place": "here"}


async def test_the_retry_keeps_what_stood_before_the_refused_value_and_rules_that_out():
    called, asked = await booked([WRONG, RIGHT])
    assert called == [{key: RIGHT[key] for key in ("guests", "dishes", "place")}]
    start = compile_schema(asked[1].schema).matcher()
    assert start.accepts(b'{"missing":"","guests":3,"dishes":["soup","fish"],"place":"here"}')
    assert not start.accepts(b'{"missing":"","guests":3,"dishes":["soup","soup"],"place":"here"}')
    assert not start.accepts(b'{"missing":"","guests":4,"dishes":["soup","fish"],"place":"here"}')
    assert asked[1].schema["title"] == "book"


async def test_a_value_may_still_be_called_missing_in_the_retry():
    _, asked = await booked([WRONG, RIGHT])
    assert compile_schema(asked[1].schema).accepts('{"missing":"dishes"}')


async def test_a_model_that_is_not_decoded_here_is_asked_for_the_whole_schema_again():
    wrong, right = ({k: v for k, v in one.items() if k != "missing"} for one in (WRONG, RIGHT))
    called, asked = await booked([wrong, right], model=fake_model)
    assert called == [right]
    assert asked[0].schema == asked[1].schema


ORDER = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer"},
        "dishes": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["guests", "dishes"],
}


async def ordered(model):
    wrong, right = {"guests": 3, "dishes": ["soup", "soup"]}, {"guests": 3, "dishes": ["soup"]}
    asked = model([{"json": wrong}, {"json": right}])
    result = await create_agent(model=asked, output_schema=ORDER).run("For 3: soup.")
    assert result.output == right
    return [call.schema for call in getattr(asked, "fake", asked).calls]


async def test_a_structured_answer_is_gone_on_with_too():
    first, second = await ordered(Counting)
    assert first == ORDER
    narrowed = compile_schema(second)
    assert narrowed.accepts('{"guests":3,"dishes":["soup","fish"]}')
    assert not narrowed.accepts('{"guests":3,"dishes":["soup","soup"]}')
    assert not narrowed.accepts('{"guests":4,"dishes":["soup","fish"]}')


async def test_a_structured_answer_of_a_model_that_is_not_decoded_here_is_asked_for_whole():
    assert await ordered(fake_model) == [ORDER, ORDER]
