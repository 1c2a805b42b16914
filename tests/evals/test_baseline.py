"""The plain loops: in JSON under a schema, and in the model's own form of calls."""

from __future__ import annotations

import pytest

from goliath_local.errors import ContextFull
from goliath_local.evals import fixtures
from goliath_local.evals.baseline import run_baseline
from goliath_local.evals.plain_forms import JsonForm, NativeForm
from goliath_local.evals.plain_loop import MAX_STEPS
from goliath_local.evals.score import Fault, Verdict
from goliath_local.model import Reply
from goliath_local.testing import fake_model

LIST, ADD, _, GREET, WEEK = fixtures


def native(tools_text=lambda tools: f"\n# Tools {len(tools)}"):
    return NativeForm(tools_text)


def wished(name, **arguments):
    return {"json": {"tool": name, "arguments": arguments}}


def native_call(text):
    return {"text": f"<tool_call>\n{text}\n</tool_call>"}


async def played(fixture, *replies, form=None):
    model = fake_model(replies)
    report = await run_baseline(model, [fixture], toolsets={}, form=form)
    return report.fixtures[0].last, model


async def test_a_call_an_answer_and_a_hand_over_are_played_and_scored():
    read, _ = await played(LIST, wished("list_tasks"), {"json": {"answer": "Buy milk."}})
    assert read.verdict is Verdict.RIGHT_ON_DEVICE
    over, _ = await played(WEEK, {"json": {"escalate": "too much"}})
    assert over.verdict is Verdict.RIGHT_HAND_OVER
    given_up, _ = await played(GREET, {"json": {"escalate": "no"}})
    assert given_up.verdict is Verdict.GAVE_UP


async def test_a_write_changes_the_store_of_this_attempt():
    attempt, _ = await played(
        ADD, wished("create_task", title="buy eggs"), {"json": {"answer": "Eggs it is."}}
    )
    assert attempt.passed
    assert len(attempt.outcomes[0].state_after["tasks"]) == 3


async def test_all_tools_and_one_schema_stand_in_every_question():
    _, model = await played(LIST, wished("list_tasks"), {"json": {"answer": "Milk."}})
    systems = [call.system for call in model.calls]
    assert all("create_task" in text and "list_tasks" in text for text in systems)
    assert all(len(call.schema["anyOf"]) == 4 for call in model.calls)


async def test_a_result_comes_back_as_the_next_user_turn():
    _, model = await played(LIST, wished("list_tasks"), {"json": {"answer": "Milk."}})
    assert model.calls[1].prompt.startswith("Result of list_tasks: ")
    assert "buy milk" in model.calls[1].prompt
    assert [turn.user for turn in model.calls[1].examples] == [LIST.turns[0].ask]


async def test_refused_arguments_do_not_reach_the_tool():
    attempt, model = await played(
        ADD, wished("create_task", title=5), {"json": {"answer": "eggs"}}
    )
    assert attempt.invalid_calls == ()
    assert len(attempt.outcomes[0].state_after["tasks"]) == 2
    assert "title" in model.calls[1].prompt


async def test_a_loop_without_end_is_handed_over():
    attempt, model = await played(LIST, *[wished("list_tasks")] * MAX_STEPS)
    assert attempt.outcomes[0].reasons == ("too-many-steps",)
    assert model.remaining() == 0


async def test_a_cut_reply_is_an_empty_answer_and_counts_as_cut():
    attempt, _ = await played(GREET, {"text": '{"answer": "Good mo', "finish": "length"})
    assert attempt.verdict is Verdict.CUT


async def test_a_prompt_that_is_too_long_is_handed_over():
    full = ContextFull(needed_tokens=5000, limit_tokens=3700, window_tokens=4096)
    attempt, _ = await played(LIST, {"error": full})
    assert attempt.outcomes[0].reasons == ("context-budget",)


async def test_a_model_that_dies_is_an_error_of_that_attempt():
    attempt, _ = await played(LIST, {"error": OSError("gone")})
    assert attempt.verdict is Verdict.ERROR
    assert [problem.fault for problem in attempt.problems] == [Fault.ERROR]


async def test_native_calls_are_read_from_the_models_own_form():
    attempt, model = await played(
        LIST,
        native_call('{"name": "list_tasks", "arguments": {}}'),
        {"text": "Buy milk, call mom."},
        form=native(),
    )
    assert attempt.verdict is Verdict.RIGHT_ON_DEVICE
    assert model.calls[0].system.endswith("\n# Tools 2")
    assert all(call.schema is None for call in model.calls)
    assert model.calls[1].prompt.startswith("<tool_response>\n")


async def test_several_native_calls_of_one_reply_are_all_made():
    both = (
        '<tool_call>{"name": "list_tasks", "arguments": {}}</tool_call>\n'
        '<tool_call>{"name": "create_task", "arguments": {"title": "eggs"}}</tool_call>'
    )
    attempt, model = await played(ADD, {"text": both}, {"text": "eggs"}, form=native())
    assert attempt.tools == ("list_tasks", "create_task")
    assert model.calls[1].prompt.count("<tool_response>") == 2


async def test_a_native_call_of_a_tool_that_is_not_there_is_told_to_the_model():
    attempt, model = await played(
        GREET, native_call('{"name": "sing", "arguments": {}}'), {"text": "La."}, form=native()
    )
    assert "There is no tool sing." in model.calls[1].prompt
    assert attempt.tools == ("sing",)


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ('{"name": "list_tasks", "arguments": {}}', ["list_tasks"]),
        ('```json\n{"name": "list_tasks", "arguments": {}}\n```', ["list_tasks"]),
        ('<tool_call>\n{"name": "list_tasks", "arguments": {}}', ["list_tasks"]),
        ('<tool_call>\n{"name": "a", "arguments": {"x": {"y": 1}}}\n</tool_call>', ["a"]),
        ('<tool_call>\n{{"name": "a", "arguments": {}}}\n</tool_call>', ["a"]),
        ("<tool_call>\n{broken\n</tool_call>", []),
        ('{"title": "milk"}', []),
        ("Good morning!", []),
    ],
)
def test_what_counts_as_a_native_call(text, tools):
    assert [wish.tool for wish in native().read(Reply(text=text)).calls] == tools


def test_a_template_without_a_place_for_tools_is_told():
    assert native().is_usable()
    assert not native(lambda _tools: None).is_usable()


def test_a_reply_that_is_no_object_is_an_empty_answer():
    assert JsonForm().read(Reply(text="[]")).answer == ""
    assert JsonForm().read(Reply(text='{"answer": 3}')).answer == "3"
