"""The worker: arguments for one tool, and what is made of them before anything runs."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel

DAY = {"day": {"type": "string"}}


async def test_a_parameterless_tool_asks_no_worker(play, make, say):  # 43
    tool = make()
    p = play([say.tool("look"), *say.done], tools=[tool.tool])
    await p.run()
    assert p.asked("worker") == []
    assert tool.ran == [{}]


async def test_the_empty_arguments_of_a_parameterless_tool_are_checked(
    play, make, say, reasons
):  # 44
    impossible = {"type": "object", "properties": {}, "minProperties": 1}
    tool = make(parameters=impossible)
    result = await play([say.tool("look"), say.text("No.")], tools=[tool.tool]).run()
    assert reasons(result) == ["tool-args-invalid"]
    assert tool.ran == []
    assert result.steps == ()


async def test_the_workers_schema_is_the_tools_and_an_optional_missing_at_the_end(
    play, make, say
):  # 45
    tool = make("find", properties={"b": {"type": "string"}, "a": {"type": "integer"}})
    p = play([say.tool("find"), say.json({"b": "x", "a": 1}), *say.done], tools=[tool.tool])
    await p.run()
    schema = p.asked("worker")[0].schema
    assert list(schema["properties"]) == ["b", "a", "missing"]
    assert schema["required"] == ["b", "a"]
    assert schema["properties"]["missing"]["type"] == "string"
    assert tool.ran == [{"b": "x", "a": 1}]


async def test_a_tool_with_a_parameter_called_missing_gets_it_intact(play, make, say):  # 46
    tool = make("report", properties={"missing": {"type": "string"}})
    p = play([say.tool("report"), say.json({"missing": "a cat"}), *say.done], tools=[tool.tool])
    result = await p.run()
    assert tool.ran == [{"missing": "a cat"}]
    assert result.steps[0].status == "completed"
    assert len(p.asked("worker")[0].schema["properties"]) == 2


async def test_the_plans_brief_is_the_workers_order(play, writer, say):  # 47
    script = [say.tool("write", "note the blue eggs"), say.json({"title": "eggs"}), *say.done]
    p = play(script, tools=[writer.tool])
    await p.run()
    assert "note the blue eggs" in p.asked("worker")[0].system


async def test_a_worker_sees_one_tools_schema_only_in_words_too(play, make, say):  # 48
    find = make("find", properties={"word": {"type": "string", "description": "What to find."}})
    count = make("count", properties={"until": {"type": "integer", "maximum": 9}})
    script = [say.tool("find"), say.json({"word": "basil"}), *say.done]
    p = play(script, tools=[find.tool, count.tool])
    await p.run()
    [call] = p.asked("worker")
    assert "- word (string): What to find." in call.system
    for text in (call.system, call.prompt, str(call.schema)):
        assert "until" not in text
        assert "count" not in text


async def test_without_prerequisites_the_worker_sees_only_the_latest_step(
    play, make, writer, say
):  # 49
    first, second = make("first", "one"), make("second", "two")
    script = [say.tool("first"), say.tool("second"), say.tool("write"), say.json({"title": "x"})]
    p = play([*script, *say.done], tools=[first.tool, second.tool, writer.tool])
    await p.run()
    prompt = p.asked("worker")[0].prompt
    assert "2. second(" in prompt
    assert "first(" not in prompt


async def test_with_prerequisites_the_worker_sees_all_their_steps(play, make, say):  # 49
    find = make("find", lambda a, _c: a["word"] + " found", {"word": {"type": "string"}})
    other = make("other", "beside the point")
    use = make("use", properties=DAY, requires=("find",))
    script = [say.tool("find"), say.json({"word": "a"}), say.tool("find"), say.json({"word": "b"})]
    script += [say.tool("other"), say.tool("use"), say.json({"day": "Monday"})]
    p = play([*script, *say.done], tools=[find.tool, other.tool, use.tool])
    await p.run()
    prompt = p.asked("worker")[-1].prompt
    assert "1. find(" in prompt
    assert "2. find(" in prompt
    assert "other(" not in prompt


async def test_after_a_cached_read_the_worker_sees_the_result_itself(
    play, make, writer, say
):  # 50
    look = make("look", "three red pots")
    script = [say.tool("look"), say.tool("look"), say.tool("write"), say.json({"title": "x"})]
    p = play([*script, *say.done], tools=[look.tool, writer.tool])
    result = await p.run()
    assert "step 1" in result.steps[1].result
    prompt = p.asked("worker")[0].prompt
    assert "2. look({}) [cached] → three red pots" in prompt
    assert "Same call" not in prompt
    # Where the step itself is shown, the pointer is enough.
    assert "Same call as step 1" in p.asked("conductor")[2].prompt


async def test_missing_values_skip_the_step_and_the_turn_goes_on(play, make, say):  # 51
    asked = []
    tool = make("book", properties=DAY, writes=True)
    script = [say.tool("book"), say.json({"day": "", "missing": "day"}), *say.done]
    p = play(script, tools=[tool.tool], confirm=asked.append)
    result = await p.run()
    [step, _] = result.steps
    assert (step.skipped, step.skip_reason) == (True, "missing")
    assert "day" in step.result
    assert asked == []
    assert tool.ran == []
    assert result.text == "All done."


async def test_missing_values_need_not_be_valid_arguments(play, make, say):  # 51
    tool = make("book", properties={"day": {"enum": ["Monday", "Friday"]}})
    script = [say.tool("book"), say.json({"day": "", "missing": "day" * 100}), *say.done]
    result = await play(script, tools=[tool.tool]).run()
    assert result.steps[0].skip_reason == "missing"
    assert "day" * 20 in result.steps[0].result
    assert "day" * 41 not in result.steps[0].result


@pytest.mark.parametrize("nothing", ["", "  ", "none", "None", None])
async def test_an_empty_missing_means_that_nothing_is(play, make, say, nothing):
    tool = make("book", properties=DAY)
    script = [say.tool("book"), say.json({"day": "Monday", "missing": nothing}), *say.done]
    await play(script, tools=[tool.tool]).run()
    assert tool.ran == [{"day": "Monday"}]


class Seeing:
    """An extension that notes which tool hooks it was called in."""

    name = "seeing"

    def __init__(self):
        self.seen = []

    def before_tool(self, data):
        self.seen.append(("before", data.input))

    def after_tool(self, data):
        self.seen.append(("after", data.outcome.status))


async def test_before_tool_does_not_see_a_missing_step_but_after_tool_does(play, make, say):  # 52
    seeing = Seeing()
    tool = make("book", properties=DAY)
    script = [say.tool("book"), say.json({"day": "", "missing": "day"}), *say.done]
    await play(script, tools=[tool.tool], extensions=[seeing]).run()
    assert seeing.seen == [("after", "skipped")]


async def test_one_invalid_argument_reply_is_retried_with_a_hint(play, make, say):  # 53
    tool = make("count", properties={"until": {"type": "integer", "maximum": 9}})
    bad = say.json({"until": 12})
    p = play([say.tool("count"), bad, say.json({"until": 3}), *say.done], tools=[tool.tool])
    result = await p.run()
    assert tool.ran == [{"until": 3}]
    first, second = p.asked("worker")
    hint = second.prompt.removeprefix(first.prompt)
    assert "/until" in hint
    assert "12" in hint
    retries = [event for event in result.trace if event.type == "retry"]
    assert [(event.stage, event.attempt) for event in retries] == [("worker", 1)]


async def test_a_second_invalid_argument_reply_escalates_with_the_problem(
    play, make, say, reasons
):  # 53
    tool = make("count", properties={"until": {"type": "integer"}})
    script = [say.tool("count"), say.text("{"), say.json({"until": "x"}), say.text("Sorry.")]
    result = await play(script, tools=[tool.tool]).run()
    assert reasons(result) == ["tool-args-invalid"]
    [event] = [event for event in result.trace if event.type == "escalate"]
    assert "/until" in event.error
    assert len(event.error) <= 200


async def test_invalid_arguments_never_reach_confirm_or_execute(play, make, say):  # 54
    asked = []
    tool = make("count", properties={"until": {"type": "integer"}}, writes=True)
    script = [say.tool("count"), say.json({}), say.json({"until": None}), say.text("Sorry.")]
    await play(script, tools=[tool.tool], confirm=asked.append).run()
    assert asked == []
    assert tool.ran == []


class Shout(BaseModel):
    word: Annotated[str, AfterValidator(lambda text: text + "!")]


async def test_transforms_run_exactly_once_on_generated_arguments(play, make, say):  # 55
    tool = make("shout", parameters=Shout)
    p = play([say.tool("shout"), say.json({"word": "hey"}), *say.done], tools=[tool.tool])
    result = await p.run()
    assert [ran.word for ran in tool.ran] == ["hey!"]
    assert result.steps[0].input == {"word": "hey!"}


async def test_a_hooks_rewrite_is_transformed_once_more_on_its_own_value(play, make, say):  # 56
    class Rewriting:
        name = "rewriting"

        def before_tool(self, data):
            assert data.input == {"word": "hey!"}
            return {"input": {"word": "ho"}}

    tool = make("shout", parameters=Shout)
    script = [say.tool("shout"), say.json({"word": "hey"}), *say.done]
    result = await play(script, tools=[tool.tool], extensions=[Rewriting()]).run()
    assert [ran.word for ran in tool.ran] == ["ho!"]
    assert result.steps[0].input == {"word": "ho!"}


async def test_a_hook_that_returns_none_causes_no_second_transform(play, make, say):  # 55
    tool = make("shout", parameters=Shout)
    script = [say.tool("shout"), say.json({"word": "hey"}), *say.done]
    await play(script, tools=[tool.tool], extensions=[Seeing()]).run()
    assert [ran.word for ran in tool.ran] == ["hey!"]


async def test_an_unmet_prerequisite_escalates_before_any_worker_call(
    play, make, say, reasons
):  # 57
    use = make("use", properties=DAY, requires=("find",))
    p = play([say.tool("use"), say.text("No.")], tools=[make("find").tool, use.tool])
    result = await p.run()
    assert reasons(result) == ["tool-prerequisite-missing"]
    assert p.asked("worker") == []
    assert result.steps == ()


async def test_a_failed_or_skipped_prerequisite_does_not_count(play, make, say, reasons):  # 58
    class Denying:
        name = "denying"

        def before_tool(self, data):
            from goliath_local.extensions import Deny

            return Deny("not now") if data.tool.name == "find" else None

    use = make("use", requires=("find",))
    failing = make("find", RuntimeError("gone"))
    result = await play(
        [say.tool("find"), say.tool("use"), say.text("No.")], tools=[failing.tool, use.tool]
    ).run()
    assert reasons(result) == ["tool-prerequisite-missing"]
    denied = make("find")
    result = await play(
        [say.tool("find"), say.tool("use"), say.text("No.")],
        tools=[denied.tool, use.tool],
        extensions=[Denying()],
    ).run()
    assert reasons(result) == ["tool-prerequisite-missing"]
    assert use.ran == []


async def test_a_cached_prerequisite_counts(play, make, say):  # 58
    find, use = make("find"), make("use", requires=("find",))
    script = [say.tool("find"), say.tool("find"), say.tool("use"), *say.done]
    result = await play(script, tools=[find.tool, use.tool]).run()
    assert [step.status for step in result.steps] == [
        "completed",
        "cached",
        "completed",
        "completed",
    ]


async def test_resolving_sees_earlier_outputs_and_recalled_exchanges(play, make, say):  # 59
    seen = {}

    def resolve(arguments, context):
        seen["steps"], seen["recent"] = context.steps, context.recent
        return {"id": context.steps[0]["output"][0]["id"]}

    find = make("find", [{"id": "p-17", "name": "basil"}])
    use = make("use", properties={"id": {"type": "string"}}, resolve_input=resolve)
    script = [*say.done, say.tool("find"), say.tool("use"), say.json({"id": "the basil"})]
    p = play([*script, *say.done], tools=[find.tool, use.tool])
    await p.run("Hello")
    await p.run()
    assert use.ran == [{"id": "p-17"}]
    assert seen["steps"][0]["output"] == [{"id": "p-17", "name": "basil"}]
    assert [exchange["ask"] for exchange in seen["recent"]] == ["Hello"]


async def test_the_resolved_value_is_confirmed_run_and_recorded(play, make, say):  # 60
    asked = []

    def confirm(request):
        asked.append(request.input)
        return True

    tool = make(
        "use",
        properties={"id": {"type": "string"}},
        writes=True,
        resolve_input=lambda arguments, _context: {"id": arguments["id"].upper()},
    )
    script = [say.tool("use"), say.json({"id": "abc"}), *say.done]
    result = await play(script, tools=[tool.tool], confirm=confirm).run()
    assert asked == [{"id": "ABC"}]
    assert tool.ran == [{"id": "ABC"}]
    assert result.steps[0].input == {"id": "ABC"}


async def test_a_resolved_value_that_does_not_fit_escalates_before_confirm(
    play, make, say, reasons
):  # 61
    asked = []
    tool = make(
        "use",
        properties={"id": {"type": "string"}},
        writes=True,
        resolve_input=lambda _arguments, _context: {"id": 17},
    )
    script = [say.tool("use"), say.json({"id": "abc"}), say.text("No.")]
    result = await play(script, tools=[tool.tool], confirm=asked.append).run()
    assert reasons(result) == ["tool-args-invalid"]
    assert asked == []
    assert tool.ran == []


async def test_a_raising_resolver_escalates_with_its_message(play, make, say, reasons):  # 62
    def resolve(_arguments, _context):
        raise LookupError("two plants are called basil")

    tool = make("use", properties={"id": {"type": "string"}}, resolve_input=resolve)
    script = [say.tool("use"), say.json({"id": "abc"}), say.text("No.")]
    result = await play(script, tools=[tool.tool]).run()
    [event] = [event for event in result.trace if event.type == "escalate"]
    assert event.reason == "tool-args-invalid"
    assert "two plants are called basil" in event.error
