"""Turns as OpenTelemetry spans, with the names of the GenAI semantic conventions.

Edge: hands spans to whichever tracer provider the application has set up. They are made from the
events of a turn, so nothing about a turn changes; texts are left out unless they are asked for.

    invoke_agent            one turn, from the ask to the result
    ├─ chat                 one question to the model: plan, arguments, answer, brief
    └─ execute_tool         one call of a tool

Needs the extra `otel`. Source: OpenTelemetry semantic conventions for generative AI, agent spans.
"""

from goliath_local.otel.agent import TracedAgent, TracedStream, traced

__all__ = ["TracedAgent", "TracedStream", "traced"]
