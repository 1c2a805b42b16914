"""The harness on a real, tiny model: what is counted, what is constrained, what is shared."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from goliath_local.agent import create_agent
from goliath_local.model import Part, Request, Stage
from goliath_local.prompts import render
from goliath_local.schema import narrowed

pytestmark = [pytest.mark.model, pytest.mark.slow]

# Short answers and few steps: a tiny model never stops by itself.
SHORT = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}},
    "required": ["mood"],
}
WORD = {"word": {"type": "string", "maxLength": 20}}


@pytest.fixture(scope="module")
def tiny(weights):
    from goliath_local.engine import EngineSettings, load_model

    with load_model(weights("smollm2-135m"), settings=EngineSettings(deterministic=True)) as model:
        yield model


@pytest.fixture
def agent_of(tiny, make):
    def agent(**options):
        tools = [
            make("look", "three red pots").tool,
            make("find", "found", WORD).tool,
            make("write", {"ok": True}, WORD, writes=True).tool,
        ]
        usual = {"output_schema": SHORT, "max_steps": 2, "built_in_examples": False}
        return create_agent(model=tiny, tools=tools, **{**usual, **options})

    return agent


@pytest.mark.parametrize(
    ("texts", "most"),
    [
        ([render("shared.persona"), render("conductor.task", max_steps=5)], 140),
        ([render("shared.persona"), render("worker.rules", missing="missing")], 80),
        ([render("shared.persona"), render("answer.prose")], 40),
        ([render("shared.persona"), render("answer.structured")], 40),
        ([render("shared.persona"), render("answer.best-effort-prose")], 70),
        ([render("shared.persona"), render("answer.best-effort-structured")], 70),
        ([render("scribe.task")], 140),
        ([render("conductor.invalid", names="")], 50),
        ([render("answer.blank")], 50),
        ([render("answer.invalid", problem="")], 50),
        ([render("worker.invalid", problem="")], 50),
    ],
)
def test_fixed_texts_stay_under_their_sizes_by_a_real_tokenizer(tiny, texts, most):
    assert tiny.count_text("\n".join(texts)) <= most


async def test_what_is_counted_is_what_is_evaluated_in_every_call(agent_of):
    agent = agent_of(facts={"today": "Tuesday"})
    seen = 0
    for ask in ("How many pots are there?", "Write 'basil' down."):
        result = await agent.run(ask)
        counted = [event for event in result.trace if event.type == "budget"]
        evaluated = [event for event in result.trace if event.type == "model"]
        assert [e.tokens for e in counted] == [e.usage.prompt_tokens for e in evaluated]
        assert all(event.source == "tokenizer" for event in counted)
        assert all(event.tokens <= event.limit for event in counted)
        assert all(sum(event.report["byPart"].values()) == event.tokens for event in counted)
        seen += len(counted)
    assert seen >= 4


async def test_constrained_plans_and_arguments_are_never_rejected(agent_of):
    agent = agent_of()
    for ask in ("Find the fern.", "Do everything at once!"):
        result = await agent.run(ask)
        retries = [event.stage for event in result.trace if event.type == "retry"]
        assert set(retries) <= {"answer"}
        plans = [event for event in result.trace if event.type == "plan"]
        calls = [event for event in result.trace if event.type == "model"]
        asked = [plan for plan in plans if plan.choices]
        # Where something else is likelier wanted, the first plan is asked for with that.
        again = [event.stage for event in calls].count("conductor") - len(asked)
        assert asked
        assert again in {0, 1}
        for plan in plans:
            assert (plan.tool is not None) == (plan.kind == "tool")
        for plan in asked:
            # The first plan says what is wanted; those after it say why.
            assert plan.why or plan.index == 0
            assert 0 < plan.confidence <= 1


async def test_a_later_plan_evaluates_only_what_is_new(agent_of):
    agent = agent_of()
    await agent.run("Hello")
    result = await agent.run("Find the fern.")
    first = next(event for event in result.trace if event.type == "model")
    assert first.usage.evaluated_tokens < first.usage.prompt_tokens / 2


def test_many_threads_get_what_one_alone_gets(agent_of):
    """dspy#9640, llama-cpp-python#471: two threads in one model."""
    alone = agent_of().run_sync("Find the fern.").text
    agent = agent_of()
    texts = []

    def work(name):
        texts.append(agent.run_sync("Find the fern.", conversation_id=name).text)

    threads = [threading.Thread(target=work, args=(f"c{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert texts == [alone] * 8


async def test_the_pieces_of_a_stream_are_the_answer(agent_of):
    stream = agent_of().stream("Hello")
    items = [item async for item in stream]
    result = await stream.result()
    assert "".join(item.text for item in items if item.type == "text") == result.text
    fields = {item.name: item.value for item in items if item.type == "field"}
    assert fields == result.output


async def test_three_conversations_at_once_keep_apart(agent_of):
    agent = agent_of()
    asks = {"a": "My name is Ada.", "b": "My name is Bo.", "c": "My name is Cy."}
    await asyncio.gather(*(agent.run(ask, conversation_id=key) for key, ask in asks.items()))
    results = await asyncio.gather(*(agent.run("Hello", conversation_id=key) for key in asks))
    assert all(result.trace[0].recent == 1 for result in results)


def test_under_a_narrowed_schema_the_model_goes_on_behind_what_was_sound(tiny):
    words = {"type": "string", "maxLength": 12}
    schema = {
        "type": "object",
        "properties": {"first": words, "second": words},
        "required": ["first", "second"],
    }

    def said(wanted):
        request = Request(
            stage=Stage.WORKER,
            system=(),
            user=(Part(name="ask", text="Name two fruits as JSON."),),
            schema=wanted,
            max_tokens=60,
        )
        return asyncio.run(tiny.generate(request))

    before = json.loads(said(schema).text)
    after = said(narrowed(schema, before, "/second"))
    value = json.loads(after.text)
    assert value["first"] == before["first"]
    assert value["second"] != before["second"]
    assert after.usage.forced_tokens > 0
