"""The sections of a trace's page: timeline, steps, model calls, events.

Pure. Times are seconds, sizes are tokens, shares are per cent.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goliath_local.cli.markup import Html, element, joined, table
from goliath_local.cli.page_style import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goliath_local.cli.trace_spans import Asked, Span


def timeline(spans: Sequence[Span]) -> Html:
    """Return what took how long, as bars on one scale; each leads to its details."""
    end_s = max((span.start_s + span.seconds for span in spans), default=0.0) or 1.0
    rows = [element("li", _named(span), _bar(span, end_s)) for span in spans]
    if not rows:
        return element("p", "Nothing was asked of the model.")
    return joined(
        [
            element("ol", rows, class_="timeline"),
            element("p", f"The whole line is {end_s:.2f} s long."),
        ]
    )


def _named(span: Span) -> Html:
    goal = f"#{span.kind}-{span.number}"
    return element("a", f"{span.number} {span.label} · {span.seconds:.2f} s", href=goal)


def _bar(span: Span, end_s: float) -> Html:
    before, width = 100 * span.start_s / end_s, 100 * span.seconds / end_s
    style = f"margin-left:{min(before, 99.0):.2f}%;width:{width:.2f}%"
    bar = element("span", class_=f"bar {span.kind}", style=style)
    return element("span", bar, class_="track", aria_hidden="true")


def steps(events: Sequence[Mapping[str, Any]]) -> Html:
    """Return the tool steps, arguments and results whole."""
    if not events:
        return element("p", "No tool was called.")
    return joined(_step(number, event) for number, event in enumerate(events, start=1))


def _step(number: int, event: Mapping[str, Any]) -> Html:
    status = str(event.get("status", "completed"))
    seconds = float(event.get("ms") or 0) / 1000
    head = f"{number} {event.get('tool')} · {status} · {seconds:.2f} s"
    return element(
        "details",
        element("summary", head),
        element("h3", "Arguments"),
        element("pre", _json(event.get("input"))),
        element("h3", "Result"),
        element("pre", str(event.get("result", ""))),
        id=f"tool-{number}",
    )


def call(asked: Asked, window: int) -> Html:
    """Return one model call: its bill, its shares, its exact prompt, its reply."""
    line = asked.call
    reply = line.get("reply") or {}
    usage = reply.get("usage") or {}
    size = sum(asked.tokens.values()) or int(usage.get("promptTokens", 0))
    head = (
        f"{asked.number} {line.get('stage')} → {asked.outcome} · {size:,} of {window:,} tokens · "
        f"{float(line.get('seconds', 0)):.2f} s"
    )
    return element(
        "details",
        element("summary", head),
        _bill(asked, window, reserve=int(line.get("maxTokens") or 0)),
        _cache(usage),
        _choices(reply.get("choices") or []),
        element("h3", "Exact prompt"),
        _prompt(line),
        element("h3", "Reply"),
        _reply(line, reply),
        _costs(usage),
        _schema(line.get("schema")),
        id=f"call-{asked.number}",
    )


def _bill(asked: Asked, window: int, *, reserve: int) -> Html | None:
    if not asked.tokens:
        return None
    parts = list(enumerate(asked.tokens.items()))
    bars = [
        element("span", class_=f"p{n % PARTS}", style=f"width:{100 * t / window:.2f}%")
        for n, (_, t) in parts
    ]
    kept = element("span", class_="reserve", style=f"width:{100 * reserve / window:.2f}%")
    rows: list[list[Html | str]] = [
        [joined([_swatch(n), name]), f"{tokens:,}", f"{tokens / window:.1%}"]
        for n, (name, tokens) in parts
    ]
    total = sum(asked.tokens.values())
    rows += [
        ["prompt, all of it", f"{total:,}", f"{total / window:.1%}"],
        ["kept free for the reply", f"{reserve:,}", f"{reserve / window:.1%}"],
        ["window", f"{window:,}", "100.0%"],
    ]
    cut = ", ".join(str(one.get("how")) for one in asked.report.get("shortened") or [])
    return joined(
        [
            element("h3", "Tokens by part"),
            element("div", bars, kept, class_="meter", aria_hidden="true"),
            table("Tokens by part", ("Part", "Tokens", "Of the window"), rows),
            element("p", f"Shortened to fit: {cut}", class_="bad") if cut else None,
        ]
    )


def _swatch(number: int) -> Html:
    return element("span", class_=f"swatch p{number % PARTS}", aria_hidden="true")


def _cache(usage: Mapping[str, Any]) -> Html | None:
    prompt = int(usage.get("promptTokens", 0))
    if not prompt:
        return None
    fresh = int(usage.get("evaluatedTokens", 0))
    reused = max(0, prompt - fresh)
    bars = [
        element("span", class_="reused", style=f"width:{100 * reused / prompt:.2f}%"),
        element("span", class_="fresh", style=f"width:{100 * fresh / prompt:.2f}%"),
    ]
    told = f"{reused:,} of {prompt:,} tokens came from the cache, {fresh:,} were evaluated."
    return joined(
        [
            element("h3", "Cache"),
            element("div", bars, class_="meter", aria_hidden="true"),
            element("p", told),
        ]
    )


def _choices(choices: Sequence[Mapping[str, Any]]) -> Html | None:
    if not choices:
        return None
    rows = [
        [
            str(one.get("path")),
            str(one.get("value")),
            f"{float(one.get('share', 0)):.1%}",
            _runner_up(one),
        ]
        for one in choices
    ]
    heads = ("Place", "Taken", "Share", "Next best")
    return joined([element("h3", "Probability shares"), table("Probability shares", heads, rows)])


def _runner_up(choice: Mapping[str, Any]) -> str:
    if not choice.get("runnerUp"):
        return "none"
    return f"{choice['runnerUp']} {float(choice.get('runnerUpShare') or 0):.1%}"


def _prompt(line: Mapping[str, Any]) -> Html:
    pieces = line.get("prompt")
    if isinstance(pieces, list):
        return element("pre", _pieces(pieces), tabindex="0")
    told = "The engine could not show its template; these are the texts that were put into it."
    texts = [{"part": p["name"], "text": p["text"]} for p in line.get("system") or []]
    for turn in line.get("examples") or []:
        texts += [{"part": "examples", "text": turn[who]} for who in ("user", "assistant")]
    texts += [{"part": p["name"], "text": p["text"]} for p in line.get("user") or []]
    return joined([element("p", told), element("pre", _pieces(texts), tabindex="0")])


def _pieces(pieces: Sequence[Mapping[str, Any]]) -> Iterator[Html | str]:
    before = None
    for piece in pieces:
        if piece.get("template"):
            yield element("span", str(piece["text"]), class_="special")
        else:
            if piece["part"] != before:
                yield element("span", str(piece["part"]), class_="part")
            yield str(piece["text"])
        before = piece["part"]


def _reply(line: Mapping[str, Any], reply: Mapping[str, Any]) -> Html:
    if not reply:
        return element("p", str(line.get("error", "No reply came.")), class_="bad")
    return element("pre", str(reply.get("text", "")), tabindex="0")


def _costs(usage: Mapping[str, Any]) -> Html | None:
    if not usage:
        return None
    rows = [
        ["Reply", f"{int(usage.get('completionTokens', 0)):,} tokens"],
        ["Forced by the grammar", f"{int(usage.get('forcedTokens', 0)):,} tokens"],
        ["Reading the prompt", f"{float(usage.get('prefillS', 0)):.3f} s"],
        ["First token after", f"{float(usage.get('firstTokenS', 0)):.3f} s"],
        ["Writing the reply", f"{float(usage.get('decodeS', 0)):.3f} s"],
        ["of it choosing tokens", f"{float(usage.get('choosingS', 0)):.3f} s"],
    ]
    return joined(
        [element("h3", "What it cost"), table("What it cost", ("What", "How much"), rows)]
    )


def _schema(schema: Any) -> Html | None:
    if schema is None:
        return None
    return joined([element("h3", "Schema of the reply"), element("pre", _json(schema))])


def events(found: Sequence[Mapping[str, Any]]) -> Html:
    """Return every event, in order, with its fields as JSON."""
    hidden = {"type", "report", "usage"}
    rows = [
        [
            str(event.get("type")),
            json.dumps({k: v for k, v in event.items() if k not in hidden}, ensure_ascii=False),
        ]
        for event in found
    ]
    return element(
        "details",
        element("summary", f"{len(rows)} events"),
        table("Events in order", ("Event", "Fields"), rows),
        id="events",
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
