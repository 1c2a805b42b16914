"""Handing a turn over: what the fallback is given, and what is made of its reply."""

from __future__ import annotations

import pytest

from goliath_local.errors import FallbackError
from goliath_local.memory import in_memory
from goliath_local.records import Exchange, MemoryState, to_json


def remembered(count=3, summary="Goal: plants"):
    recent = tuple(Exchange(ask=f"ask {n}", answer=f"answer {n}", at=n) for n in range(count))
    return in_memory(MemoryState(summary=summary, recent=recent))


async def test_the_payload_has_ask_brief_recent_steps_reason_and_error(play, make, say):  # 123
    got = []

    def fallback(request):
        got.append(request)
        return {"text": "from afar"}

    one, two = make("one", RuntimeError("no 1")), make("two", RuntimeError("no 2"))
    look = make("look", {"seen": 3})
    script = [say.tool("look"), say.tool("one"), say.tool("two")]
    p = play(
        script,
        tools=[look.tool, one.tool, two.tool],
        fallback=fallback,
        memory=remembered(2),
    )
    result = await p.run("Water the basil")
    [request] = got
    assert request.ask == "Water the basil"
    assert request.summary == "Goal: plants"
    assert [exchange.ask for exchange in request.recent] == ["ask 0", "ask 1"]
    assert [step.tool for step in request.steps] == ["look", "one", "two"]
    assert request.steps[0].output == {"seen": 3}
    assert (request.reason, request.error) == ("tool-error", result.steps[2].result)
    assert set(to_json(request)) == {"ask", "summary", "recent", "steps", "reason", "error"}
    assert result.text == "from afar"


async def test_a_turn_is_handled_by_the_cloud_only_once_the_fallback_is_called(play, make, say):
    # 124
    from goliath_local.extensions import Stop

    class Stopping:
        name = "stopping"

        def before_fallback(self, _data):
            return Stop("not from here", "policy")

    called = []
    p = play([say.escalate], tools=[make().tool], fallback=lambda _r: "from afar")
    assert (await p.run()).handled_by == "cloud"
    p = play([say.escalate], tools=[make().tool], fallback=called.append, extensions=[Stopping()])
    result = await p.run()
    assert (result.handled_by, result.text) == ("device", "not from here")
    assert called == []


async def test_cloud_answers_are_announced_and_remembered(play, make, say, types):  # 125
    memory = in_memory()
    p = play([say.escalate], tools=[make().tool], fallback=lambda _r: "from afar", memory=memory)
    result = await p.run()
    assert types(result)[-3:] == ["escalate", "answer", "remember"]
    saved = await memory.load()
    assert [(exchange.answer, exchange.best_effort) for exchange in saved.recent] == [
        ("from afar", False)
    ]
    assert [step for step in result.steps if step.kind == "answer"] == []


async def test_after_a_model_error_the_scribe_is_not_asked(play, make, say):  # 126
    memory = remembered(3)
    p = play(
        [say.error(OSError("gone"))],
        tools=[make().tool],
        fallback=lambda _r: "from afar",
        memory=memory,
    )
    await p.run("new ask")
    saved = await memory.load()
    assert saved.summary == "Goal: plants"
    assert [exchange.ask for exchange in saved.recent] == ["ask 1", "ask 2", "new ask"]
    assert p.asked("scribe") == []


async def test_after_another_reason_the_scribe_is_asked(play, make, say):
    memory = remembered(3)
    script = [say.escalate, say.text("Goal: pots")]
    p = play(script, tools=[make().tool], fallback=lambda _r: "from afar", memory=memory)
    await p.run()
    assert len(p.asked("scribe")) == 1
    assert (await memory.load()).summary == "Goal: pots"


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_a_blank_cloud_text_is_returned_but_neither_announced_nor_kept(
    play, make, say, text
):  # 127
    memory = in_memory()
    p = play(
        [say.escalate], tools=[make().tool], fallback=lambda _r: {"text": text}, memory=memory
    )
    result = await p.run()
    assert (result.text, result.handled_by) == (text, "cloud")
    assert not [e for e in result.trace if e.type in {"answer", "remember"}]
    assert (await memory.load()).recent == ()


@pytest.mark.parametrize("said", [None, 17, {"answer": "x"}, {"text": None}, ["x"]])
async def test_a_reply_without_a_text_rejects_with_what_is_wanted(play, make, say, said):
    p = play([say.escalate], tools=[make().tool], fallback=lambda _r: said)
    with pytest.raises(FallbackError, match="text"):
        await p.run()


async def test_a_fallback_gets_the_token_when_it_takes_it(play, make, say):
    from goliath_local.cancel import CancelToken

    token, got = CancelToken(), []

    async def by_name(request, *, cancel):
        got.append((request.ask, cancel))
        return "a"

    def by_place(request, token):
        got.append((request.ask, token))
        return "b"

    class Callable:
        def __call__(self, request):
            got.append((request.ask, None))
            return "c"

    for fallback in (by_name, by_place, Callable()):
        p = play([say.escalate], tools=[make().tool], fallback=fallback)
        await p.run("hi", cancel=token)
    assert got == [("hi", token), ("hi", token), ("hi", None)]


async def test_changing_the_payload_changes_nothing_here(play, make, say):
    def fallback(request):
        request.steps[0].output["seen"] = "changed"
        return "from afar"

    look = make("look", {"seen": 3})
    memory = in_memory()
    p = play([say.tool("look"), say.escalate], tools=[look.tool], fallback=fallback, memory=memory)
    result = await p.run()
    assert result.steps[0].output == {"seen": 3}
    assert (await memory.load()).recent[0].steps[0].output == {"seen": 3}
