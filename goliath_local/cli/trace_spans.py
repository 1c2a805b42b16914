"""When each thing of a traced turn happened, and what each model call was about.

Pure. Older traces have no times of their own; there, one thing follows the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.cli.tracefile import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that took a while."""

    kind: Literal["call", "tool"]
    label: str
    start_s: float
    seconds: float
    number: int
    """Of the calls, or of the tool steps, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One model call, with what the events say of it."""

    number: int
    call: Mapping[str, Any]
    report: Mapping[str, Any]
    """The budget report of the call; empty when there is none."""

    outcome: str
    """What came of it, in a few words."""

    tokens: Mapping[str, int] = field(default_factory=dict)
    """Of the prompt, by part, in the order in which the parts stand there."""


def spans_of(trace: Trace) -> tuple[Span, ...]:
    """Return the model calls and tool steps in the order in which they ended."""
    found: list[Span] = []
    calls = tools = 0
    clock_s = 0.0
    for line in trace.lines:
        event = line.get("event", {})
        if line["type"] == "call":
            calls += 1
            kind, label, number = "call", str(line.get("stage", "")), calls
            seconds = _number(line.get("seconds"))
        elif event.get("type") == "tool":
            tools += 1
            kind, label, number = "tool", str(event.get("tool", "")), tools
            seconds = _number(event.get("ms")) / 1000
        else:
            continue
        clock_s = _number(line.get("at"), clock_s + seconds)
        start_s = max(0.0, clock_s - seconds)
        found.append(
            Span(kind=kind, label=label, start_s=start_s, seconds=seconds, number=number)  # type: ignore[arg-type]  # one of the two, as assigned above
        )
    return tuple(found)


def asked_of(trace: Trace) -> tuple[Asked, ...]:
    """Return the model calls, each with the budget report before it and what came after it."""
    found: list[Asked] = []
    report: Mapping[str, Any] = {}
    for line in trace.lines:
        event = line.get("event", {})
        if event.get("type") == "budget" and isinstance(event.get("report"), dict):
            report = event["report"]
        if line["type"] == "call":
            # A count belongs to the call that follows it, if it is of the same stage.
            own = report if report.get("stage") == line.get("stage") else {}
            found.append(
                Asked(
                    number=len(found) + 1,
                    call=line,
                    report=own,
                    outcome=_outcome(line),
                    tokens=_tokens(line, own),
                )
            )
            report = {}
    return tuple(found)


def tool_events(trace: Trace) -> tuple[Mapping[str, Any], ...]:
    """Return the events of the tool steps, in order."""
    return tuple(event for event in trace.events if event.get("type") == "tool")


def _tokens(call: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, int]:
    pieces = call.get("prompt")
    if not isinstance(pieces, list):
        counted = report.get("byPart")
        return dict(counted) if isinstance(counted, dict) else {}
    totals: dict[str, int] = {}
    for piece in pieces:
        totals[piece["part"]] = totals.get(piece["part"], 0) + int(piece["tokens"])
    return totals


def _outcome(call: Mapping[str, Any]) -> str:
    reply = call.get("reply")
    if not isinstance(reply, dict):
        return f"failed: {call.get('error', 'no reply')}"
    chosen = [str(choice.get("value")) for choice in reply.get("choices") or []]
    cut = " (cut by its length)" if reply.get("finish") == "length" else ""
    return (" ".join(chosen) or "text") + cut


def _number(value: object, otherwise: float = 0.0) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else otherwise  # type: ignore[arg-type]  # a number, as just asked
