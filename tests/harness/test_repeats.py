"""The same call again: answered from the earlier step once, then a loop."""

from __future__ import annotations

import datetime as dt  # noqa: TC003 - pydantic reads it at run time
from typing import Any

from pydantic import BaseModel

WORD = {"word": {"type": "string"}, "at": {"type": "integer"}}


async def test_a_second_identical_read_runs_nothing_and_copies_the_output(
    play, make, say
):  # 63 65
    look = make("look", ["a", "b"])
    script = [say.tool("look"), say.tool("look"), *say.done]
    result = await play(script, tools=[look.tool]).run()
    first, second, _ = result.steps
    assert len(look.ran) == 1
    assert (second.cached, second.status) == (True, "cached")
    assert second.output == first.output == ["a", "b"]
    assert second.output is not first.output
    tools = [event for event in result.trace if event.type == "tool"]
    assert [(event.status, event.ms == 0) for event in tools] == [
        ("completed", False),
        ("cached", True),
    ]


async def test_a_third_identical_read_escalates(play, make, say, reasons):  # 64
    script = [say.tool("look")] * 3 + [say.text("Stuck.")]
    result = await play(script, tools=[make().tool]).run()
    assert reasons(result) == ["repeated-tool-call"]
    assert len(result.steps) == 2


async def test_a_cached_result_is_a_pointer_or_in_content_mode_the_excerpt(play, make, say):  # 66
    look = make("look", "three pots")
    read = make("read", "a long page", output_mode="content")
    script = [say.tool("look"), say.tool("look"), say.tool("read"), say.tool("read"), *say.done]
    result = await play(script, tools=[look.tool, read.tool]).run()
    assert "step 1" in result.steps[1].result
    assert "three pots" not in result.steps[1].result
    assert result.steps[3].result == "a long page"


async def test_a_write_between_two_reads_makes_the_second_run(play, make, writer, say):  # 67
    look = make()
    write = [say.tool("write"), say.json({"title": "x"})]
    script = [say.tool("look"), *write, say.tool("look"), *say.done]
    await play(script, tools=[look.tool, writer.tool]).run()
    assert len(look.ran) == 2


async def test_a_failed_write_between_them_does_so_too(play, make, say):  # 67
    look = make()
    write = make("write", RuntimeError("half done"), writes=True)
    script = [say.tool("look"), say.tool("write"), say.tool("look"), *say.done]
    await play(script, tools=[look.tool, write.tool]).run()
    assert len(look.ran) == 2


async def test_a_declined_write_between_them_does_not(play, make, writer, say):  # 68
    look = make()
    write = [say.tool("write"), say.json({"title": "x"})]
    script = [say.tool("look"), *write, say.tool("look"), *say.done]
    p = play(script, tools=[look.tool, writer.tool], confirm=lambda _: False)
    result = await p.run()
    assert len(look.ran) == 1
    assert result.steps[2].cached


async def test_an_identical_second_write_escalates_before_it_is_confirmed(
    play, writer, say, reasons
):  # 69
    asked = []

    def confirm(request):
        asked.append(request)
        return True

    write = [say.tool("write"), say.json({"title": "x"})]
    script = [*write, *write, say.text("Written.")]
    result = await play(script, tools=[writer.tool], confirm=confirm).run()
    assert reasons(result) == ["repeated-tool-call"]
    assert (len(writer.ran), len(asked)) == (1, 1)


async def test_key_order_does_not_hide_a_repeat(play, make, say):  # 70
    tool = make("find", properties=WORD)
    script = [say.tool("find"), say.json({"word": "a", "at": 1})]
    script += [say.tool("find"), say.json({"at": 1, "word": "a"})]
    result = await play([*script, *say.done], tools=[tool.tool]).run()
    assert result.steps[1].cached


async def test_a_tool_that_changes_its_arguments_does_not_hide_a_repeat(play, make, say):  # 71
    def change(arguments, _context):
        arguments["word"] = "changed"
        return "ok"

    tool = make("find", change, {"word": {"type": "string"}})
    call = [say.tool("find"), say.json({"word": "a"})]
    result = await play([*call, *call, *say.done], tools=[tool.tool]).run()
    assert result.steps[0].input == {"word": "a"}
    assert result.steps[1].cached


async def test_a_declined_write_repeated_escalates_without_being_offered_again(
    play, writer, say, reasons
):  # 72
    asked = []
    write = [say.tool("write"), say.json({"title": "x"})]
    script = [*write, *write, say.text("Not written.")]
    result = await play(script, tools=[writer.tool], confirm=asked.append).run()
    assert reasons(result) == ["repeated-tool-call"]
    assert len(asked) == 1


async def test_a_failed_read_repeated_escalates(play, make, say, reasons):  # 73
    look = make("look", RuntimeError("dark"))
    script = [say.tool("look"), say.tool("look"), say.text("Dark.")]
    result = await play(script, tools=[look.tool]).run()
    assert reasons(result) == ["repeated-tool-call"]
    assert len(look.ran) == 1


async def test_a_denied_read_repeated_and_then_allowed_escalates(play, make, say, reasons):  # 73
    from goliath_local.extensions import Deny

    class Once:
        name = "once"
        denied = False

        def before_tool(self, _data):
            if self.denied:
                return None
            self.denied = True
            return Deny("first no")

    look = make()
    script = [say.tool("look"), say.tool("look"), say.text("No.")]
    result = await play(script, tools=[look.tool], extensions=[Once()]).run()
    assert reasons(result) == ["repeated-tool-call"]
    assert look.ran == []


async def test_two_aliases_of_one_target_are_the_same_call(play, make, say):  # 74
    tool = make(
        "open",
        properties={"door": {"type": "string"}},
        resolve_input=lambda _arguments, _context: {"door": "D1"},
    )
    script = [say.tool("open"), say.json({"door": "front"}), say.tool("open")]
    script += [say.json({"door": "the front door"}), *say.done]
    result = await play(script, tools=[tool.tool]).run()
    assert result.steps[1].cached
    assert len(tool.ran) == 1


class On(BaseModel):
    day: dt.date
    value: Any


async def _statuses(play, make, say, *values):
    tool = make("note", parameters=On)
    script = []
    for value in values:
        script += [say.tool("note"), say.json({"day": "2026-03-01", "value": value})]
    result = await play([*script, *say.done], tools=[tool.tool]).run()
    return [step.status for step in result.steps if step.kind == "tool"]


async def test_dates_are_compared_by_their_json_form(play, make, say):  # 75
    assert await _statuses(play, make, say, "a", "a") == ["completed", "cached"]


async def test_one_is_one_point_zero_and_not_true(play, make, say):  # 75
    assert await _statuses(play, make, say, 1, 1.0) == ["completed", "cached"]
    assert await _statuses(play, make, say, 1, True) == ["completed", "completed"]


async def test_the_same_call_in_the_next_turn_is_no_repeat(play, make, say):  # 76
    look = make()
    script = [say.tool("look"), *say.done]
    p = play([*script, *script], tools=[look.tool])
    await p.run()
    result = await p.run()
    assert len(look.ran) == 2
    assert not result.steps[0].cached


async def test_a_read_whose_answer_changes_by_itself_is_never_taken_for_a_loop(
    play, make, say, reasons
):
    # smolagents#1226: the same reading again is progress for a sensor.
    readings = iter(range(10))
    sensor = make("sensor", lambda _a, _c: next(readings), idempotent=False)
    script = [say.tool("sensor")] * 4 + say.done
    result = await play(script, tools=[sensor.tool]).run()
    assert reasons(result) == []
    assert [step.output for step in result.steps if step.kind == "tool"] == [0, 1, 2, 3]
