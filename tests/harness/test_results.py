"""Running a tool, and what the model and the records get of it."""

from __future__ import annotations

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, ExtensionError, RunCancelled

AT = {"at": {"type": "integer"}}


async def test_a_raising_tool_is_a_failed_step_with_advice_and_the_turn_goes_on(
    play, make, say
):  # 87
    look = make("look", RuntimeError("the lamp is out. " * 50))
    p = play([say.tool("look"), *say.done], tools=[look.tool])
    result = await p.run()
    step = result.steps[0]
    assert (step.failed, step.status) == (True, "failed")
    message, _, advice = step.result.removeprefix("Failed: ").partition(". Try")
    assert len(message) <= 160
    assert "another tool" in advice
    assert "[failed]" in p.asked("conductor")[1].prompt
    assert result.text == "All done."


async def test_two_failures_in_a_row_escalate_with_the_last_result(play, make, say, reasons):  # 88
    first, second = make("first", RuntimeError("one")), make("second", RuntimeError("two"))
    script = [say.tool("first"), say.tool("second"), say.text("Broken.")]
    result = await play(script, tools=[first.tool, second.tool]).run()
    [event] = [event for event in result.trace if event.type == "escalate"]
    assert (event.reason, event.error) == ("tool-error", result.steps[1].result)
    assert "two" in event.error


async def test_failed_successful_failed_does_not_escalate(play, make, say, reasons):  # 89
    bad, good, worse = make("a", RuntimeError("x")), make("b"), make("c", RuntimeError("y"))
    script = [say.tool("a"), say.tool("b"), say.tool("c"), *say.done]
    result = await play(script, tools=[bad.tool, good.tool, worse.tool]).run()
    assert reasons(result) == []


async def test_a_skipped_step_between_two_failures_resets_the_rule(play, make, say, reasons):  # 89
    bad, worse = make("a", RuntimeError("x")), make("c", RuntimeError("y"))
    asks = make("b", requires_confirmation=True)
    script = [say.tool("a"), say.tool("b"), say.tool("c"), *say.done]
    result = await play(script, tools=[bad.tool, asks.tool, worse.tool]).run()
    assert reasons(result) == []


async def test_results_are_capped_at_600_characters_formatters_and_hooks_too(
    play, make, say
):  # 90
    class Wordy:
        name = "wordy"

        def after_tool(self, data):
            return {"result": "w" * 5000} if data.tool.name == "hooked" else None

    long = make("long", "r" * 5000)
    shaped = make("shaped", "r", to_model_output=lambda _output: "f" * 5000)
    hooked = make("hooked", "r")
    script = [say.tool("long"), say.tool("shaped"), say.tool("hooked"), *say.done]
    p = play(script, tools=[long.tool, shaped.tool, hooked.tool], extensions=[Wordy()])
    result = await p.run()
    texts = [step.result for step in result.steps if step.kind == "tool"]
    assert [len(text) for text in texts] == [600, 600, 600]
    assert [text[0] for text in texts] == ["r", "f", "w"]
    assert result.steps[0].output == "r" * 5000


@pytest.mark.parametrize("shaped", [ValueError("no"), 17, None])
async def test_a_formatter_that_fails_leaves_output_and_success(play, make, say, shaped):  # 91
    def to_model_output(_output):
        if isinstance(shaped, Exception):
            raise shaped
        return shaped

    tool = make("look", {"seen": 3}, to_model_output=to_model_output)
    result = await play([say.tool("look"), *say.done], tools=[tool.tool]).run()
    step = result.steps[0]
    assert (step.status, step.output) == ("completed", {"seen": 3})
    assert step.result == "Done; the result could not be shown."


async def test_the_full_output_is_recorded_and_in_no_prompt(play, make, say):  # 92
    look = make(
        "look", {"shown": 1, "nested": {"secret": "NADIR-551"}}, to_model_output=lambda _: "1"
    )
    talk = [say.tool("look"), *say.done]
    scribe = say.text("Goal: plants")
    p = play([*talk, *talk, *talk, *talk, scribe], tools=[look.tool])
    for _ in range(4):
        result = await p.run()
    assert result.steps[0].output["nested"]["secret"] == "NADIR-551"
    assert {call.label for call in p.calls} == {"conductor", "answer", "scribe"}
    for call in p.calls:
        assert "NADIR-551" not in call.system + call.prompt


async def test_an_output_without_a_json_form_is_left_out_and_the_step_succeeds(
    play, make, say
):  # 93
    look = make("look", {"handle": object()})
    result = await play([say.tool("look"), *say.done], tools=[look.tool]).run()
    assert result.steps[0].status == "completed"
    assert not result.steps[0].has_output


async def test_a_content_result_above_600_characters_reaches_the_answer(play, make, say):  # 94
    page = "word " * 200 + "the end"
    read = make("read", page, output_mode="content")
    p = play([say.tool("read"), *say.done], tools=[read.tool])
    await p.run()
    assert page in p.asked("answer")[0].prompt


async def test_a_content_result_is_cut_to_its_budget_with_a_marker(play, make, say):  # 95
    from goliath_local.budget import estimate_tokens

    read = make("read", "word " * 5000, output_mode="content")
    result = await play([say.tool("read"), *say.done], tools=[read.tool]).run()
    text = result.steps[0].result
    assert "tokens left out" in text
    assert 400 < estimate_tokens(text) <= 512


async def test_a_budget_that_holds_not_even_the_marker_is_an_error(play, make, say):
    read = make("read", "word " * 5000, output_mode="content")
    p = play([say.tool("read"), *say.done], tools=[read.tool], budgets={"tool_result_tokens": 2})
    with pytest.raises(ConfigError, match="marker"):
        await p.run()
    assert len(read.ran) == 1


async def test_a_write_that_ran_is_on_record_when_a_hook_fails_after_it(play, writer, say):  # 96
    seen = []

    class Failing:
        name = "failing"

        def after_tool(self, _data):
            raise ValueError("oops")

        def on_error(self, data):
            seen.append((data.origin, data.steps))

    script = [say.tool("write"), say.json({"title": "eggs"}), *say.done]
    p = play(script, tools=[writer.tool], extensions=[Failing()])
    with pytest.raises(ExtensionError, match="after_tool"):
        await p.run()
    [(origin, steps)] = seen
    assert origin == "extension"
    assert [(step.tool, step.input, step.output) for step in steps] == [
        ("write", {"title": "eggs"}, {"ok": True})
    ]
    assert len(writer.ran) == 1


async def test_a_run_cancelled_by_its_tool_is_cancelled_and_the_step_is_on_record(play, make, say):
    token, seen = CancelToken(), []

    class Watching:
        name = "watching"

        def on_finish(self, data):
            seen.append((data.outcome.status, data.outcome.steps[0].result))

    def stop(_arguments, _context):
        token.cancel("enough")
        return "done"

    tool = make("stop", stop, writes=True)
    p = play([say.tool("stop"), *say.done], tools=[tool.tool], extensions=[Watching()])
    with pytest.raises(RunCancelled, match="enough"):
        await p.run(cancel=token)
    assert seen[0][0] == "aborted"
    assert seen[0][1].startswith("(")


async def test_a_tool_that_raises_a_cancellation_cancels_the_run(play, make, say):
    origins = []

    class Watching:
        name = "watching"

        def on_error(self, data):
            origins.append((data.origin, [step.result for step in data.steps]))

    tool = make("stop", RunCancelled("by the tool"))
    p = play([say.tool("stop")], tools=[tool.tool], extensions=[Watching()])
    with pytest.raises(RunCancelled, match="by the tool"):
        await p.run()
    assert origins == [("tool", ["(started, no outcome yet)"])]


async def test_a_tool_that_takes_too_long_is_a_failed_step(play, make, say):
    import asyncio

    from goliath_local.tools import define_tool

    tool = define_tool(
        name="wait",
        description="Waits.",
        parameters={"type": "object", "properties": {}},
        execute=lambda _arguments, _context: asyncio.sleep(30),
        timeout_s=0.02,
    )
    result = await play([say.tool("wait"), *say.done], tools=[tool]).run()
    assert result.steps[0].failed
    assert "0.02 s" in result.steps[0].result


async def test_context_reaches_tools_and_no_prompt_event_step_or_memory(play, make, say):  # 17
    class Store:
        def __init__(self):
            self.saved = []

        def load(self):
            from goliath_local.memory import empty_memory

            return empty_memory()

        def save(self, state):
            self.saved.append(state)

    got, store = [], Store()
    secret = {"token": "ZENITH-902"}

    def look(_arguments, context):
        got.append(context.context)
        return "seen"

    tool = make("look", look)
    p = play([say.tool("look"), *say.done], tools=[tool.tool], memory=store)
    result = await p.run(context=secret)
    assert got[0] is secret
    shown = repr([p.calls, result.trace, result.steps, store.saved])
    assert "ZENITH-902" not in shown
    assert len(store.saved) == 1
