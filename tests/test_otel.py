"""Turns as spans, read back from the SDK's own exporter."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import StatusCode

from goliath_local import CancelToken, create_agent, define_tool, tool
from goliath_local.errors import RunCancelled
from goliath_local.otel import traced
from goliath_local.testing import fake_model


def plan(kind: str, name: str | None = None) -> dict[str, Any]:
    return {"json": {"why": "w", "kind": kind, "brief": "b"} | ({"tool": name} if name else {})}


@tool
def temperature(room: str) -> float:
    """Read the thermometer of a room."""
    return 21.5


SCRIPT = [
    plan("tool", "temperature"),
    {"json": {"room": "kitchen"}},
    plan("answer"),
    {"text": "21.5 degrees."},
]


class Spans:
    """An exporter, and what is in it."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    @property
    def all(self) -> list[ReadableSpan]:
        return sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, operation: str) -> list[dict[str, Any]]:
        return [
            dict(span.attributes or {})
            for span in self.all
            if (span.attributes or {})["gen_ai.operation.name"] == operation
        ]


@pytest.fixture
def spans() -> Spans:
    return Spans()


def agent(spans: Spans, script: list[Any], **options: Any) -> Any:
    about = {key: options.pop(key) for key in ("content", "model") if key in options}
    made = create_agent(model=fake_model(script), tools=[temperature], **options)
    return traced(made, tracer_provider=spans.provider, **about)


async def test_a_turn_is_a_tree_of_one_turn_its_questions_and_its_tools(spans: Spans) -> None:
    result = await agent(spans, SCRIPT, model="tiny").run("How warm?", conversation_id="hall")
    assert result.text == "21.5 degrees."
    names = [span.name for span in spans.all]
    assert names[0] == "invoke_agent goliath-local"
    assert names.count("chat tiny") == 4
    assert names.count("execute_tool temperature") == 1
    root = spans.all[0]
    assert {span.parent.span_id for span in spans.all[1:] if span.parent} == {root.context.span_id}
    assert all((span.end_time or 0) >= (span.start_time or 0) for span in spans.all)


async def test_a_turn_says_which_conversation_and_what_came_of_it(spans: Spans) -> None:
    await agent(spans, SCRIPT).run("How warm?", conversation_id="hall")
    [turn] = spans.named("invoke_agent")
    assert turn["gen_ai.conversation.id"] == "hall"
    assert turn["gen_ai.agent.name"] == "goliath-local"
    assert turn["gen_ai.provider.name"] == "llama.cpp"
    assert turn["goliath.handled_by"] == "device"
    assert turn["goliath.steps"] == 2
    assert turn["gen_ai.response.finish_reasons"] == ("stop",)
    stages = [question["goliath.stage"] for question in spans.named("chat")]
    assert stages == ["conductor", "worker", "conductor", "answer"]
    [called] = spans.named("execute_tool")
    assert (called["gen_ai.tool.name"], called["goliath.tool.status"]) == (
        "temperature",
        "completed",
    )


async def test_names_are_those_of_the_conventions(spans: Spans) -> None:
    await agent(spans, SCRIPT, content=True, model="tiny").run("How warm?", conversation_id="h")
    known = {value for name, value in vars(gen_ai_attributes).items() if name.isupper()}
    used = {key for span in spans.all for key in span.attributes or {}}
    assert {key for key in used if not key.startswith("goliath.")} <= known | {"error.type"}
    assert len(used & known) >= 14


async def test_no_text_is_in_a_span_unless_it_is_asked_for(spans: Spans) -> None:
    await agent(spans, SCRIPT).run("Secret ask", conversation_id=None)
    told = " ".join(span.to_json() for span in spans.all)
    for text in ("Secret", "kitchen", "21.5"):
        assert text not in told


async def test_texts_that_are_asked_for_are_there(spans: Spans) -> None:
    await agent(spans, SCRIPT, content=True).run("How warm?")
    [turn], [called] = spans.named("invoke_agent"), spans.named("execute_tool")
    [said] = json.loads(turn["gen_ai.output.messages"])
    assert said == {"role": "assistant", "parts": [{"type": "text", "content": "21.5 degrees."}]}
    assert json.loads(called["gen_ai.tool.call.arguments"]) == {"room": "kitchen"}
    assert called["gen_ai.tool.call.result"] == "21.5"


async def test_a_failed_tool_and_an_escalation_are_marked(spans: Spans) -> None:
    def broken(_given: Any, _context: Any) -> None:
        raise OSError("no sensor")

    tools = [define_tool(name="temperature", description="Read it.", execute=broken)]
    model = fake_model([plan("tool", "temperature"), {"error": RuntimeError("native")}])
    made = traced(create_agent(model=model, tools=tools), tracer_provider=spans.provider)
    result = await made.run("How warm?")
    [called] = spans.named("execute_tool")
    assert called["error.type"] == "tool-error"
    failed = [question for question in spans.named("chat") if "error.type" in question]
    assert [question["error.type"] for question in failed] == ["model-error"]
    [turn] = spans.named("invoke_agent")
    assert turn["goliath.reason"] == result.reason == "model-error"
    events = [event.name for event in spans.all[0].events]
    assert {"goliath.plan", "goliath.escalate"} <= set(events)


async def test_a_turn_that_raises_ends_its_span_with_the_error(spans: Spans) -> None:
    token = CancelToken()
    token.cancel("enough")
    with pytest.raises(RunCancelled):
        await agent(spans, SCRIPT).run("How warm?", cancel=token)
    [turn] = spans.named("invoke_agent")
    assert turn["error.type"] == "RunCancelled"
    assert spans.all[0].status.status_code is StatusCode.ERROR


async def test_an_over_long_prompt_still_escalates_and_is_told(spans: Spans) -> None:
    made = agent(spans, SCRIPT, window=512)
    result = await made.run("word " * 3000)
    assert result.reason == "context-budget"
    [question] = spans.named("chat")
    assert question["error.type"] == "context-budget"


async def test_spans_of_the_application_find_their_place_below_the_turn(spans: Spans) -> None:
    tracer = spans.provider.get_tracer("app")

    def measured(_given: Any, _context: Any) -> float:
        with tracer.start_as_current_span("sensor", attributes={"gen_ai.operation.name": "app"}):
            return 21.5

    tools = [define_tool(name="temperature", description="Read it.", execute=measured)]
    script = [plan("tool", "temperature"), plan("answer"), {"text": "Warm."}]
    made = traced(
        create_agent(model=fake_model(script), tools=tools), tracer_provider=spans.provider
    )
    await made.run("How warm?")
    inner = next(span for span in spans.all if span.name == "sensor")
    root = next(span for span in spans.all if span.name.startswith("invoke_agent"))
    assert inner.parent is not None
    assert inner.parent.span_id == root.context.span_id


async def test_turns_at_once_keep_their_spans_apart(spans: Spans) -> None:
    agents = [agent(spans, SCRIPT) for _ in range(3)]
    await asyncio.gather(*(one.run("?", conversation_id=str(n)) for n, one in enumerate(agents)))
    assert len({span.context.trace_id for span in spans.all}) == 3
    assert len(spans.all) == 3 * 6


async def test_a_stream_is_reported_whether_it_is_read_awaited_or_left(spans: Spans) -> None:
    read = agent(spans, SCRIPT).stream("How warm?")
    pieces = [item async for item in read]
    assert pieces
    assert (await read.result()).text == "21.5 degrees."
    awaited = await agent(spans, SCRIPT).stream("How warm?").result()
    assert awaited.text == "21.5 degrees."
    left = agent(spans, SCRIPT).stream("How warm?")
    async for _ in left:
        break
    await left.aclose()
    await asyncio.sleep(0)
    turns = spans.named("invoke_agent")
    assert [turn.get("error.type") for turn in turns] == [None, None, "CancelledError"]


def test_run_sync_is_reported_and_the_applications_own_handler_hears_everything(
    spans: Spans,
) -> None:
    heard: list[str] = []
    made = agent(spans, SCRIPT)
    result = made.run_sync("How warm?", on_event=lambda event: heard.append(event.type))
    assert heard == [event.type for event in result.trace]
    assert len(spans.named("chat")) == 4
    assert made.context_window == 4096


async def test_without_a_provider_nothing_happens_and_nothing_breaks() -> None:
    made = traced(create_agent(model=fake_model(SCRIPT), tools=[temperature]))
    assert (await made.run("How warm?")).text == "21.5 degrees."
    assert not trace.get_current_span().is_recording()


def test_a_missing_extra_says_how_to_get_it() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
from goliath_local.errors import ConfigError
from goliath_local.otel import traced
try:
    traced(object())
except ConfigError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'goliath-local[otel]'" in ran.stdout
