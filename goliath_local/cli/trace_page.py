"""A traced turn as one page that needs nothing but a browser.

Pure. Text of a model, a tool or a user reaches the page through `markup`, which escapes it; the
page's own policy forbids every fetch and every script but its own.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from goliath_local.cli import trace_sections as sections
from goliath_local.cli.markup import Html, element, joined, raw
from goliath_local.cli.page_style import SCRIPT, policy, style
from goliath_local.cli.trace_spans import asked_of, spans_of, tool_events
from goliath_local.cli.trace_text import ending

if TYPE_CHECKING:
    from goliath_local.cli.tracefile import Trace

_WINDOW_TOKENS = 4096
"""For a trace that does not say how large the window was."""


def trace_page(trace: Trace) -> str:
    """Return the page, a whole HTML document."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"Trace {trace.id} · goliath-local"),
        raw("style", style()),
    )
    body = element("body", _skip(), _header(trace), _main(trace), raw("script", SCRIPT))
    return f"<!doctype html>\n{element('html', head, body, lang='en').text}\n"


def _skip() -> Html:
    return element("a", "Skip to the model calls", class_="skip", href="#calls")


def _header(trace: Trace) -> Html:
    turn, model = trace.turn, trace.turn.get("model") or {}
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(turn.get("at", 0)) / 1000))
    facts = {
        "Trace": trace.id,
        "When": when,
        "Ended": ending(trace),
        "Model": f"{model.get('name')}, sha256 {model.get('sha256') or 'not pinned'}",
        "Window": f"{_window(trace):,} tokens, {turn.get('threads') or '?'} threads",
        "Seed": str(turn.get("seed")),
        "Tools": ", ".join(map(str, turn.get("tools") or [])) or "none",
        "Conversation": str(turn.get("conversation") or "none"),
    }
    rows = [[element("dt", name), element("dd", value)] for name, value in facts.items()]
    damaged = f"{trace.damaged_lines} lines of the trace could not be read."
    return element(
        "header",
        element("h1", str(turn.get("ask", ""))),
        element("dl", rows),
        element("p", damaged, class_="bad") if trace.damaged_lines else None,
    )


def _main(trace: Trace) -> Html:
    calls = [sections.call(asked, _window(trace)) for asked in asked_of(trace)]
    buttons = element(
        "p",
        element("button", "Open everything", type="button", id="open"),
        " ",
        element("button", "Close everything", type="button", id="close"),
        class_="buttons",
        # The script shows them: without it they would do nothing.
        hidden="",
    )
    return element(
        "main",
        _section("answer", "Answer", element("pre", str(trace.result.get("text", "")))),
        _section("timeline", "Timeline", sections.timeline(spans_of(trace))),
        _section("tools", "Tool steps", sections.steps(tool_events(trace))),
        _section("calls", "Model calls", joined([buttons, *calls])),
        _section("all", "Events", sections.events(trace.events)),
    )


def _section(name: str, title: str, content: Html) -> Html:
    label = f"{name}-title"
    return element(
        "section",
        element("h2", title, id=label),
        content,
        id=name,
        tabindex="-1",
        aria_labelledby=label,
    )


def _window(trace: Trace) -> int:
    window = trace.turn.get("window")
    return window if isinstance(window, int) and window > 0 else _WINDOW_TOKENS
