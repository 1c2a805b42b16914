"""The end of a turn: prose, structured answers, and what can be said after a stall."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel

AT = {"at": {"type": "integer"}}


class Count(BaseModel):
    pots: int
    note: Annotated[str, AfterValidator(str.upper)] = ""


async def test_a_cap_of_zero_escalates_without_planning(play, make, say, reasons):  # 97
    p = play([say.text("I could not begin.")], tools=[make().tool], max_steps=0)
    result = await p.run()
    assert reasons(result) == ["too-many-steps"]
    assert [call.label for call in p.calls] == ["answer"]


@pytest.mark.parametrize(("steps", "reason"), [(4, []), (5, ["too-many-steps"])])
async def test_four_tool_steps_can_be_answered_and_five_cannot(
    play, make, say, reasons, steps, reason
):  # 98
    look = make(properties=AT)
    script = [item for at in range(steps) for item in (say.tool("look"), say.json({"at": at}))]
    p = play([*script, *(say.done if not reason else [say.text("Too long.")])], tools=[look.tool])
    result = await p.run()
    assert reasons(result) == reason
    assert result.handled_by == "device"
    assert p.model.remaining() == 0


async def test_a_blank_answer_is_asked_for_once_more_with_a_nudge(play):  # 99
    p = play([{"text": "  \n"}, {"text": "Good morning."}])
    result = await p.run("Hello")
    assert result.text == "Good morning."
    first, second = p.calls
    assert second.prompt.startswith(first.prompt)
    assert "blank" in second.prompt.removeprefix(first.prompt)


async def test_two_blank_answers_escalate(play, reasons):  # 99
    result = await play([{"text": ""}, {"text": " "}, {"text": "Hm."}]).run("Hello")
    assert reasons(result) == ["empty-answer"]
    assert result.best_effort


async def test_a_stalled_turn_makes_one_best_effort_call(play, make, say, types):  # 100 101
    look = make()
    script = [say.tool("look")] * 3 + [say.text("I saw that all is well, no more.")]
    p = play(script, tools=[look.tool])
    result = await p.run()
    assert (result.text, result.best_effort) == ("I saw that all is well, no more.", True)
    assert result.handled_by == "device"
    assert [step.kind for step in result.steps] == ["tool", "tool"]
    assert types(result)[-2:] == ["answer", "remember"]
    assert "not completed" in p.calls[-1].system
    assert len(p.asked("answer")) == 1


@pytest.mark.parametrize("item", [{"text": "  "}, {"error": RuntimeError("gone")}])
async def test_a_failing_best_effort_gives_an_empty_text_and_nothing_is_kept(
    play, make, say, item
):  # 102
    p = play([say.escalate, item], tools=[make().tool])
    result = await p.run()
    assert (result.text, result.best_effort) == ("", True)
    assert not [e for e in result.trace if e.type in {"answer", "remember"}]
    assert p.model.remaining() == 0


async def test_a_refused_best_effort_is_reported_as_a_guardrail(play, make, say, reasons):  # 102
    from goliath_local.errors import ModelRefused

    p = play([say.escalate, say.error(ModelRefused("no"))], tools=[make().tool])
    result = await p.run()
    assert reasons(result) == ["conductor-asked", "guardrail"]
    assert (result.text, result.best_effort, result.reason) == ("", True, "guardrail")


def _device_failures():
    from goliath_local.errors import ContextFull, ModelUnavailable, NoModel

    full = ContextFull(needed_tokens=9, limit_tokens=8, window_tokens=10)
    return [
        ("model-error", RuntimeError("gone")),
        ("model-unavailable", ModelUnavailable("not here")),
        ("context-budget", full),
        ("no-model", NoModel("nothing installed")),
    ]


@pytest.mark.parametrize(("reason", "error"), _device_failures())
async def test_a_failed_device_gives_an_empty_text_without_a_best_effort(
    play, make, say, reasons, reason, error
):  # 103
    p = play([say.error(error)], tools=[make().tool])
    result = await p.run()
    assert reasons(result) == [reason]
    assert (result.text, result.best_effort, result.handled_by) == ("", False, "device")
    assert not [e for e in result.trace if e.type in {"answer", "remember"}]
    assert len(p.calls) == 1


async def test_a_structured_answer_gives_the_value_and_the_generated_json(play):  # 104
    text = ' {"pots": 3, "note": "red"} '
    result = await play([{"text": text}], output_schema=Count).run("How many?")
    assert result.output == Count(pots=3, note="RED")
    assert result.output.note == "RED"
    assert result.text == text.strip()


async def test_the_structured_call_has_the_schema_in_words_too_and_not_the_prose_order(
    play,
):  # 105
    p = play([{"json": {"pots": 3}}], output_schema=Count)
    await p.run("How many?")
    [call] = p.calls
    assert list(call.schema["properties"]) == ["pots", "note"]
    assert call.output_cap == 384
    assert "JSON schema" in call.system
    assert "- pots (integer)" in call.system
    assert "sentences" not in call.system


async def test_an_invalid_structured_answer_is_retried_once_with_a_correction(play):  # 106 107
    p = play([{"json": {"pots": "many"}}, {"json": {"pots": 3}}], output_schema=Count)
    result = await p.run("How many?")
    assert result.output == Count(pots=3)
    first, second = p.calls
    assert "did not match" in second.prompt.removeprefix(first.prompt)
    assert "/pots" in second.prompt
    assert len([event for event in result.trace if event.type == "budget"]) == 2


async def test_a_second_invalid_structured_answer_escalates(play, reasons):  # 106
    result = await play([{"text": "three"}, {"json": {}}], output_schema=Count).run("How many?")
    assert reasons(result) == ["answer-invalid"]
    assert (result.text, result.output, result.best_effort) == ("", None, False)


async def test_a_structured_retry_does_not_repeat_a_write(play, writer, say):  # 108
    script = [say.tool("write"), say.json({"title": "x"}), say.answer]
    p = play(
        [*script, say.json({}), say.json({"pots": 1})], tools=[writer.tool], output_schema=Count
    )
    result = await p.run()
    assert result.output == Count(pots=1)
    assert len(writer.ran) == 1


async def test_after_answer_may_change_the_text_and_the_output_stays(play):  # 109
    class Polite:
        name = "polite"

        def after_answer(self, data):
            return {"text": f"Dear all: {data.text}"}

    p = play([{"json": {"pots": 3}}], output_schema=Count, extensions=[Polite()])
    result = await p.run("How many?")
    assert result.text == 'Dear all: {"pots":3}'
    assert result.output == Count(pots=3)


async def test_cloud_answers_and_stops_have_no_output(play, make, say):  # 110
    from goliath_local.extensions import Stop

    class Stopping:
        name = "stopping"

        def after_answer(self, _data):
            return Stop("stopped", "test")

    def fallback(_request):
        return {"text": "from afar", "output": {"pots": 9}}

    p = play([say.escalate], tools=[make().tool], output_schema=Count, fallback=fallback)
    assert (await p.run()).output is None
    p = play([{"json": {"pots": 3}}], output_schema=Count, extensions=[Stopping()])
    result = await p.run()
    assert (result.text, result.output) == ("stopped", None)


async def test_a_best_effort_honours_the_schema_with_one_retry(play, make, say, reasons):  # 111
    script = [say.escalate, say.json({}), say.json({"pots": 0})]
    p = play(script, tools=[make().tool], output_schema=Count)
    result = await p.run()
    assert (result.output, result.best_effort) == (Count(pots=0), True)
    assert "not completed" in p.calls[-1].system
    script = [say.escalate, say.json({}), say.text("?")]
    result = await play(script, tools=[make().tool], output_schema=Count).run()
    assert (result.text, result.output, result.best_effort) == ("", None, True)
    assert reasons(result) == ["conductor-asked", "answer-invalid"]


async def test_the_text_is_the_same_everywhere(play):  # 112
    from goliath_local.memory import in_memory

    class Signing:
        name = "signing"

        def after_answer(self, data):
            return {"text": data.text + " – G."}

    memory = in_memory()
    p = play([{"text": "  Good morning.  "}], memory=memory, extensions=[Signing()])
    result = await p.run("Hello")
    [answer] = [event for event in result.trace if event.type == "answer"]
    saved = await memory.load()
    assert result.text == "Good morning. – G."
    assert answer.text == result.steps[-1].text == saved.recent[-1].answer == result.text


async def test_a_runs_own_schema_does_not_change_later_runs(play):  # 18
    p = play([{"json": {"pots": 3}}, {"text": "Hello."}])
    assert (await p.run(output_schema=Count)).output == Count(pots=3)
    result = await p.run()
    assert (result.text, result.output) == ("Hello.", None)
    assert p.calls[1].schema is None


async def test_an_answer_cut_by_its_cap_says_so(play):
    result = await play([{"text": "It was a dark and", "finish": "length"}]).run("A story")
    assert result.finish_reason == "length"
    whole = await play([{"text": "The end."}]).run("A story")
    assert whole.finish_reason == "stop"


async def test_only_the_last_answer_counts_as_cut(play, make, say):
    plan = say.plan("answer", finish="length")
    result = await play([plan, say.text("Fine.")], tools=[make().tool]).run()
    assert result.finish_reason == "stop"
    blank = {"text": " ", "finish": "length"}
    result = await play([blank, blank], fallback=lambda _request: "from afar").run()
    assert (result.text, result.finish_reason) == ("from afar", "stop")


async def test_usage_is_summed_over_all_calls(play, make, say):
    p = play([say.tool("look"), *say.done], tools=[make().tool])
    result = await p.run()
    calls = [event.usage for event in result.trace if event.type == "model"]
    assert len(calls) == 3
    assert result.usage.prompt_tokens == sum(usage.prompt_tokens for usage in calls)
    assert result.usage.completion_tokens == sum(usage.completion_tokens for usage in calls)
