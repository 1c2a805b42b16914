"""Asking before something is changed: only a clear yes to exactly this call is a yes."""

from __future__ import annotations

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import RunCancelled


@pytest.fixture
def script(say):
    return [say.tool("write", "note the eggs"), say.json({"title": "eggs"}), *say.done]


def confirms(result):
    return [
        (event.tool, event.approved, event.reason)
        for event in result.trace
        if event.type == "confirm"
    ]


async def test_a_write_asks_with_name_input_and_brief_and_a_read_does_not(
    play, make, writer, say, script
):  # 77
    asked = []

    async def confirm(request):
        asked.append((request.tool, request.input, request.brief, request.why))
        return True

    p = play([say.tool("look"), *script], tools=[make().tool, writer.tool], confirm=confirm)
    result = await p.run()
    assert asked == [("write", {"title": "eggs"}, "note the eggs", "needed")]
    assert confirms(result) == [("write", True, None)]


async def test_without_a_handler_ordinary_writes_are_approved_and_reported(
    play, writer, script
):  # 78
    result = await play(script, tools=[writer.tool]).run()
    assert writer.ran == [{"title": "eggs"}]
    assert confirms(result) == [("write", True, None)]


@pytest.mark.parametrize("writes", [True, False])
async def test_a_tool_that_insists_is_declined_unless_somebody_is_there_to_ask(
    play, make, say, writes
):  # 79 80
    asked = []

    def confirm(request):
        asked.append(request.tool)
        return True

    tool = make("wipe", writes=writes, requires_confirmation=True)
    p = play([say.tool("wipe"), *say.done, say.tool("wipe"), *say.done], tools=[tool.tool])
    result = await p.run()
    assert result.steps[0].skip_reason == "confirmation"
    assert tool.ran == []
    await p.run(confirm=confirm)
    assert asked == ["wipe"]
    assert len(tool.ran) == 1


async def test_a_no_is_recorded_and_the_next_plan_sees_it(play, writer, script):  # 81
    def confirm(_request):
        return {"approved": False, "reason": "too many eggs"}

    p = play(script, tools=[writer.tool], confirm=confirm)
    result = await p.run()
    step = result.steps[0]
    assert (step.skipped, step.skip_reason, step.writes) == (True, "confirmation", True)
    assert "too many eggs" in step.result
    assert "[skipped]" in p.asked("conductor")[1].prompt
    assert "too many eggs" in p.asked("conductor")[1].prompt
    assert confirms(result) == [("write", False, "too many eggs")]
    assert len(result.steps) == 2


@pytest.mark.parametrize(
    "said", [False, None, {"approved": False}, {}, {"approved": "yes"}, "yes", 1, [True]]
)
async def test_whatever_is_not_a_clear_yes_is_a_no(play, writer, script, said):  # 82
    result = await play(script, tools=[writer.tool], confirm=lambda _request: said).run()
    assert writer.ran == []
    assert result.steps[0].skip_reason == "confirmation"


@pytest.mark.parametrize("said", [True, {"approved": True}, {"approved": True, "reason": "fine"}])
async def test_a_clear_yes_runs_the_call(play, writer, script, said):
    await play(script, tools=[writer.tool], confirm=lambda _request: said).run()
    assert writer.ran == [{"title": "eggs"}]


async def test_changing_the_request_does_not_change_the_call(play, writer, script):  # 83
    def confirm(request):
        request.input["title"] = "gold"
        return True

    result = await play(script, tools=[writer.tool], confirm=confirm).run()
    assert writer.ran == [{"title": "eggs"}]
    assert result.steps[0].input == {"title": "eggs"}


async def test_a_runs_own_handler_replaces_the_agents_for_that_run(play, writer, script):  # 84
    asked = []

    def agents(_request):
        asked.append("agent")
        return True

    def runs(_request):
        asked.append("run")
        return True

    p = play([*script, *script], tools=[writer.tool], confirm=agents)
    await p.run(confirm=runs)
    await p.run()
    assert asked == ["run", "agent"]


async def test_cancelling_while_asking_prevents_the_call(play, writer, script):  # 85
    token, recorded = CancelToken(), []

    class Watching:
        name = "watching"

        def on_error(self, data):
            recorded.extend(data.steps)

    def confirm(_request):
        token.cancel("changed my mind")
        return True

    p = play(script, tools=[writer.tool], confirm=confirm, extensions=[Watching()])
    with pytest.raises(RunCancelled, match="changed my mind"):
        await p.run(cancel=token)
    assert writer.ran == []
    assert recorded == []


async def test_a_raising_handler_rejects_with_its_own_exception_and_no_fallback(
    play, writer, script
):  # 86
    error = EOFError("no terminal")
    handed, origins = [], []

    class Watching:
        name = "watching"

        def on_error(self, data):
            origins.append((data.error, data.origin))

    def confirm(_request):
        raise error

    p = play(
        script,
        tools=[writer.tool],
        confirm=confirm,
        fallback=handed.append,
        extensions=[Watching()],
    )
    with pytest.raises(EOFError) as caught:
        await p.run()
    assert caught.value is error
    assert origins == [(error, "confirm")]
    assert handed == []
    assert writer.ran == []
