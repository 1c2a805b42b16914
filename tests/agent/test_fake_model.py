"""The scripted model that applications test their agents with."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.testing import ScriptExhausted, ScriptMismatch, fake_model
from goliath_local.tools import define_tool

ANSWER = {"json": {"kind": "answer", "brief": "tell"}}


def _tool(name="look", properties=None):
    return define_tool(
        name=name,
        description="Looks.",
        parameters={"type": "object", "properties": properties or {}},
        execute=lambda arguments, _context: arguments or "seen",
    )


def _plan(tool):
    return {"json": {"kind": "tool", "tool": tool, "brief": "look"}}


async def test_items_are_used_in_order_and_every_question_is_recorded():  # 234
    model = fake_model([_plan("look"), ANSWER, {"text": "Seen."}, {"text": "unused"}])
    agent = create_agent(model=model, tools=[_tool()])
    assert model.remaining() == 4
    result = await agent.run("look around")
    assert result.text == "Seen."
    assert [call.label for call in model.calls] == ["conductor", "conductor", "answer"]
    assert [call.output_cap for call in model.calls] == [256, 256, 384]
    assert model.calls[0].schema is not None
    assert model.calls[2].schema is None
    assert "look around" in model.calls[0].prompt
    assert model.calls[0].system == model.calls[0].request.system_text
    assert model.remaining() == 1


async def test_a_script_that_is_too_short_rejects_the_run_as_a_failed_assertion():  # 235
    model = fake_model([_plan("look")])
    agent = create_agent(model=model, tools=[_tool()], fallback=lambda _request: {"text": "cloud"})
    with pytest.raises(AssertionError) as caught:
        await agent.run("look around")
    assert isinstance(caught.value, ScriptExhausted)
    assert len(model.calls) == 2


async def test_the_scribe_and_the_best_effort_do_not_absorb_it_either():  # 235
    stalled = create_agent(model=fake_model([]), tools=[_tool()], max_steps=0)
    with pytest.raises(ScriptExhausted):
        await stalled.run("look around")
    talks = create_agent(model=fake_model([{"text": f"Reply {n}."} for n in range(4)]))
    for _ in range(3):
        await talks.run("hello")
    with pytest.raises(ScriptExhausted):
        await talks.run("hello")


async def test_an_empty_tool_call_before_a_plan_is_discarded():  # 236
    call = {"tool_call": {"name": "look", "input": {}}}
    model = fake_model([_plan("look"), call, ANSWER, {"text": "Seen."}])
    result = await create_agent(model=model, tools=[_tool()]).run("look around")
    assert result.text == "Seen."
    assert len(model.calls) == 3
    assert not [event for event in result.trace if event.type == "retry"]


async def test_a_tool_call_gives_the_arguments_of_its_tool():
    call = {"tool_call": {"name": "find", "input": {"word": "basil"}}}
    model = fake_model([_plan("find"), call, ANSWER, {"text": "Found."}])
    tool = _tool("find", {"word": {"type": "string"}})
    result = await create_agent(model=model, tools=[tool]).run("find basil")
    assert result.steps[0].input == {"word": "basil"}


@pytest.mark.parametrize("name", ["other", "find"])
async def test_a_tool_call_with_arguments_at_the_wrong_place_is_a_mismatch(name):
    call = {"tool_call": {"name": name, "input": {"word": "basil"}}}
    script = [call] if name == "find" else [_plan("find"), call]
    tool = _tool("find", {"word": {"type": "string"}})
    agent = create_agent(model=fake_model(script), tools=[tool])
    with pytest.raises(ScriptMismatch, match=name):
        await agent.run("find basil")


@pytest.mark.parametrize(
    "item", [{}, {"text": "a", "json": 1}, {"txt": "a"}, {"text": "a", "x": 1}]
)
def test_an_item_of_no_known_form_is_refused(item):
    with pytest.raises(ScriptMismatch):
        fake_model([item])


async def test_an_error_item_is_raised_and_its_question_recorded():
    model = fake_model([{"error": RuntimeError("gone")}])
    result = await create_agent(model=model).run("hello")
    assert [event.reason for event in result.trace if event.type == "escalate"] == ["model-error"]
    assert len(model.calls) == 1


async def test_usage_is_a_quarter_of_the_lengths_rounded_up():
    model = fake_model([{"text": "12345"}])
    result = await create_agent(model=model).run("hello")
    [call] = model.calls
    assert result.usage.completion_tokens == 2
    assert result.usage.prompt_tokens == -(-(len(call.system) + len(call.prompt)) // 4)
