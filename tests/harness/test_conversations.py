"""Conversations: their own memory, line and health."""

from __future__ import annotations

import asyncio
import threading

import pytest

from goliath_local.agent import create_agent
from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, ModelUnavailable, RunCancelled
from goliath_local.memory import in_memory
from goliath_local.model import Reply

GONE = {"error": OSError("gone")}
HELLO = {"text": "Hello."}
BRIEF = {"text": "Goal: talk"}


def afar(_request):
    return "from afar"


async def fail(p, times=3, **options):
    for _ in range(times):
        await p.run("hi", **options)


async def test_three_model_errors_in_a_row_set_session_fallback(play):  # 128
    p = play([GONE] * 3, fallback=afar)
    await fail(p, 2)
    assert not p.agent.session_fallback
    await fail(p, 1)
    assert p.agent.session_fallback
    result = await p.run("still there?")
    assert result.text == "from afar"
    assert len(p.calls) == 3


async def test_a_session_fallback_turn_traces_recall_escalate_answer_remember(play, types):  # 129
    p = play([GONE] * 3, fallback=afar)
    await fail(p)
    result = await p.run("still there?")
    assert types(result) == ["recall", "escalate", "answer", "remember"]
    assert result.trace[1].reason == "model-error"
    assert result.trace[1].error


async def test_a_good_turn_in_between_resets_the_count(play):  # 130
    p = play([GONE, GONE, HELLO, GONE, GONE], fallback=afar)
    await fail(p, 5)
    assert not p.agent.session_fallback


async def test_context_budget_turns_never_count(play):  # 131
    p = play([], fallback=afar)
    for _ in range(4):
        await p.run("x" * 30_000)
    assert not p.agent.session_fallback


async def test_unavailable_models_count(play):  # 132
    p = play([{"error": ModelUnavailable("not here")}] * 3, fallback=afar)
    await fail(p)
    assert p.agent.session_fallback


async def test_rejected_and_stopped_runs_leave_the_count_alone(play):  # 133 196
    from goliath_local.errors import ExtensionError
    from goliath_local.extensions import Stop

    class Moody:
        name = "moody"
        mood = None

        def before_run(self, _data):
            if self.mood == "raise":
                raise ValueError("no")
            return Stop("later", "mood") if self.mood == "stop" else None

    moody = Moody()
    p = play([GONE] * 3, fallback=afar, extensions=[moody])
    await fail(p, 2)
    moody.mood = "raise"
    with pytest.raises(ExtensionError):
        await p.run("hi")
    moody.mood = "stop"
    assert (await p.run("hi")).stopped
    moody.mood = None
    assert not p.agent.session_fallback
    await fail(p, 1)
    assert p.agent.session_fallback


async def test_without_a_fallback_the_device_is_still_tried(play):  # 134
    p = play([GONE] * 3 + [HELLO])
    await fail(p)
    assert p.agent.session_fallback
    assert (await p.run("hi")).text == "Hello."
    assert not p.agent.session_fallback


async def test_resetting_makes_the_next_turn_use_the_device(play):  # 135
    p = play([GONE] * 3 + [HELLO, BRIEF], fallback=afar)
    await fail(p)
    p.agent.reset_session_fallback()
    assert not p.agent.session_fallback
    assert (await p.run("hi")).handled_by == "device"


async def test_a_probe_lets_one_turn_through_after_its_time(play):
    now = [1000.0]
    p = play(
        [GONE] * 4 + [HELLO, BRIEF], fallback=afar, session_probe_after=60, clock=lambda: now[0]
    )
    await fail(p)
    now[0] += 59
    assert (await p.run("hi")).handled_by == "cloud"
    assert len(p.calls) == 3
    now[0] += 2
    assert (await p.run("hi")).handled_by == "cloud"
    assert len(p.calls) == 4
    await p.run("hi")
    assert len(p.calls) == 4
    now[0] += 61
    assert (await p.run("hi")).handled_by == "device"
    assert not p.agent.session_fallback


async def test_conversations_have_their_own_health(play):  # 136
    p = play([GONE] * 3 + [HELLO], fallback=afar)
    await fail(p, conversation_id="one")
    assert p.agent.is_session_fallback("one")
    assert not p.agent.is_session_fallback("two")
    assert not p.agent.session_fallback
    assert not p.agent.is_session_fallback("never used")
    assert (await p.run("hi", conversation_id="two")).handled_by == "device"


async def test_conversations_have_their_own_memory(play):  # 136 137
    p = play([HELLO] * 4)
    await p.run("first", conversation_id="default")
    await p.run("second")
    assert "first" not in p.calls[1].prompt
    await p.run("third", conversation_id="default")
    assert "first" in p.calls[2].prompt
    assert "second" not in p.calls[2].prompt


class Slow:
    """A model that replies when it is let, and notes who was inside at once."""

    def __init__(self):
        self.gates = {}
        self.inside = 0
        self.most = 0
        self.asked = []

    async def generate(self, request):
        ask = request.user_text.rpartition("Request: ")[2]
        self.asked.append(request.user_text)
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.gates.setdefault(ask, asyncio.Event()).wait()
        self.inside -= 1
        return Reply(text=f"reply to {ask}")

    def let(self, ask):
        self.gates.setdefault(ask, asyncio.Event()).set()

    async def reached(self, count):
        while len(self.asked) < count:
            await asyncio.sleep(0)


async def test_turns_of_one_conversation_wait_for_each_other_in_order():  # 138
    model = Slow()
    agent = create_agent(model=model)
    tasks = [asyncio.create_task(agent.run(ask)) for ask in ("a", "b", "c")]
    await model.reached(1)
    for ask in ("c", "b", "a"):
        model.let(ask)
    results = await asyncio.gather(*tasks)
    assert [result.text for result in results] == ["reply to a", "reply to b", "reply to c"]
    assert model.most == 1
    assert "reply to a" in model.asked[1]
    assert "reply to b" in model.asked[2]


async def test_a_blocked_conversation_does_not_block_another():  # 139
    model = Slow()
    agent = create_agent(model=model)
    blocked = asyncio.create_task(agent.run("a", conversation_id="one"))
    await model.reached(1)
    model.let("b")
    result = await asyncio.wait_for(agent.run("b", conversation_id="two"), 5)
    assert result.text == "reply to b"
    assert not blocked.done()
    model.let("a")
    await blocked


async def test_a_failed_or_cancelled_turn_in_the_line_does_not_poison_the_next():  # 140
    model = Slow()
    seen = []

    class Watching:
        name = "watching"

        def on_finish(self, data):
            seen.append(data.outcome.status)

    agent = create_agent(model=model, extensions=[Watching()])
    token = CancelToken()
    first = asyncio.create_task(agent.run("a"))
    await model.reached(1)
    by_token = asyncio.create_task(agent.run("b", cancel=token))
    by_task = asyncio.create_task(agent.run("c"))
    last = asyncio.create_task(agent.run("d"))
    await asyncio.sleep(0)
    token.cancel("never mind")
    by_task.cancel()
    for ask in ("a", "b", "c", "d"):
        model.let(ask)
    assert (await first).text == "reply to a"
    with pytest.raises(RunCancelled, match="never mind"):
        await by_token
    with pytest.raises(asyncio.CancelledError):
        await by_task
    assert (await last).text == "reply to d"
    assert len(model.asked) == 2
    assert sorted(seen) == ["aborted", "aborted", "completed", "completed"]


async def test_a_task_cancelled_while_the_model_works_is_reported_as_aborted():
    model = Slow()
    seen = []

    class Watching:
        name = "watching"

        async def on_finish(self, data):
            await asyncio.sleep(0)
            seen.append((data.outcome.status, data.outcome.origin))

    agent = create_agent(model=model, extensions=[Watching()])
    task = asyncio.create_task(agent.run("a"))
    await model.reached(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == [("aborted", "model")]
    model.let("b")
    assert (await agent.run("b")).text == "reply to b"


@pytest.mark.parametrize("bad", ["", "  ", 7, b"id"])
async def test_ids_that_are_no_text_reject_before_memory_is_made(play, bad):  # 141
    made = []
    p = play([], memory=made.append)
    with pytest.raises(ConfigError, match="conversation_id"):
        await p.run("hi", conversation_id=bad)
    assert made == []


async def test_one_memory_object_serves_only_the_default_conversation(play):  # 142
    p = play([HELLO], memory=in_memory())
    with pytest.raises(ConfigError, match=r"\(conversation_id\) -> memory"):
        await p.run("hi", conversation_id="one")
    assert (await p.run("hi")).text == "Hello."


async def test_a_memory_factory_is_called_once_a_conversation_with_its_id():  # 143
    made = []

    async def factory(conversation_id):
        made.append(conversation_id)
        await asyncio.sleep(0)
        return in_memory()

    model = Slow()
    for ask in ("a", "b", "c", "d"):
        model.let(ask)
    agent = create_agent(model=model, memory=factory)
    await asyncio.gather(
        agent.run("a"),
        agent.run("b"),
        agent.run("c", conversation_id="one"),
        agent.run("d", conversation_id="one"),
    )
    assert sorted(made, key=str) == [None, "one"]


async def test_a_failing_memory_factory_rejects_and_is_asked_again_next_time(play):
    made = []

    def factory(conversation_id):
        made.append(conversation_id)
        if len(made) == 1:
            raise OSError("locked")
        return in_memory()

    p = play([HELLO], memory=factory)
    with pytest.raises(OSError, match="locked"):
        await p.run("hi")
    assert (await p.run("hi")).text == "Hello."


async def test_ids_reach_tools_and_hooks_and_no_prompt(play, make, say):  # 144
    got = []

    class Seeing:
        name = "seeing"

        def before_run(self, data):
            got.append(data.run.conversation_id)

    tool = make("look", lambda _a, context: got.append(context.conversation_id) or "seen")
    script = [say.tool("look"), *say.done]
    p = play(script, tools=[tool.tool], extensions=[Seeing()])
    await p.run(conversation_id="QUASAR-77")
    assert got == ["QUASAR-77", "QUASAR-77"]
    for call in p.calls:
        assert "QUASAR-77" not in call.system + call.prompt


@pytest.mark.parametrize("inner", [None, "other"])
async def test_a_turn_that_would_wait_for_itself_is_refused(play, make, say, inner):  # 145
    caught = []

    async def nested(_arguments, _context):
        try:
            return (await p.agent.run("inside", conversation_id=inner)).text
        except ConfigError as error:
            caught.append(str(error))
            raise

    from goliath_local.tools import define_tool

    tool = define_tool(
        name="nest", description="Asks itself.", parameters={"type": "object"}, execute=nested
    )
    script = [say.tool("nest"), say.json({}), *say.done, *say.done]
    p = play(script, tools=[tool])
    result = await asyncio.wait_for(p.run(), 5)
    assert result.steps[0].failed == (inner is None)
    assert len(caught) == (inner is None)


async def test_a_task_started_in_a_turn_may_run_after_it(play, make, say):
    later = []

    async def start(_arguments, _context):
        async def afterwards():
            await done.wait()
            return await p.agent.run("afterwards")

        later.append(asyncio.create_task(afterwards()))
        return "started"

    from goliath_local.tools import define_tool

    done = asyncio.Event()
    tool = define_tool(
        name="start", description="Starts.", parameters={"type": "object"}, execute=start
    )
    p = play([say.tool("start"), say.json({}), *say.done, *say.done], tools=[tool])
    await p.run()
    done.set()
    assert (await later[0]).text == "All done."


async def test_forgetting_drops_health_and_memory_of_this_process(play):
    p = play([GONE] * 3 + [HELLO], fallback=afar)
    await fail(p)
    p.agent.forget()
    assert not p.agent.session_fallback
    result = await p.run("who are you?")
    assert result.handled_by == "device"
    assert "from afar" not in p.calls[-1].prompt


def test_turns_from_many_threads_wait_for_each_other():
    """dspy#9640: two threads in one model."""

    class Careful:
        def __init__(self):
            self.inside = 0
            self.most = 0
            self.asked = []

        async def generate(self, request):
            self.inside += 1
            self.most = max(self.most, self.inside)
            await asyncio.sleep(0.001)
            self.inside -= 1
            self.asked.append(request.user_text)
            return Reply(text="Hello.")

    model = Careful()
    agent = create_agent(model=model)
    texts = []

    def work():
        texts.extend(agent.run_sync("hi").text for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert texts == ["Hello."] * 12
    assert model.most == 1
    assert len([asked for asked in model.asked if "Create" not in asked]) >= 12


async def test_handlers_get_copies_the_agents_before_the_runs(play, make, say):  # 14 15
    order = []

    def agents(event):
        order.append(("agent", event.type))
        if event.type == "tool":
            event.input["at"] = "changed"

    def runs(event):
        order.append(("run", event.type))
        if event.type == "tool":
            order.append(event.input)

    look = make("look", properties={"at": {"type": "string"}})
    p = play(
        [say.tool("look"), say.json({"at": "a"}), *say.done], tools=[look.tool], on_event=agents
    )
    result = await p.run(on_event=runs)
    types = [event.type for event in result.trace]
    seen = [item[1] for item in order if isinstance(item, tuple) and item[0] == "agent"]
    assert seen == types
    assert order[0] == ("agent", "recall")
    assert order[1] == ("run", "recall")
    assert {"at": "a"} in order
    assert [event.input for event in result.trace if event.type == "tool"] == [{"at": "a"}]
    assert result.steps[0].input == {"at": "a"}
