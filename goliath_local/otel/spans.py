"""The spans of one turn, made from its events.

Edge: reads the clock, hands spans to a tracer.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context, use_span

from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from opentelemetry.trace import Span, Tracer

    from goliath_local.events import BudgetEvent, Event, ModelEvent, ToolEvent

_NS_PER_MS = 1_000_000
_CHAT, _INVOKE, _TOOL = "chat", "invoke_agent", "execute_tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the spans of all turns have in common."""

    tracer: Tracer
    name: str
    model: str | None
    common: Mapping[str, str]
    content: bool


class TurnSpans:
    """The spans of one turn while it runs."""

    def __init__(self, about: About, ask: str, options: Mapping[str, Any]) -> None:
        self._about = about
        conversation = options.get("conversation_id")
        self._root: Span = about.tracer.start_span(
            f"{_INVOKE} {about.name}",
            kind=SpanKind.INTERNAL,
            attributes={
                **about.common,
                "gen_ai.operation.name": _INVOKE,
                "gen_ai.agent.name": about.name,
                **({"gen_ai.conversation.id": conversation} if conversation else {}),
                **self._texts({"gen_ai.input.messages": _messages("user", ask)}),
            },
        )
        self._asked: tuple[int, BudgetEvent] | None = None

    def current(self) -> AbstractContextManager[Span]:
        """Return a context in which the turn's span is the current one."""
        return use_span(self._root, record_exception=False, set_status_on_exception=False)

    def listener(self, theirs: Any) -> Callable[[Event], Any]:
        """Return a handler that notes an event and then hands it on."""

        def listen(event: Event) -> Any:
            self._note(event)
            return theirs(event) if theirs is not None else None

        return listen

    def finished(self, result: Any) -> None:
        """End the turn's span with what came of it."""
        self._close_question("no reply")
        usage = result.usage
        self._root.set_attributes(
            {
                "gen_ai.usage.input_tokens": usage.prompt_tokens,
                "gen_ai.usage.output_tokens": usage.completion_tokens,
                "gen_ai.response.finish_reasons": (result.finish_reason,),
                "goliath.handled_by": result.handled_by,
                "goliath.best_effort": result.best_effort,
                "goliath.steps": len(result.steps),
                **({"goliath.reason": result.reason.value} if result.reason else {}),
                **self._texts({"gen_ai.output.messages": _messages("assistant", result.text)}),
            }
        )
        self._root.end()

    def failed(self, error: BaseException) -> None:
        """End the turn's span with the error that ended the run."""
        self._close_question(type(error).__name__)
        _mark_failed(self._root, type(error).__name__)
        self._root.end()

    def _note(self, event: Event) -> None:
        match event.type:
            case "budget":
                self._close_question("no reply")
                self._asked = (time.time_ns(), event)
            case "model":
                self._chat(event)
            case "tool":
                self._tool(event)
            case "escalate" | "retry":
                # The closed reason of an escalation; the words of a retry are too many values.
                self._close_question(str(event.reason) if event.type == "escalate" else "rejected")
                self._root.add_event(f"goliath.{event.type}", {"goliath.reason": event.reason})
            case "plan":
                about = {"goliath.plan.kind": event.kind, "gen_ai.tool.name": event.tool or ""}
                if event.confidence is not None:
                    about["goliath.confidence"] = event.confidence  # type: ignore[assignment]  # numbers too
                self._root.add_event("goliath.plan", about)
            case "confirm":
                about = {"gen_ai.tool.name": event.tool}
                self._root.add_event(
                    "goliath.confirm", {**about, "goliath.approved": event.approved}
                )
            case "recall" | "answer" | "remember" | "memory-error":
                self._root.add_event(f"goliath.{event.type}")

    def _chat(self, event: ModelEvent) -> None:
        usage = event.usage
        span = self._question_span()
        if span is None:
            return
        span.set_attributes(
            {
                "gen_ai.usage.input_tokens": usage.prompt_tokens,
                "gen_ai.usage.output_tokens": usage.completion_tokens,
                "gen_ai.usage.cache_read.input_tokens": max(
                    0, usage.prompt_tokens - usage.evaluated_tokens
                ),
                "gen_ai.response.finish_reasons": (event.finish,),
                "gen_ai.response.time_to_first_chunk": usage.first_token_s,
                "goliath.usage.forced_tokens": usage.forced_tokens,
            }
        )
        span.end()

    def _close_question(self, why: str) -> None:
        """End the question that is open, if one is: no reply came to it."""
        span = self._question_span()
        if span is not None:
            _mark_failed(span, why)
            span.end()

    def _question_span(self) -> Span | None:
        """Return the span of the question that is open, and close it to further replies."""
        if self._asked is None:
            return None
        (started_ns, event), self._asked = self._asked, None
        about = self._about
        return self._child(
            f"{_CHAT} {about.model}" if about.model else _CHAT,
            kind=SpanKind.INTERNAL,
            start_time=started_ns,
            attributes={
                **about.common,
                "gen_ai.operation.name": _CHAT,
                "gen_ai.request.max_tokens": event.output_cap,
                "goliath.stage": event.label,
                "goliath.prompt.limit_tokens": event.limit,
                "goliath.prompt.trimmed": event.trimmed,
            },
        )

    def _tool(self, event: ToolEvent) -> None:
        ended_ns = time.time_ns()
        span = self._child(
            f"{_TOOL} {event.tool}",
            kind=SpanKind.INTERNAL,
            start_time=ended_ns - int(event.ms * _NS_PER_MS),
            attributes={
                "gen_ai.operation.name": _TOOL,
                "gen_ai.tool.name": event.tool,
                "gen_ai.tool.type": "function",
                "goliath.tool.status": event.status,
                **self._texts(
                    {
                        "gen_ai.tool.call.arguments": _json(event.input),
                        "gen_ai.tool.call.result": event.result,
                    }
                ),
            },
        )
        if event.status == "failed":
            _mark_failed(span, "tool-error")
        span.end(end_time=ended_ns)

    def _child(self, name: str, **options: Any) -> Span:
        return self._about.tracer.start_span(
            name, context=set_span_in_context(self._root), **options
        )

    def _texts(self, attributes: Mapping[str, str]) -> Mapping[str, str]:
        return attributes if self._about.content else {}


def _mark_failed(span: Span, why: str) -> None:
    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR))


def _messages(role: str, text: str) -> str:
    return _json([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _json(value: Any) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, default=str)
