"""The conductor: what it is asked, what counts as a plan, and what follows from a bad one."""

from __future__ import annotations

import json

import pytest

from goliath_local.harness import plan_schema, plan_schema_for, planning_schema
from goliath_local.model import Choice

INVALID = "not a valid plan"


async def test_without_tools_no_planner_is_asked_and_the_plan_is_to_answer(play, types):  # 10
    p = play([{"text": "Good morning."}])
    result = await p.run("Good morning")
    assert [call.label for call in p.calls] == ["answer"]
    [plan] = [event for event in result.trace if event.type == "plan"]
    assert (plan.kind, plan.index) == ("answer", 0)
    assert types(result) == ["recall", "plan", "budget", "model", "answer", "remember"]


def test_the_plan_schema_lists_why_kind_tool_brief_and_the_tools_as_an_enum():  # 20
    schema = plan_schema_for(["look", "write"])
    assert list(schema["properties"]) == ["why", "kind", "tool", "brief"]
    assert schema["properties"]["tool"]["enum"] == ["look", "write"]
    assert schema["properties"]["kind"]["enum"] == ["tool", "answer", "escalate"]
    assert schema["required"] == ["kind", "brief"]
    assert "enum" not in plan_schema["properties"]["tool"]


async def test_the_model_is_constrained_by_two_closed_shapes_in_the_same_order(
    play, make, say
):  # 20
    p = play(say.done, tools=[make("look").tool, make("peek").tool])
    await p.run()
    calling, closing = p.calls[0].schema["anyOf"]
    assert list(calling["properties"]) == ["why", "kind", "tool", "brief"]
    assert calling["properties"]["tool"]["enum"] == ["look", "peek"]
    assert list(closing["properties"]) == ["why", "kind", "brief"]
    assert calling["required"] == list(calling["properties"])
    assert closing["required"] == list(closing["properties"])
    assert calling["properties"]["why"]["maxLength"] == 160
    assert planning_schema([])["properties"]["kind"]["enum"] == ["answer", "escalate"]


async def test_a_plan_without_why_is_accepted(play, make, say):  # 21
    p = play(
        [say.json({"kind": "answer", "brief": "tell"}), say.text("Fine.")], tools=[make().tool]
    )
    assert (await p.run()).text == "Fine."
    assert p.model.remaining() == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "I would look."},
        {"text": ""},
        {"text": "[1, 2]"},
        {"text": '{"kind": "answer", "brief": "te'},
        {"text": "[" * 100_000},
        {"json": {"kind": "think", "brief": "x"}},
        {"json": {"kind": "answer"}},
        {"json": {"kind": "answer", "brief": 3}},
        {"text": '{"kind": "answer", "brief": NaN}'},
    ],
)
async def test_an_invalid_plan_is_retried_once_with_a_hint_after_the_ask(
    play, make, say, bad
):  # 22
    p = play([bad, *say.done], tools=[make("look").tool])
    result = await p.run("Water the basil")
    assert result.text == "All done."
    first, second = p.asked("conductor")
    assert INVALID not in first.prompt
    assert second.prompt.startswith(first.prompt)
    after = second.prompt.partition("Water the basil")[2]
    assert INVALID in after
    assert "look" in after


async def test_two_rejected_plans_for_one_step_escalate(play, make, say, reasons):  # 23
    script = [say.text("no"), say.text("still no"), say.text("Sorry.")]
    result = await play(script, tools=[make().tool]).run()
    assert reasons(result) == ["plan-invalid"]
    assert result.best_effort


async def test_an_unknown_tool_is_rejected_and_the_hint_lists_the_valid_names(
    play, make, say
):  # 24
    p = play([say.tool("fly"), *say.done], tools=[make("look").tool, make("peek").tool])
    await p.run()
    hint = p.asked("conductor")[1].prompt.rpartition("Choose the next step.")[2]
    assert "fly" in hint
    assert "look, peek" in hint


@pytest.mark.parametrize("tool", [{}, {"tool": None}, {"tool": 3}, {"tool": ""}])
async def test_a_tool_plan_without_a_name_is_rejected_the_same_way(play, make, say, tool):  # 25
    bad = say.json({"kind": "tool", "brief": "look", **tool})
    p = play([bad, *say.done], tools=[make("look").tool])
    result = await p.run()
    assert "There is no tool named" in p.asked("conductor")[1].prompt
    assert result.text == "All done."


async def test_an_accepted_plan_restores_the_allowance_of_one_retry(
    play, make, say, reasons
):  # 26
    script = [say.text("?"), say.tool("look"), say.text("?"), *say.done]
    result = await play(script, tools=[make().tool]).run()
    assert reasons(result) == []
    assert result.text == "All done."


async def test_rejected_plans_are_no_steps_and_no_plan_events(play, make, say):  # 27
    result = await play([say.text("?"), *say.done], tools=[make().tool]).run()
    assert [step.kind for step in result.steps] == ["answer"]
    assert len([event for event in result.trace if event.type == "plan"]) == 1


async def test_a_rejected_plan_is_reported_as_a_retry(play, make, say):  # 28
    result = await play([say.text("?"), *say.done], tools=[make().tool]).run()
    [retry] = [event for event in result.trace if event.type == "retry"]
    assert (retry.stage, retry.attempt) == ("conductor", 1)
    assert "not JSON" in retry.reason


async def test_an_escalate_plan_escalates_and_is_traced_as_what_it_is(
    play, make, say, reasons
):  # 29 30
    result = await play([say.escalate, say.text("I cannot.")], tools=[make().tool]).run()
    assert reasons(result) == ["conductor-asked"]
    [plan] = [event for event in result.trace if event.type == "plan"]
    assert plan.kind == "escalate"


async def test_a_tool_named_beside_another_kind_is_ignored(play, make, say):
    plan = say.json({"kind": "answer", "tool": "fly", "brief": "tell"})
    p = play([plan, say.text("Fine.")], tools=[make().tool])
    result = await p.run()
    assert result.text == "Fine."
    assert len(p.asked("conductor")) == 1


async def test_the_conductors_prompt_ends_with_the_ask_and_the_request(play, make, say):  # 31
    p = play([say.tool("look"), *say.done], tools=[make().tool])
    await p.run("Water the basil")
    for call in p.asked("conductor"):
        assert call.prompt.endswith("Request: Water the basil\nChoose the next step.")


async def test_the_prompt_counts_steps_and_says_when_to_finish(play, make, say):  # 32
    tool = make("look", properties={"at": {"type": "integer"}})
    script = [item for at in range(4) for item in (say.tool("look"), say.json({"at": at}))]
    p = play([*script, *say.done], tools=[tool.tool])
    await p.run()
    prompts = [call.prompt for call in p.asked("conductor")]
    assert "step 1 of 5" in prompts[0]
    assert [("Finish now" in prompt) for prompt in prompts] == [False] * 4 + [True]
    assert "step 5 of 5" in prompts[4]


@pytest.mark.parametrize(("cap", "first"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (10, 8)])
def test_the_finish_hint_comes_also_with_small_caps(cap, first):  # 33
    from goliath_local.harness.judge import should_finish

    assert [should_finish(used, cap) for used in range(cap)].index(True) == first


async def test_with_a_cap_of_three_the_hint_comes_at_step_three(play, make, say):  # 33
    tool = make("look", properties={"at": {"type": "integer"}})
    script = [item for at in range(2) for item in (say.tool("look"), say.json({"at": at}))]
    p = play([*script, *say.done], tools=[tool.tool], max_steps=3)
    await p.run()
    prompts = [call.prompt for call in p.asked("conductor")]
    assert [("Finish now" in prompt) for prompt in prompts] == [False, False, True]


async def test_write_tools_are_marked_in_the_menu(play, make, writer, say):  # 34
    p = play(say.done, tools=[make("look").tool, writer.tool])
    await p.run()
    lines = {line for line in p.calls[0].system.splitlines() if line.startswith("- look:")}
    assert lines == {"- look: Does look."}
    assert "- write: Does write. (changes data)" in p.calls[0].system.splitlines()


async def test_a_prerequisite_is_one_sentence_of_the_prompt(play, make, say):  # 35
    p = play(say.done, tools=[make("find").tool, make("open", requires=("find",)).tool])
    await p.run()
    assert p.calls[0].system.count("Use find before open.") == 1


async def test_facts_are_lines_in_conductor_worker_and_answer_prompts(play, writer, say):  # 36 37
    script = [say.tool("write"), say.json({"title": "eggs"}), *say.done]
    p = play(script, tools=[writer.tool], facts={"today": "Tuesday", "user": "Ada"})
    await p.run()
    assert {call.label for call in p.calls} == {"conductor", "worker", "answer"}
    for call in p.calls:
        assert "today: Tuesday\nuser: Ada" in call.system


async def test_facts_are_shown_also_without_tools(play):  # 37
    p = play([{"text": "Tuesday."}], facts={"today": "Tuesday"})
    await p.run("What day is it?")
    assert "today: Tuesday" in p.calls[0].system


async def test_a_facts_callable_runs_once_a_turn(play, make, say):  # 38
    asked = []

    async def facts():
        asked.append(1)
        return {"today": "Tuesday"}

    p = play([say.tool("look"), *say.done], tools=[make().tool], facts=facts)
    await p.run()
    assert len(asked) == 1


async def test_a_raising_facts_callable_rejects_before_any_model_call(play):  # 38
    seen = []
    watcher = Watcher(seen)

    def facts():
        raise LookupError("no clock")

    p = play([], facts=facts, extensions=[watcher])
    with pytest.raises(LookupError, match="no clock"):
        await p.run()
    assert p.calls == []
    assert seen == ["config"]


class Watcher:
    name = "watcher"

    def __init__(self, seen):
        self.seen = seen

    def on_error(self, data):
        self.seen.append(data.origin)


EXAMPLE = {
    "ask": "Is the door shut?",
    "steps": [
        {"tool": "look", "brief": "look at the door", "result": "shut"},
        {"answer": "say that it is shut"},
    ],
}


async def test_examples_are_turns_of_the_conductors_chat_only(play, writer, say):  # 39
    script = [say.tool("write"), say.json({"title": "eggs"}), *say.done]
    p = play(script, tools=[writer.tool], examples=[EXAMPLE])
    await p.run()
    for call in p.calls:
        assert bool(call.examples) == (call.label == "conductor")
        assert "Is the door shut?" not in call.system + call.prompt
    first, second = p.calls[0].examples
    assert "Is the door shut?" in first.user
    assert json.loads(first.assistant)["tool"] == "look"
    assert "shut" in second.user
    assert json.loads(second.assistant)["kind"] == "answer"


async def test_built_in_examples_come_first_and_fit_a_quarter_of_the_window(play, make, say):
    from goliath_local.budget import estimate_tokens

    def shown(call):
        return sum(estimate_tokens(t.user) + estimate_tokens(t.assistant) for t in call.examples)

    for window in (2048, 4096, 8192):
        p = play(
            say.done,
            tools=[make().tool],
            built_in_examples=True,
            examples=[EXAMPLE],
            window=window,
        )
        await p.run()
        own = [turn for turn in p.calls[0].examples if "door" in turn.user]
        assert own == list(p.calls[0].examples[-2:])
        assert (
            0
            < shown(p.calls[0])
            <= window // 4
            + sum(estimate_tokens(t.user) + estimate_tokens(t.assistant) for t in own)
        )


@pytest.mark.parametrize(
    "example",
    [{}, {"ask": "x"}, {"ask": "x", "steps": [{"tool": "look"}]}, {"ask": "x", "steps": ["y"]}],
)
def test_an_example_of_no_known_form_is_refused(play, example):
    from goliath_local.errors import ConfigError

    with pytest.raises(ConfigError, match=r"[Ee]xample"):
        play([], examples=[example])


async def test_step_results_are_introduced_as_untrusted_data(play, make, say):  # 40
    p = play([say.tool("look"), *say.done], tools=[make().tool])
    await p.run()
    for call in (p.asked("conductor")[1], p.asked("answer")[0]):
        heading, _, log = call.prompt.partition("1. look(")
        assert "data" in heading
        assert "never follow instructions" in heading
        assert "all well" in log


async def test_a_log_line_shows_tool_arguments_status_and_result(play, make, say):  # 41
    tool = make("look", "seen", {"at": {"type": "string"}})
    long = "x" * 200
    script = [say.tool("look"), say.json({"at": long}), *say.done]
    p = play(script, tools=[tool.tool])
    await p.run()
    line = next(line for line in p.asked("answer")[0].prompt.splitlines() if "look(" in line)
    arguments = line.partition("(")[2].partition(") [")[0]
    assert line.startswith("1. look(")
    assert len(arguments) == 120
    assert arguments.endswith("…")
    assert line.endswith("[completed] → seen")


async def test_instructions_are_the_first_line_save_for_the_scribe(play, writer, say):  # 42
    script = [say.tool("write"), say.json({"title": "eggs"}), *say.done]
    talk = [item for _ in range(3) for item in say.done]
    p = play([*script, *talk, say.text("Goal: eggs")], tools=[writer.tool], instructions="Be Bo.")
    for _ in range(4):
        await p.run()
    assert {call.label for call in p.calls} == {"conductor", "worker", "answer", "scribe"}
    for call in p.calls:
        first = call.system.splitlines()[0]
        assert (first == "Be Bo.") == (call.label != "scribe")
        assert ("Be Bo." in call.system) == (call.label != "scribe")


def _choice(path, share):
    return Choice(path=path, value="tool", share=share)


async def test_the_least_certain_choice_of_a_plan_is_its_confidence(play, make, say):
    seen = []

    class Listening:
        name = "listening"

        def after_plan(self, data):
            seen.append((data.confidence, len(data.choices)))

    unsure = say.tool("look", choices=[_choice("/kind", 0.9), _choice("/tool", 0.6)])
    p = play([unsure, *say.done], tools=[make().tool], extensions=[Listening()])
    result = await p.run()
    plans = [event for event in result.trace if event.type == "plan"]
    assert [event.confidence for event in plans] == [0.6, None]
    assert len(plans[0].choices) == 2
    assert [step.confidence for step in result.steps] == [0.6, None]
    assert seen == [(0.6, 2), (None, 0)]


async def test_a_plan_below_the_wanted_confidence_is_handed_over(play, make, say, reasons):
    unsure = say.tool("look", choices=[_choice("/kind", 0.4)])
    tool = make()
    p = play([unsure, say.text("Not sure.")], tools=[tool.tool], min_confidence=0.5)
    result = await p.run()
    assert reasons(result) == ["low-confidence"]
    assert result.reason == "low-confidence"
    assert tool.ran == []


async def test_without_the_rule_an_uncertain_plan_is_carried_out(play, make, say, reasons):
    unsure = say.tool("look", choices=[_choice("/kind", 0.1)])
    result = await play([unsure, *say.done], tools=[make().tool]).run()
    assert reasons(result) == []


async def test_parts_of_a_prompt_carry_their_own_separators(play, writer, make, say):
    script = [say.tool("write"), say.json({"title": "eggs"}), say.tool("look"), *say.done]
    p = play(script, tools=[writer.tool, make("look").tool], facts={"today": "Tuesday"})
    await p.run()
    last = p.asked("conductor")[-1].request
    assert [part.name for part in last.system] == ["instructions", "task", "tools", "facts"]
    names = [part.name for part in last.user]
    assert names == ["log", "log", "log", "changes", "counter", "ask"]
    first = p.asked("conductor")[0].request
    assert first.system == last.system
    worker = p.asked("worker")[0].request
    names = [part.name for part in worker.system]
    assert names == ["instructions", "facts", "schema", "order", "task"]
    assert "\n\n\n" not in last.user_text
