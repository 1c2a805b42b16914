"""Extensions in a turn: what each hook sees, may change, may decide, and what its failure does."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ExtensionError, RunCancelled
from goliath_local.extensions import HOOKS, Deny, Extension, Skip, Stop
from goliath_local.memory import in_memory
from goliath_local.records import Exchange, MemoryState

TITLE = {"title": {"type": "string"}}


@pytest.fixture
def write(say):
    return [say.tool("write"), say.json({"title": "eggs"}), *say.done]


async def test_hooks_run_in_order_of_registration_each_seeing_the_last_change(play):  # 172
    def adding(letter):
        return Extension(
            name=letter,
            before_run=lambda data: {"ask": data.ask + letter},
            after_answer=lambda data: {"text": data.text + letter},
        )

    p = play([{"text": "Hello "}], extensions=[adding("a"), adding("b"), adding("c")])
    result = await p.run("ask ")
    assert result.text == "Helloabc"
    assert "Request: ask abc" in p.calls[0].prompt


async def test_changing_what_a_hook_is_shown_changes_nothing(play, make, writer, say, write):
    # 173
    class Meddling:
        name = "meddling"

        def before_run(self, data):
            data.facts["today"] = "never"

        def after_recall(self, data):
            data.memory.recent[0].steps[0].output["id"] = "changed"

        def after_plan(self, data):
            for step in data.steps:
                step.output["id"] = "changed"

        def before_tool(self, data):
            data.input["title"] = "gold"

        def after_tool(self, data):
            data.input["title"] = "gold"
            data.outcome.output["id"] = "changed"

        def before_remember(self, data):
            data.exchange.steps[0].output["id"] = "changed"

        def on_finish(self, data):
            data.outcome.result.steps[0].output["id"] = "changed"
            data.outcome.result.trace[3].input = None

    memory = in_memory()
    recalled = []

    def note(_arguments, context):
        recalled.extend(exchange["steps"][0]["output"] for exchange in context.recent)
        return {"id": "p-1"}

    tool = make("write", note, TITLE, writes=True)
    p = play([*write, *write], tools=[tool.tool], memory=memory, facts={"today": "Tuesday"})
    await p.run()
    p = play(
        [*write, *write],
        tools=[tool.tool],
        memory=memory,
        facts={"today": "Tuesday"},
        extensions=[Meddling()],
    )
    result = await p.run()
    assert tool.ran[-1] == {"title": "eggs"}
    assert result.steps[0].input == {"title": "eggs"}
    assert result.steps[0].output == {"id": "p-1"}
    assert "today: Tuesday" in p.calls[0].system
    saved = await memory.load()
    assert [exchange.steps[0].output for exchange in saved.recent] == [{"id": "p-1"}] * 2
    assert recalled == [{"id": "p-1"}]
    assert len(result.diagnostics) == 1


async def test_state_is_private_to_extension_and_run_and_starts_empty(play):  # 174
    seen = []

    def counting(name):
        def start(data):
            seen.append((name, dict(data.run.state)))
            data.run.state["count"] = 1

        def end(data):
            seen.append((name, dict(data.run.state), data.run.run_id))

        return Extension(name=name, before_run=start, on_finish=end)

    p = play([{"text": "a"}, {"text": "b"}], extensions=[counting("x"), counting("y")])
    first = await p.run()
    second = await p.run()
    assert seen == [
        ("x", {}),
        ("y", {}),
        ("x", {"count": 1}, first.run_id),
        ("y", {"count": 1}, first.run_id),
        ("x", {}),
        ("y", {}),
        ("x", {"count": 1}, second.run_id),
        ("y", {"count": 1}, second.run_id),
    ]
    assert first.run_id != second.run_id


async def test_after_recall_changes_prompts_but_not_what_is_saved(play):  # 175
    memory = in_memory(MemoryState(summary="Goal: secret", recent=()))

    def forgetful(_data):
        return {"memory": {"summary": "Goal: other", "recent": []}}

    p = play(
        [{"text": "Hello."}],
        memory=memory,
        extensions=[Extension(name="f", after_recall=forgetful)],
    )
    result = await p.run()
    assert "secret" not in p.calls[0].prompt
    assert "Goal: other" in p.calls[0].prompt
    assert result.trace[0].summary == "Goal: other"
    assert (await memory.load()).summary == "Goal: secret"


async def test_before_plan_lists_intersect_and_cannot_bring_back(play, make, say):  # 176
    seen = []

    def wide(data):
        seen.append([tool.name for tool in data.tools])
        return {"tools": ["a", "b", "c", "unknown"], "context_text": "Second."}

    narrow = Extension(name="n", before_plan=lambda _d: {"tools": ["b"], "context_text": "First."})
    p = play(
        say.done,
        tools=[make(name).tool for name in "abc"],
        extensions=[narrow, Extension(name="w", before_plan=wide)],
    )
    await p.run()
    assert seen == [["b"]]
    [call] = p.asked("conductor")
    assert "- b:" in call.system
    assert "- a:" not in call.system
    assert call.schema["anyOf"][0]["properties"]["tool"]["enum"] == ["b"]
    assert call.system.endswith("\nSecond.")
    assert "First." not in call.system
    assert "Second." not in p.asked("answer")[0].system


async def test_narrowing_holds_for_one_attempt_only(play, make, say):  # 176
    def first_only(data):
        return {"tools": ["a"]} if data.attempt == 0 and not data.steps else None

    p = play(
        [say.text("?"), say.tool("b"), *say.done],
        tools=[make(name).tool for name in "ab"],
        extensions=[Extension(name="f", before_plan=first_only)],
    )
    result = await p.run()
    assert [step.tool for step in result.steps[:1]] == ["b"]


async def test_without_any_tool_left_the_plan_is_to_answer(play, make):  # 177
    seen = []
    p = play(
        [{"text": "Hello."}],
        tools=[make().tool],
        extensions=[
            Extension(
                name="none",
                before_plan=lambda _d: {"tools": []},
                after_plan=lambda data: seen.append((data.plan.kind, data.tools)),
            )
        ],
    )
    result = await p.run()
    assert [call.label for call in p.calls] == ["answer"]
    assert seen == [("answer", ())]
    assert [event.kind for event in result.trace if event.type == "plan"] == ["answer"]


async def test_attempt_is_zero_and_then_one(play, make, say):  # 178
    seen = []
    p = play(
        [say.text("?"), say.tool("look"), *say.done],
        tools=[make().tool],
        extensions=[
            Extension(
                name="a",
                before_plan=lambda data: seen.append(("before", data.attempt)),
                after_plan=lambda data: seen.append(("after", data.attempt)),
            )
        ],
    )
    await p.run()
    assert seen == [("before", 0), ("before", 1), ("after", 1), ("before", 0), ("after", 0)]


@pytest.mark.parametrize("name", ["fly", "__class__", "keys", "", None, ["look"]])
async def test_a_replacement_naming_no_available_tool_is_an_extension_error(
    play, make, say, name
):  # 179
    plan = {"kind": "tool", "tool": name, "brief": "x"}
    replacing = Extension(name="r", after_plan=lambda _d: {"plan": plan})
    p = play(say.done, tools=[make().tool], extensions=[replacing])
    with pytest.raises(ExtensionError) as caught:
        await p.run()
    assert (caught.value.extension, caught.value.phase) == ("r", "after_plan")


@pytest.mark.parametrize(
    "plan", [{"kind": "think", "brief": "x"}, {"kind": "answer"}, "answer", None, 3]
)
async def test_a_replacement_that_is_no_plan_is_an_extension_error(play, make, say, plan):  # 179
    replacing = Extension(name="r", after_plan=lambda _d: {"plan": plan})
    with pytest.raises(ExtensionError, match="after_plan"):
        await play(say.done, tools=[make().tool], extensions=[replacing]).run()


async def test_a_valid_replacement_is_carried_out_and_traced(play, make, say):  # 180
    def replace(data):
        if data.steps:
            return None
        return {"plan": {"kind": "tool", "tool": "look", "brief": "look first"}}

    tool = make()
    p = play(
        [say.answer, *say.done],
        tools=[tool.tool],
        extensions=[Extension(name="r", after_plan=replace)],
    )
    result = await p.run()
    assert len(tool.ran) == 1
    assert result.steps[0].brief == "look first"
    plans = [event for event in result.trace if event.type == "plan"]
    assert [(plan.kind, plan.tool) for plan in plans] == [("tool", "look"), ("answer", None)]


async def test_an_invalid_rewrite_is_an_extension_error_before_anything_runs(
    play, writer, write
):  # 181
    asked, handed = [], []
    p = play(
        write,
        tools=[writer.tool],
        extensions=[Extension(name="r", before_tool=lambda _d: {"input": {"title": 3}})],
        confirm=asked.append,
        fallback=handed.append,
    )
    with pytest.raises(ExtensionError, match="/title"):
        await p.run()
    assert (asked, handed, writer.ran) == ([], [], [])


async def test_deny_ends_the_chain_and_uses_up_a_step(play, writer, write):  # 182
    later, after = [], []
    denying = Extension(name="guard", before_tool=lambda _d: Deny("eggs are not allowed"))
    watching = Extension(name="w", before_tool=later.append, after_tool=after.append)
    p = play(write, tools=[writer.tool], extensions=[denying, watching])
    result = await p.run()
    step = result.steps[0]
    assert (step.skipped, step.skip_reason, step.extension) == (True, "policy", "guard")
    assert "guard" in step.result
    assert "eggs are not allowed" in step.result
    assert later == []
    [data] = after
    assert (data.outcome.status, data.outcome.reason, data.outcome.extension) == (
        "skipped",
        "policy",
        "guard",
    )
    assert writer.ran == []
    assert "step 2 of 5" in p.asked("conductor")[1].prompt


async def test_a_long_denial_is_clipped(play, writer, write):
    denying = Extension(name="guard", before_tool=lambda _d: Deny("no " * 500))
    result = await play(write, tools=[writer.tool], extensions=[denying]).run()
    assert len(result.steps[0].result) < 300


async def test_cached_candidates_pass_before_tool_and_a_rewrite_discards_them(
    play, make, say
):  # 183
    tool = make("find", lambda arguments, _c: arguments["word"], {"word": {"type": "string"}})
    seen = []

    def rewrite(data):
        seen.append(data.input["word"])
        return {"input": {"word": "other"}} if len(seen) == 2 else None

    call = [say.tool("find"), say.json({"word": "a"})]
    p = play(
        [*call, *call, *say.done],
        tools=[tool.tool],
        extensions=[Extension(name="r", before_tool=rewrite)],
    )
    result = await p.run()
    assert seen == ["a", "a"]
    assert [step.output for step in result.steps[:2]] == ["a", "other"]
    assert not result.steps[1].cached


async def test_a_parameterless_read_passes_before_tool_and_may_be_denied_though_cached(
    play, make, say
):  # 183
    seen = []

    def second_no(data):
        seen.append(data.input)
        return Deny("enough") if len(seen) == 2 else None

    p = play(
        [say.tool("look"), say.tool("look"), *say.done],
        tools=[make().tool],
        extensions=[Extension(name="r", before_tool=second_no)],
    )
    result = await p.run()
    assert seen == [{}, {}]
    assert [step.status for step in result.steps[:2]] == ["completed", "skipped"]


async def test_before_tool_comes_before_resolving(play, make, say):
    order = []

    def resolve(arguments, _context):
        order.append(("resolve", arguments["id"]))
        return {"id": "D1"}

    tool = make("open", properties={"id": {"type": "string"}}, resolve_input=resolve)
    first = Extension(name="f", before_tool=lambda d: order.append(("hook", d.input["id"])))
    script = [say.tool("open"), say.json({"id": "front"}), *say.done]
    await play(script, tools=[tool.tool], extensions=[first]).run()
    assert order == [("hook", "front"), ("resolve", "front")]
    assert tool.ran == [{"id": "D1"}]


async def test_after_tool_sees_the_raw_output_only_of_what_ran(play, make, say):  # 184
    thing = object()
    seen = []
    look = make("look", lambda _a, _c: {"thing": thing})
    bad = make("bad", RuntimeError("broken"))
    p = play(
        [say.tool("look"), say.tool("look"), say.tool("bad"), *say.done],
        tools=[look.tool, bad.tool],
        extensions=[Extension(name="s", after_tool=lambda data: seen.append(data.outcome))],
    )
    await p.run()
    ran, cached, failed = seen
    assert ran.output["thing"] is thing
    assert (cached.status, cached.from_step) == ("cached", 0)
    assert not hasattr(cached, "output")
    assert (failed.status, str(failed.error)) == ("failed", "broken")


async def test_after_tool_sees_earlier_steps_only(play, make, say):
    seen = []
    p = play(
        [say.tool("look"), say.tool("peek"), *say.done],
        tools=[make("look").tool, make("peek").tool],
        extensions=[
            Extension(name="s", after_tool=lambda d: seen.append([s.tool for s in d.steps]))
        ],
    )
    await p.run()
    assert seen == [[], ["look"]]


PHASES = ["before_run", "after_plan", "before_tool", "before_fallback", "after_answer"]


@pytest.mark.parametrize("phase", PHASES)
async def test_stop_ends_the_run_saves_nothing_and_on_finish_runs_once(
    play, writer, say, write, phase
):  # 185
    finished = []
    memory = in_memory()
    stopping = SimpleNamespace(
        name="stopper",
        on_finish=lambda data: finished.append((data.outcome.status, data.outcome.result.text)),
        **{phase: lambda _d: Stop("Not today.", "closed")},
    )
    script = [say.escalate] if phase == "before_fallback" else write
    p = play(
        script,
        tools=[writer.tool],
        memory=memory,
        fallback=lambda _r: "from afar",
        extensions=[stopping],
    )
    result = await p.run()
    assert result.text == "Not today."
    assert (result.stopped.extension, result.stopped.phase) == ("stopper", phase)
    assert result.stopped.reason == "closed"
    assert (result.handled_by, result.output, result.best_effort) == ("device", None, False)
    assert not [e for e in result.trace if e.type in {"answer", "remember"}]
    assert (await memory.load()).recent == ()
    assert finished == [("stopped", "Not today.")]
    assert len(writer.ran) == (phase == "after_answer")


@pytest.mark.parametrize("phase", ["after_recall", "before_plan", "after_tool", "before_remember"])
async def test_stop_anywhere_else_is_an_extension_error(play, writer, write, phase):  # 186
    stopping = SimpleNamespace(name="s", **{phase: lambda _d: Stop("no", "no")})
    with pytest.raises(ExtensionError) as caught:
        await play(write, tools=[writer.tool], extensions=[stopping]).run()
    assert caught.value.phase == phase


@pytest.mark.parametrize(
    ("phase", "decision"),
    [("before_run", Deny("x")), ("after_answer", Deny("x")), ("before_tool", Skip())],
)
async def test_deny_and_skip_belong_to_one_hook_each(play, writer, write, phase, decision):
    wrong = SimpleNamespace(name="s", **{phase: lambda _d: decision})
    with pytest.raises(ExtensionError, match=type(decision).__name__):
        await play(write, tools=[writer.tool], extensions=[wrong]).run()


async def test_redacting_the_request_touches_neither_steps_nor_memory(play, make, say):  # 187
    from dataclasses import replace

    got = []
    memory = in_memory()

    def redact(data):
        assert data.request.steps[0].output == {"iban": "DE1"}
        return {"request": replace(data.request, ask="(hidden)", steps=())}

    look = make("look", {"iban": "DE1"})
    p = play(
        [say.tool("look"), say.escalate],
        tools=[look.tool],
        memory=memory,
        fallback=lambda request: got.append(request) or "done",
        extensions=[Extension(name="r", before_fallback=redact)],
    )
    result = await p.run("my IBAN is DE1")
    assert (got[0].ask, got[0].steps) == ("(hidden)", ())
    assert result.steps[0].output == {"iban": "DE1"}
    [exchange] = (await memory.load()).recent
    assert exchange.ask == "my IBAN is DE1"
    assert exchange.steps[0].output == {"iban": "DE1"}


async def test_a_request_may_come_back_as_stored_json(play, make, say):  # 187
    from goliath_local.records import to_json

    got = []

    def redact(data):
        request = to_json(data.request)
        request["ask"] = "(hidden)"
        return {"request": request}

    p = play(
        [say.tool("look"), say.escalate],
        tools=[make("look", [1, 2], output_mode="content").tool],
        fallback=lambda request: got.append(request) or "done",
        extensions=[Extension(name="r", before_fallback=redact)],
    )
    result = await p.run()
    assert got[0].ask == "(hidden)"
    assert got[0].steps == result.steps


@pytest.mark.parametrize(
    "change",
    [{"reason": "tool-error"}, {"ask": 3}, {"extra": 1}, {"steps": None}, {"recent": [1]}],
)
async def test_a_request_with_another_reason_or_form_is_an_extension_error(
    play, make, say, change
):  # 188
    from goliath_local.records import to_json

    def spoil(data):
        return {"request": {**to_json(data.request), **change}}

    handed = []
    p = play(
        [say.escalate],
        tools=[make().tool],
        fallback=handed.append,
        extensions=[Extension(name="r", before_fallback=spoil)],
    )
    with pytest.raises(ExtensionError, match="before_fallback"):
        await p.run()
    assert handed == []


async def test_a_blank_replacement_of_the_text_is_an_extension_error(play):  # 189
    blanking = Extension(name="b", after_answer=lambda _d: {"text": "  "})
    p = play([{"text": "Hello."}], extensions=[blanking])
    with pytest.raises(ExtensionError, match="blank"):
        await p.run()
    assert len(p.calls) == 1


@pytest.mark.parametrize("skip", [Skip, Skip()])
async def test_skip_saves_nothing_and_later_hooks_do_not_run(play, skip):  # 190
    later = []
    memory = in_memory()
    p = play(
        [{"text": "Hello."}],
        memory=memory,
        extensions=[
            Extension(name="s", before_remember=lambda _d: skip),
            Extension(name="l", before_remember=later.append),
        ],
    )
    result = await p.run()
    assert result.text == "Hello."
    assert not [e for e in result.trace if e.type == "remember"]
    assert (later, (await memory.load()).recent) == ([], ())


async def test_oversized_memory_from_a_hook_is_clipped(play):  # 191
    from goliath_local.budget import estimate_tokens

    memory = in_memory()
    many = [{"ask": f"ask {n}", "answer": "a", "at": n} for n in range(9)]

    def swell(_data):
        return {"memory": {"summary": "word " * 5000, "recent": many}}

    p = play(
        [{"text": "Hello."}],
        memory=memory,
        extensions=[Extension(name="s", before_remember=swell)],
    )
    await p.run()
    saved = await memory.load()
    assert 400 < estimate_tokens(saved.summary) <= 512
    assert [exchange.ask for exchange in saved.recent] == ["ask 6", "ask 7", "ask 8"]


async def test_before_remember_sees_the_exchange_that_is_added(play):
    seen = []
    p = play(
        [{"text": "Hello."}],
        extensions=[
            Extension(name="s", before_remember=lambda d: seen.append((d.exchange, d.memory)))
        ],
    )
    await p.run("Good morning")
    [(exchange, memory)] = seen
    assert (exchange.ask, exchange.answer) == ("Good morning", "Hello.")
    assert memory.recent == (exchange,)


async def test_on_finish_runs_for_every_kind_of_end(play, make):  # 192
    seen = []

    def finishing(**hooks):
        return Extension(name="f", on_finish=lambda d: seen.append(d.outcome.status), **hooks)

    await play([{"text": "Hello."}], extensions=[finishing()]).run()
    stop = finishing(before_run=lambda _d: Stop("no", "no"))
    await play([], extensions=[stop]).run()
    with pytest.raises(ExtensionError):
        await play([], extensions=[finishing(before_run=lambda _d: 1)]).run()
    token = CancelToken()
    token.cancel()
    with pytest.raises(RunCancelled):
        await play([], extensions=[finishing()]).run(cancel=token)
    assert seen == ["completed", "stopped", "error", "aborted"]


async def test_a_refused_run_is_completed(play, make, say):
    from goliath_local.errors import ModelRefused

    seen = []
    p = play(
        [say.error(ModelRefused("no"))],
        extensions=[Extension(name="f", on_finish=lambda d: seen.append(d.outcome.status))],
    )
    await p.run()
    assert seen == ["completed"]


async def test_a_raising_observer_changes_nothing_and_is_noted(play):  # 193
    seen = []
    error = ValueError("observer")

    def fail(_data):
        raise error

    p = play(
        [{"text": "Hello."}],
        extensions=[
            Extension(name="a", on_finish=fail),
            Extension(name="b", on_finish=lambda d: seen.append(d.diagnostics)),
        ],
    )
    result = await p.run()
    assert result.text == "Hello."
    [diagnostic] = result.diagnostics
    assert (diagnostic.extension, diagnostic.phase) == ("a", "on_finish")
    assert diagnostic.error is error
    assert seen == [result.diagnostics]


async def test_failures_of_on_error_are_seen_by_on_finish_and_the_error_stays(play):  # 193
    seen = []

    def fail(_data):
        raise ValueError("observer")

    def facts():
        raise LookupError("no clock")

    p = play(
        [],
        facts=facts,
        extensions=[
            Extension(name="a", on_error=fail),
            Extension(name="b", on_finish=lambda d: seen.append(d.diagnostics)),
        ],
    )
    with pytest.raises(LookupError, match="no clock"):
        await p.run()
    [[diagnostic]] = seen
    assert (diagnostic.extension, diagnostic.phase) == ("a", "on_error")


async def test_an_already_cancelled_run_calls_on_error_and_on_finish_only(play, make):  # 194
    called = []
    token = CancelToken()
    token.cancel("before")
    hooks = {name: lambda _d, name=name: called.append(name) for name in HOOKS}
    windows = []
    p = play(
        [],
        tools=[make().tool],
        window=lambda: windows.append(1) or 4096,
        facts=lambda: called.append("facts") or {},
        extensions=[SimpleNamespace(name="all", **hooks)],
    )
    with pytest.raises(RunCancelled, match="before"):
        await p.run(cancel=token)
    assert called == ["on_error", "on_finish"]
    assert windows == []


RETURNS = {
    "before_run": [{"question": "x"}, {"ask": 3}, {"facts": {"a": 1}}, {"facts": "x"}],
    "after_recall": [{"memory": None}, {"memory": {"summary": 3, "recent": []}}, {}],
    "before_plan": [{"menu": []}, {"tools": "look"}, {"context_text": None}],
    "after_plan": [{"plans": {}}, {}],
    "before_tool": [{"arguments": {}}, {}],
    "after_tool": [{"result": 3}, {"output": "x"}],
    "after_answer": [{"text": 3}, {"answer": "x"}],
    "before_remember": [{"memory": {"summary": "", "recent": [{"ask": "x"}]}}, {"summary": ""}],
}


@pytest.mark.parametrize(
    ("phase", "returned"),
    [
        (phase, returned)
        for phase, values in RETURNS.items()
        for returned in [*values, "text", 3, True, ["a"]]
    ],
)
async def test_returns_of_no_known_form_are_extension_errors(
    play, writer, write, phase, returned
):  # 195
    wrong = SimpleNamespace(name="wrong", **{phase: lambda _d: returned})
    with pytest.raises(ExtensionError) as caught:
        await play(write, tools=[writer.tool], extensions=[wrong]).run()
    assert (caught.value.extension, caught.value.phase) == ("wrong", phase)


@pytest.mark.parametrize("phase", [h for h in HOOKS if not h.startswith("on_")])
async def test_a_raising_hook_rejects_with_its_cause_and_is_not_handed_over(
    play, writer, say, write, phase
):
    error = ZeroDivisionError("hook")
    handed, origins = [], []

    async def fail(_data):
        raise error

    raising = SimpleNamespace(
        name="raising", on_error=lambda d: origins.append(d.origin), **{phase: fail}
    )
    script = [say.escalate] if phase == "before_fallback" else write
    p = play(script, tools=[writer.tool], fallback=handed.append, extensions=[raising])
    with pytest.raises(ExtensionError) as caught:
        await p.run()
    assert caught.value.cause is error
    assert caught.value.__cause__ is error
    assert origins == ["extension"]
    assert handed == []


@pytest.mark.parametrize("phase", [h for h in HOOKS if not h.startswith("on_")])
async def test_cancelling_in_any_hook_stops_the_run_there(play, writer, say, write, phase):
    token = CancelToken()
    status = []

    def cancel(_data):
        token.cancel("enough")

    cancelling = SimpleNamespace(
        name="c", on_finish=lambda d: status.append(d.outcome.status), **{phase: cancel}
    )
    script = [say.escalate] if phase == "before_fallback" else write
    handed = []
    p = play(script, tools=[writer.tool], fallback=handed.append, extensions=[cancelling])
    with pytest.raises(RunCancelled, match="enough"):
        await p.run(cancel=token)
    assert status == ["aborted"]
    assert handed == []


async def test_extensions_alone_add_no_calls_and_no_tokens(play, writer, write):
    quiet = [SimpleNamespace(name=name) for name in "abc"]
    plain = play(write, tools=[writer.tool])
    with_them = play(write, tools=[writer.tool], extensions=quiet)
    await plain.run()
    await with_them.run()

    def said(p):
        return [(c.system, c.prompt, c.schema) for c in p.calls]

    assert said(plain) == said(with_them)


async def test_before_run_changes_ask_instructions_and_facts_by_key(play):
    changing = Extension(
        name="c",
        before_run=lambda _d: {
            "ask": "new ask",
            "instructions": "Be Bo.",
            "facts": {"today": "Friday", "place": "Oslo"},
        },
    )
    memory = in_memory()
    p = play(
        [{"text": "Hello."}],
        memory=memory,
        facts={"today": "Tuesday", "user": "Ada"},
        extensions=[changing],
    )
    await p.run("old ask")
    [call] = p.calls
    assert call.system.startswith("Be Bo.")
    assert "today: Friday\nuser: Ada\nplace: Oslo" in call.system
    assert "old ask" not in call.prompt
    assert (await memory.load()).recent[0].ask == "new ask"


async def test_a_tool_that_fails_in_between_leaves_provisional_records_to_observers(
    play, make, say
):
    seen = []

    def boom(_request):
        raise RuntimeError("ui gone")

    p = play(
        [say.tool("look"), say.tool("wipe"), *say.done],
        tools=[make("look").tool, make("wipe", writes=True).tool],
        confirm=boom,
        extensions=[Extension(name="w", on_error=lambda d: seen.append((d.steps, d.trace)))],
    )
    with pytest.raises(RuntimeError, match="ui gone"):
        await p.run()
    [(steps, trace)] = seen
    assert [step.tool for step in steps] == ["look"]
    assert [event.type for event in trace][-1] == "plan"


async def test_exchanges_of_a_hook_keep_what_is_sound_and_drop_unknown_keys(play):
    exchange = {
        "ask": "a",
        "answer": "b",
        "at": 5,
        "bestEffort": True,
        "mood": "good",
        "steps": [
            {
                "index": 0,
                "kind": "tool",
                "brief": "x",
                "tool": "look",
                "skipReason": "policy",
                "skipped": True,
                "colour": "red",
            }
        ],
    }
    seen = []
    p = play(
        [{"text": "Hello."}],
        extensions=[
            Extension(
                name="a",
                after_recall=lambda _d: {"memory": {"summary": "", "recent": [exchange]}},
            ),
            Extension(name="b", after_recall=lambda d: seen.append(d.memory.recent[0])),
        ],
    )
    await p.run()
    [kept] = seen
    assert isinstance(kept, Exchange)
    assert kept.best_effort
    assert kept.steps[0].skip_reason == "policy"
