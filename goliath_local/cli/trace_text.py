"""A trace as lines a person reads. Pure."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from goliath_local.cli.visible import clipped_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.cli.tracefile import Trace


def trace_line(trace: Trace, *, columns: int) -> str:
    """Return a trace as one line: name, when, how it ended, the ask."""
    at_s = float(trace.turn.get("at", 0)) / 1000
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(at_s))
    head = f"{trace.id}  {when}  {ending(trace):<12}  "
    return head + clipped_line(str(trace.turn.get("ask", "")), max(20, columns - len(head)))


def trace_lines(trace: Trace, *, step: int | None, with_prompts: bool) -> Iterator[str]:
    """Yield a trace line by line.

    Args:
        trace: the turn.
        step: only the N-th model call, from 1; None for all.
        with_prompts: the exact prompts too.
    """
    model = trace.turn.get("model", {})
    yield f"trace    {trace.id}"
    yield f"ask      {clipped_line(str(trace.turn.get('ask', '')), 200)}"
    yield f"model    {model.get('name')}  sha256 {model.get('sha256') or 'not pinned'}"
    yield f"window   {trace.turn.get('window')}  threads {trace.turn.get('threads')}"
    yield f"seed     {trace.turn.get('seed')}"
    for number, call in enumerate(trace.calls, start=1):
        if step is None or number == step:
            yield ""
            yield from _call_lines(number, call, with_prompts=with_prompts)
    if step is None:
        yield ""
        yield from map(_event_line, trace.events)
        yield ""
        yield from map(_output_line, trace.result.get("outputs", ()))
        yield f"answer   {trace.result.get('text', '')}"
        yield f"ended    {ending(trace)}"
    if trace.damaged_lines:
        yield f"damaged  {trace.damaged_lines} lines could not be read"


def _call_lines(number: int, call: dict[str, Any], *, with_prompts: bool) -> Iterator[str]:
    reply = call.get("reply", {})
    usage = reply.get("usage", {})
    yield f"call {number}   {call['stage']}  {call.get('seconds', 0):.2f} s"
    if usage:
        yield (
            f"  tokens  prompt {usage.get('promptTokens', 0)}, "
            f"evaluated {usage.get('evaluatedTokens', 0)}, "
            f"reply {usage.get('completionTokens', 0)}, forced {usage.get('forcedTokens', 0)}"
        )
    for choice in reply.get("choices") or []:
        yield f"  choice  {choice['path']} = {choice['value']}  {choice['share']:.0%}"
    if with_prompts:
        yield from _prompt_lines(call)
    yield f"  reply   {reply['text']}" if reply else f"  error   {call.get('error')}"


def _prompt_lines(call: dict[str, Any]) -> Iterator[str]:
    for part in call["system"]:
        yield f"  [system: {part['name']}]"
        yield part["text"]
    for turn in call["examples"]:
        yield "  [example: user]"
        yield turn["user"]
        yield "  [example: assistant]"
        yield turn["assistant"]
    for part in call["user"]:
        yield f"  [user: {part['name']}]"
        yield part["text"]
    if call.get("schema") is not None:
        yield "  [schema]"
        yield json.dumps(call["schema"], ensure_ascii=False)


def _event_line(event: dict[str, Any]) -> str:
    rest = {k: v for k, v in event.items() if k not in {"type", "report", "choices", "usage"}}
    fields = "  ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in rest.items())
    return f"{event['type']:<9}{clipped_line(fields, 160)}"


def _output_line(row: dict[str, Any]) -> str:
    seen = f"{row['shownCharacters']:,} of {row['characters']:,} characters"
    return f"cut      {row['tool']}: the model was shown {seen}; all of it is in trace export"


def ending(trace: Trace) -> str:
    """Return how the turn ended, in a word."""
    if not trace.result:
        return "unfinished"
    if "error" in trace.result:
        return str(trace.result["error"]).partition(":")[0]
    return str(trace.result.get("reason") or trace.result.get("handledBy"))
