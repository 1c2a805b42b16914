"""What a failed generation becomes."""

from __future__ import annotations

import pytest

from goliath_local.agent import create_agent
from goliath_local.cancel import CancelToken
from goliath_local.errors import (
    ContextFull,
    InvalidOutput,
    ModelRefused,
    ModelUnavailable,
    RunCancelled,
)
from goliath_local.harness.failures import read_failure
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.memory import in_memory
from goliath_local.model import Reply
from goliath_local.records import Exchange, MemoryState


def caused(outer, inner):
    outer.__cause__ = inner
    return outer


def coded(code):
    error = RuntimeError("sorry")
    error.code = code
    return error


def reason_of(error):
    found = read_failure(error)
    return found.reason.value if isinstance(found, Escalation) else "rejected"


async def test_a_refusal_ends_on_device_with_nothing_said_retried_handed_over_or_kept(
    play, make, say, reasons
):  # 113
    handed = []
    p = play([say.error(ModelRefused("not that"))], tools=[make().tool], fallback=handed.append)
    result = await p.run()
    assert reasons(result) == ["guardrail"]
    assert (result.text, result.handled_by, result.best_effort) == ("", "device", False)
    assert not [e for e in result.trace if e.type in {"answer", "remember", "retry"}]
    assert len(p.calls) == 1
    assert handed == []


@pytest.mark.parametrize(
    "error",
    [
        ModelRefused("no"),
        caused(RuntimeError("failed"), ModelRefused("no")),  # 114
        caused(InvalidOutput("not JSON"), ModelRefused("no")),  # 115
        caused(ContextFull(needed_tokens=2, limit_tokens=1, window_tokens=3), ModelRefused("no")),
        RuntimeError("blocked by a safety filter"),
        RuntimeError("the content filter was triggered"),
        RuntimeError("GUARDRAIL_VIOLATION"),
        RuntimeError("the reply is likely unsafe"),
        coded("content_filter"),
    ],
)
def test_a_refusal_is_found_by_type_words_or_code_also_as_a_cause(error):  # 114 115
    assert reason_of(error) == "guardrail"


@pytest.mark.parametrize(
    "message",
    ["thread-safety assertion", "type safety violated", "thread_safety check", "unsafe pointer"],
)
def test_words_about_programs_are_no_refusal(message):  # 118
    assert reason_of(RuntimeError(message)) == "model-error"


def test_a_chain_of_causes_that_bites_its_tail_ends():  # 117
    error = RuntimeError("round")
    other = caused(ValueError("and round"), error)
    error.__cause__ = other
    assert reason_of(error) == "model-error"


def test_a_refusal_beyond_the_eighth_cause_is_not_looked_for():
    error: BaseException = ModelRefused("no")
    for depth in range(8):
        error = caused(RuntimeError(f"at {depth}"), error)
    assert reason_of(error) == "model-error"


def test_an_unreadable_reply_is_for_the_stages_own_retry():
    assert isinstance(read_failure(InvalidOutput("cut")), Rejected)


async def test_an_unreadable_plan_reported_by_the_model_is_retried(play, make, say):
    p = play([say.error(InvalidOutput("cut")), *say.done], tools=[make().tool])
    assert (await p.run()).text == "All done."
    assert "not a valid plan" in p.asked("conductor")[1].prompt


async def test_three_refusals_do_not_give_up_on_the_device(play, make, say):  # 116
    p = play([say.error(ModelRefused("no"))] * 3, tools=[make().tool])
    for _ in range(3):
        await p.run()
    assert not p.agent.session_fallback


async def test_any_other_error_escalates_once_with_type_and_message(play, make, say):  # 119
    p = play([say.error(OSError("pipe broke"))], tools=[make().tool])
    result = await p.run()
    [event] = [event for event in result.trace if event.type == "escalate"]
    assert (event.reason, event.error) == ("model-error", "OSError: pipe broke")
    assert len(p.calls) == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ContextFull(needed_tokens=2, limit_tokens=1, window_tokens=3), "context-budget"),
        (coded("CONTEXT_WINDOW_EXCEEDED"), "context-budget"),
        (ModelUnavailable("not here"), "model-unavailable"),
        (coded("MODEL_UNAVAILABLE"), "model-unavailable"),
        (coded("UNSUPPORTED_OS"), "model-unavailable"),
        (caused(RuntimeError("x"), ModelUnavailable("not here")), "model-unavailable"),
    ],
)
async def test_overflow_and_unavailability_have_their_own_reasons(
    play, make, say, reasons, error, reason
):  # 120
    result = await play([say.error(error)], tools=[make().tool]).run()
    assert reasons(result) == [reason]


async def test_a_raising_fallback_rejects_with_its_own_exception_and_is_called_once(
    play, make, say
):  # 121
    called, origins = [], []
    error = ConnectionError("no network")

    class Watching:
        name = "watching"

        def on_error(self, data):
            origins.append(data.origin)

    def fallback(request):
        called.append(request)
        raise error

    p = play([say.escalate], tools=[make().tool], fallback=fallback, extensions=[Watching()])
    with pytest.raises(ConnectionError) as caught:
        await p.run()
    assert caught.value is error
    assert len(called) == 1
    assert origins == ["fallback"]


async def test_memory_and_event_errors_never_call_the_fallback(play, make, say):  # 122 16
    class Broken:
        def load(self):
            raise PermissionError("locked")

        def save(self, _state):
            raise PermissionError("locked")

    handed = []
    p = play([], tools=[make().tool], memory=Broken(), fallback=handed.append)
    with pytest.raises(PermissionError):
        await p.run()
    assert p.calls == []
    error = KeyError("ui")

    def on_event(event):
        if event.type == "plan":
            raise error

    origins = []

    class Watching:
        name = "watching"

        def on_error(self, data):
            origins.append(data.origin)

    p = play(
        say.done,
        tools=[make().tool],
        fallback=handed.append,
        on_event=on_event,
        extensions=[Watching()],
    )
    with pytest.raises(KeyError) as caught:
        await p.run()
    assert caught.value is error
    assert origins == ["event"]
    assert handed == []


async def test_a_factory_is_called_once_for_every_generation(say):  # 11
    from goliath_local.testing import fake_model

    replies = [f"Reply {n}." for n in range(4)]
    replies.insert(1, " ")
    made = []

    def factory():
        model = fake_model([{"text": replies.pop(0) if replies else "Goal: talk"}])
        made.append(model)
        return model

    agent = create_agent(model=factory)
    for _ in range(4):
        await agent.run("Hello")
    assert [call.label for model in made for call in model.calls] == ["answer"] * 5 + ["scribe"]
    assert len(made) == 6


async def test_a_raising_factory_is_a_model_error(reasons):  # 12
    def factory():
        raise RuntimeError("no weights")

    result = await create_agent(model=factory).run("Hello")
    assert reasons(result) == ["model-error"]
    assert result.trace[-1].error == "RuntimeError: no weights"


@pytest.mark.parametrize("model", [None, lambda: None])
async def test_no_model_escalates_and_the_fallback_is_called(model, reasons):  # 13
    result = await create_agent(model=model).run("Hello")
    assert reasons(result) == ["no-model"]
    assert (result.text, result.best_effort) == ("", False)
    asked = []

    def fallback(request):
        asked.append(request.reason)
        return "from afar"

    result = await create_agent(model=model, fallback=fallback).run("Hello")
    assert (result.text, result.handled_by) == ("from afar", "cloud")
    assert asked == ["no-model"]


async def test_a_back_end_that_cancels_keeps_its_exception(play, say):
    origins = []

    class Watching:
        name = "watching"

        def on_finish(self, data):
            origins.append((data.outcome.status, data.outcome.origin))

    error = RunCancelled("by the engine")
    p = play([say.error(error)], extensions=[Watching()])
    with pytest.raises(RunCancelled) as caught:
        await p.run()
    assert caught.value is error
    assert origins == [("aborted", "model")]


async def test_an_error_of_a_cancelled_run_is_the_cancellation(play, reasons):
    token = CancelToken()

    class Stopped:
        async def generate(self, _request):
            token.cancel("by the user")
            raise RuntimeError("aborted in native code")

    events = []
    agent = create_agent(model=Stopped(), on_event=events.append)
    with pytest.raises(RunCancelled, match="by the user"):
        await agent.run("Hello", cancel=token)
    assert [event for event in events if event.type == "escalate"] == []


class Cancelling:
    """A model that replies although it was told to stop, at one of its calls."""

    def __init__(self, token, at):
        self.token, self.at, self.calls = token, at, 0

    async def generate(self, _request):
        self.calls += 1
        if self.calls == self.at:
            self.token.cancel("too late")
        return Reply(text="Goal: said")


@pytest.mark.parametrize(("at", "stage"), [(1, "answer"), (2, "scribe")])
async def test_a_reply_to_a_cancelled_run_is_neither_said_nor_kept(at, stage):
    token = CancelToken()
    before = MemoryState(
        summary="Goal: old", recent=tuple(Exchange(ask="a", answer="b", at=n) for n in range(3))
    )
    memory, events = in_memory(before), []
    model = Cancelling(token, at)
    agent = create_agent(model=model, memory=memory, on_event=events.append)
    with pytest.raises(RunCancelled, match="too late"):
        await agent.run("Hello", cancel=token)
    assert [event.stage for event in events if event.type == "model"][-1] == stage
    assert bool([event for event in events if event.type == "answer"]) == (stage == "scribe")
    assert await memory.load() == before
