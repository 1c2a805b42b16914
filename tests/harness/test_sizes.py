"""Budgets as a turn meets them."""

from __future__ import annotations

import pytest

from goliath_local.errors import BudgetError, ConfigError
from goliath_local.memory import in_memory
from goliath_local.records import Exchange, MemoryState
from tests.harness.counting import Counting


def budgets(result):
    return [event for event in result.trace if event.type == "budget"]


async def test_every_model_call_emits_one_budget_event_and_one_of_its_cost(play, writer, say):
    # 150
    script = [say.tool("write"), say.text("?"), say.json({"title": "x"}), *say.done]
    p = play(script, tools=[writer.tool])
    result = await p.run()
    assert [event.label for event in budgets(result)] == [call.label for call in p.calls]
    models = [event.stage for event in result.trace if event.type == "model"]
    assert models == [call.label for call in p.calls]
    for event, call in zip(budgets(result), p.calls, strict=True):
        assert 0 < event.tokens <= event.limit == 2867
        assert (event.source, event.window) == ("estimate", 4096)
        assert event.output_cap == call.output_cap
        assert event.report["tokens"] == event.tokens


async def test_caps_are_256_512_384_and_192(play, writer, say):  # 149
    script = [say.tool("write"), say.json({"title": "x"}), *say.done]
    p = play([*script, *say.done * 3, say.text("Goal: x")], tools=[writer.tool])
    for _ in range(4):
        await p.run()
    caps = {call.label: call.output_cap for call in p.calls}
    assert caps == {"conductor": 256, "worker": 512, "answer": 384, "scribe": 192}


async def test_a_counter_is_asked_for_whole_prompts(play, make, say):  # 151 152
    seen = []

    def count(text):
        seen.append(text)
        return 100

    p = play(say.done, tools=[make().tool], count_tokens=count)
    result = await p.run("Water the basil")
    assert [(event.tokens, event.source) for event in budgets(result)] == [(108, "tokenizer")] * 2
    text = next(text for text in seen if "Choose the next step." in text)
    assert p.calls[0].system in text
    assert p.calls[0].prompt in text
    assert '"anyOf"' in text


async def test_a_counter_may_be_async(play, make, say):
    import asyncio

    async def count(text):
        await asyncio.sleep(0)
        return len(text) // 4

    read = make("read", "word " * 5000, output_mode="content")
    p = play([say.tool("read"), *say.done], tools=[read.tool], count_tokens=count)
    result = await p.run()
    assert {event.source for event in budgets(result)} == {"tokenizer"}
    assert len(result.steps[0].result) // 4 <= 512
    assert result.text == "All done."


@pytest.mark.parametrize("bad", [-1, 1.5, float("nan"), float("inf"), None, "many"])
async def test_a_counter_that_fails_or_lies_is_a_model_error_before_any_call(
    play, make, reasons, bad
):  # 153
    def count(_text):
        if bad is None:
            raise RuntimeError("no tokenizer")
        return bad

    p = play([], tools=[make().tool], count_tokens=count)
    result = await p.run()
    assert reasons(result) == ["model-error"]
    assert p.calls == []


async def test_a_counter_that_fails_on_a_tool_result_is_a_model_error_too(
    play, make, say, reasons
):
    def count(text):
        if text.startswith("word"):
            raise RuntimeError("tokenizer gone")
        return 10

    read = make("read", "word " * 50, output_mode="content")
    p = play([say.tool("read"), *say.done], tools=[read.tool], count_tokens=count)
    result = await p.run()
    assert reasons(result) == ["model-error"]
    assert len(read.ran) == 1
    assert result.steps[0].output.startswith("word")


async def test_an_ask_that_cannot_fit_escalates_uncut_and_without_a_call(play, make, reasons):
    # 154
    handed = []

    def fallback(request):
        handed.append(request.ask)
        return "from afar"

    ask = "x" * 30_000
    p = play([], tools=[make().tool], fallback=fallback)
    result = await p.run(ask)
    assert reasons(result) == ["context-budget"]
    assert handed == [ask]
    assert p.calls == []
    [event] = budgets(result)
    assert event.tokens > event.limit
    assert event.report["failedPart"] == "ask"
    [escalated] = [event for event in result.trace if event.type == "escalate"]
    assert f"{event.limit:,} of 4,096" in escalated.error


async def test_an_ask_of_12000_characters_fails_at_4096_and_passes_at_8192(
    play, make, say, reasons
):
    # 155
    ask = "x" * 12_000
    p = play([], tools=[make().tool])
    assert reasons(await p.run(ask)) == ["context-budget"]
    p = play(say.done, tools=[make().tool], window=8192, built_in_examples=True)
    assert reasons(await p.run(ask)) == []


async def test_with_an_extension_the_same_ask_rejects_and_is_not_handed_over(play, make):  # 156
    seen, handed = [], []

    class Watching:
        name = "watching"

        def on_error(self, data):
            seen.append(("error", data.origin))

        def on_finish(self, data):
            seen.append(("finish", data.outcome.status))

    p = play([], tools=[make().tool], extensions=[Watching()], fallback=handed.append)
    with pytest.raises(BudgetError) as caught:
        await p.run("x" * 30_000)
    assert (caught.value.phase, caught.value.limit) == ("conductor", 2867)
    assert caught.value.tokens > 2867
    assert seen == [("error", "budget"), ("finish", "error")]
    assert handed == []
    assert p.calls == []


async def test_with_an_extension_an_overlong_best_effort_rejects_likewise(play):
    from types import SimpleNamespace

    p = play([], max_steps=0, extensions=[SimpleNamespace(name="quiet")])
    with pytest.raises(BudgetError) as caught:
        await p.run("x" * 30_000)
    assert caught.value.phase == "answer"


async def test_without_one_an_overlong_best_effort_is_an_empty_text(play, reasons):
    result = await play([], max_steps=0).run("x" * 30_000)
    assert reasons(result) == ["too-many-steps"]
    assert (result.text, result.best_effort) == ("", True)


async def test_shortening_a_prompt_never_changes_the_records(play, make, say):  # 157 158
    page = "first line\n" + "second line\n" * 45
    look = make("look", lambda a, _c: page, {"at": {"type": "integer"}})
    script = [item for at in range(4) for item in (say.tool("look"), say.json({"at": at}))]
    p = play([*script, *say.done], tools=[look.tool], window=1024)
    result = await p.run()
    trimmed = [event.trimmed for event in budgets(result) if event.label == "conductor"]
    assert "older-results" in trimmed[-1]
    last = p.asked("conductor")[-1].prompt
    assert '1. look({"at":0}) [completed] → first line\n' in last
    assert "second line" in last.partition("4. look")[2]
    assert all("second line" in step.result for step in result.steps if step.kind == "tool")


async def test_recent_then_brief_then_examples_are_given_up(play, make, say):  # 159
    recent = tuple(Exchange(ask=f"ask {n} " * 9, answer="fine", at=n) for n in range(3))
    state = MemoryState(summary="Goal: " + "plants " * 40, recent=recent)
    example = {"ask": "Is it dry? " * 30, "steps": [{"answer": "say so"}]}
    ladder = []
    for size in range(0, 4000, 100):
        p = play(
            [*say.done, say.text("")],
            tools=[make().tool],
            memory=in_memory(state),
            examples=[example],
            facts={"fact": "x" * size},
            window=2048,
        )
        [budget, *_] = budgets(await p.run())
        if budget.trimmed not in ladder:
            ladder.append(budget.trimmed)
        for name in budget.trimmed:
            assert budget.report["byPart"].get(name, 0) == 0
    assert ladder == [(), ("recent",), ("recent", "brief"), ("recent", "brief", "examples")]


async def test_oversized_facts_escalate_and_are_not_cut(play, make, say, reasons):  # 160
    p = play([], tools=[make().tool], facts={"fact": "x" * 20_000})
    assert reasons(await p.run()) == ["context-budget"]
    assert p.calls == []


async def test_a_worker_prompt_over_its_limit_asks_and_runs_nothing(play, make, say, reasons):
    # 161
    asked = []
    wide = {f"field_{n}": {"type": "string", "description": "d" * 90} for n in range(120)}
    tool = make("fill", properties=wide, required=[], writes=True)
    p = play([say.tool("fill")], tools=[tool.tool], confirm=asked.append)
    assert reasons(await p.run()) == ["context-budget"]
    assert asked == []
    assert tool.ran == []


async def test_older_content_makes_room_and_records_keep_it(play, make, say):  # 164
    read = make(
        "read",
        lambda a, _c: f"page {a['at']} " * 100,
        {"at": {"type": "integer"}},
        output_mode="content",
    )
    script = [item for at in range(4) for item in (say.tool("read"), say.json({"at": at}))]
    p = play([*script, *say.done], tools=[read.tool], budgets={"retrieved_context_tokens": 520})
    result = await p.run()
    prompt = p.asked("answer")[0].prompt
    assert prompt.count("left out here for room") == 2
    assert "page 3 page 3" in prompt
    assert "page 0 page 0" not in prompt
    assert all(step.result.startswith("page") for step in result.steps if step.kind == "tool")


@pytest.mark.parametrize(
    "bad",
    [
        {"tool_result_tokens": 0},
        {"tool_result_tokens": 1.5},
        {"tool_result_tokens": 900, "retrieved_context_tokens": 800},
        {"tool_results": 3},
    ],
)
async def test_budgets_that_make_no_sense_are_refused_at_creation_or_with_the_window(play, bad):
    # 165
    with pytest.raises(ConfigError, match="budgets"):
        play([], budgets=bad)
    p = play([], budgets=bad, window=lambda: 4096)
    with pytest.raises(ConfigError, match="budgets"):
        await p.run()


def _offered(call):
    shapes = call.schema.get("anyOf", ())
    menus = [shape["properties"].get("tool", {}).get("enum", []) for shape in shapes]
    return max(menus, key=len, default=[])


async def test_a_model_with_a_tokenizer_counts_everything_itself(play, make, say):
    model = Counting([say.tool("look"), *say.done])
    p = play([], tools=[make().tool], model=model)
    result = await p.run()
    for event, call in zip(budgets(result), model.fake.calls, strict=True):
        assert event.source == "tokenizer"
        assert event.tokens == model.count_request(call.request).total
        assert sum(event.report["byPart"].values()) == event.tokens


async def test_a_model_with_a_tokenizer_is_offered_only_what_can_help_now(play, make, writer, say):
    look, find = make("look"), make("find")
    use = make("use", requires=("find",))
    write = [say.tool("write"), say.json({"title": "x"})]
    script = [say.tool("look"), *write, say.text("All done.")]
    model = Counting(script)
    tools = [look.tool, find.tool, use.tool, writer.tool]
    await play([], tools=tools, model=model).run()
    offered = [_offered(call) for call in model.fake.calls if call.label == "conductor"]
    assert offered == [
        ["look", "find", "use", "write"],
        ["find", "use", "write"],
    ]
    assert all("- use:" in c.system for c in model.fake.calls if c.label == "conductor")


async def test_with_nothing_left_to_offer_no_plan_is_asked_for(play, make, say):
    model = Counting([say.tool("look"), say.text("Two pots.")])
    result = await play([], tools=[make().tool], model=model).run()
    assert [call.label for call in model.fake.calls] == ["conductor", "answer"]
    assert result.text == "Two pots."
