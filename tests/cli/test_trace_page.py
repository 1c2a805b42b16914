"""The page of a trace: whole, safe with hostile text, readable in both schemes, reachable by keys.

What only a browser can tell is asked by `scripts/check_trace_page.py`.
"""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from goliath_local.cli.page_style import DARK, LIGHT, READ_ON
from goliath_local.cli.problems import ExitCode
from goliath_local.cli.trace_page import trace_page
from goliath_local.cli.trace_spans import asked_of, spans_of
from goliath_local.cli.tracefile import Trace, read_trace

HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J\u202e&amp;"
PLAN = {"why": HOSTILE, "kind": "tool", "tool": "read_note", "brief": HOSTILE}
CHOICES = [
    {"path": "/kind", "value": "tool", "share": 0.93, "runner_up": "answer",
     "runner_up_share": 0.06},
]  # fmt: skip
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """What a browser would make of a page: elements, their texts, and whether they close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> str:
        return "".join(self.texts.get(tag, []))


@pytest.fixture
def exported(goliath, script, home, tmp_path):
    """Run a turn full of hostile text; return its page as text."""
    tools = tmp_path / "evil.py"
    tools.write_text(
        "from goliath_local import tool\n\n\n@tool\ndef read_note() -> str:\n"
        f'    """Read the note."""\n    return {HOSTILE!r}\n'
    )
    engine = script(
        {"json": PLAN, "choices": CHOICES},
        {"json": {"why": "w", "kind": "answer", "brief": "say it"}},
        {"text": HOSTILE},
    )
    assert goliath("run", "--engine", engine, "-T", str(tools), f"Read. {HOSTILE}").code == 0
    ran = goliath("trace", "export", "last", "--html")
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def test_the_page_is_whole_and_every_id_is_there_once(exported) -> None:
    page = Page(exported)
    assert page.open == []
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    goals = {a["href"] for a in page.all("a")}
    assert {f"#{one}" for one in ids} >= goals
    assert {"#call-1", "#call-2", "#call-3", "#tool-1", "#calls"} <= goals
    labels = {a["aria-labelledby"] for a in page.all("section")}
    assert labels <= set(ids)
    assert page.all("html") == [{"lang": "en"}]
    assert page.text("title").startswith("Trace 0")


def test_nothing_is_fetched_and_no_script_but_its_own_may_run(exported) -> None:
    page = Page(exported)
    names = {name for _, attributes in page.elements for name in attributes}
    assert not names & {"src", "srcset", "data", "action", "background", "poster"}
    assert not any(name.startswith("on") for name in names)
    assert not re.search(r"url\(|@import", page.text("style"))
    policy = next(
        a["content"] or ""
        for a in page.all("meta")
        if a.get("http-equiv") == "Content-Security-Policy"
    )
    digest = base64.b64encode(hashlib.sha256(page.text("script").encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy
    assert len(page.all("script")) == 1


def test_text_of_user_model_and_tool_stays_text(exported) -> None:
    page = Page(exported)
    assert page.all("img") == []
    assert "\x1b" not in exported
    assert "\u202e" not in exported
    assert "alert(1)</script>" not in exported
    shown = HOSTILE.replace("\x1b", "␛").replace("\u202e", "\\u202e")
    assert f"Read. {shown}" in page.text("h1")
    assert page.text("pre").count(shown) >= 3


def test_the_exact_prompt_shows_the_template_apart_from_the_texts(exported) -> None:
    page = Page(exported)
    special = [a for a in page.all("span") if a.get("class") == "special"]
    assert special
    assert exported.count('<span class="special">&lt;|im_start|&gt;assistant\n</span>') >= 3
    assert '<span class="part">ask</span>' in exported


def test_tokens_shares_cache_and_seconds_are_told_in_words(exported) -> None:
    page = Page(exported)
    assert re.search(r"1 conductor → tool · [\d,]+ of 4,096 tokens · \d+\.\d\d s", exported)
    rows = page.text("th") + "|" + "|".join(page.texts["td"])
    for wanted in ("window", "kept free for the reply", "/kind", "93.0%", "answer 6.0%", "100.0%"):
        assert wanted in rows
    assert "tokens came from the cache" in page.text("p")
    assert "The whole line is" in page.text("p")


def test_what_opens_is_a_summary_and_what_scrolls_can_be_reached(exported) -> None:
    page = Page(exported)
    following = [(one, two) for (one, _), (two, _) in pairwise(page.elements)]
    assert all(two == "summary" for one, two in following if one == "details")
    frames = [a for a in page.all("div") if a.get("class") == "scroll"]
    assert frames
    assert all(a["tabindex"] == "0" and a["role"] == "region" for a in frames)
    assert all(a.get("aria-hidden") == "true" for a in page.all("div") if "meter" in str(a))
    assert len(page.all("caption")) == len(page.all("table"))
    assert not any(int(a.get("tabindex") or 0) > 0 for _, a in page.elements)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "panel"])
@pytest.mark.parametrize("ink", READ_ON)
def test_every_text_stands_out_from_its_ground(scheme, ground, ink) -> None:
    """4.5 to 1: WCAG 2.2, success criterion 1.4.3."""
    light, dark = sorted((luminance(scheme[ink]), luminance(scheme[ground])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_both_schemes_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()


def test_a_page_is_written_to_a_private_file(goliath, script, tmp_path) -> None:
    assert goliath("run", "--engine", script({"text": "Hi."}), "hello").code == 0
    path = tmp_path / "turn.html"
    ran = goliath("trace", "export", "--html", "-o", str(path))
    assert (ran.code, ran.out) == (0, f"{path}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert Page(path.read_text()).text("h1") == "hello"


def test_a_trace_without_times_and_prompts_is_shown_too(tmp_path) -> None:
    part = {"name": "ask", "text": "hello"}
    call = {"type": "call", "seconds": 2.0, "stage": "answer", "system": [], "examples": [],
            "user": [part], "schema": None, "maxTokens": 16, "reply": {"text": "Hi."}}  # fmt: skip
    tool = {"type": "event", "event": {"type": "tool", "tool": "t", "ms": 500, "result": "r"}}
    path = tmp_path / "01OLD.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"type": "turn", "ask": "x"}, call, tool, call])))
    trace = read_trace(path)
    assert [(s.kind, s.start_s, s.seconds) for s in spans_of(trace)] == [
        ("call", 0.0, 2.0),
        ("tool", 2.0, 0.5),
        ("call", 2.5, 2.0),
    ]
    page = Page(trace_page(trace))
    assert "could not show its template" in page.text("p")
    assert page.open == []


def test_the_budget_of_a_call_is_the_one_counted_for_it() -> None:
    report = {"stage": "conductor", "byPart": {"ask": 7}, "shortened": [{"how": "log-dropped"}]}
    budget = {"type": "event", "event": {"type": "budget", "report": report}}
    call = {"type": "call", "stage": "conductor", "error": "ModelError: no"}
    trace = Trace(id="x", turn={}, calls=(), events=(), result={}, lines=(budget, call, {**call}))
    first, second = asked_of(trace)
    assert (first.tokens, first.outcome) == ({"ask": 7}, "failed: ModelError: no")
    assert (second.tokens, second.report) == ({}, {})


def test_a_trace_that_is_not_whole_is_refused_in_words(goliath, home) -> None:
    folder = home / ".local/share/goliath-local/traces"
    folder.mkdir(parents=True)
    lines = [{"type": "turn", "ask": "x", "at": "noon"}, {"type": "call", "prompt": [{}]}]
    (folder / "01BAD.jsonl").write_text("\n".join(map(json.dumps, lines)))
    ran = goliath("trace", "export", "--html")
    assert ran.code == ExitCode.NETWORK_OR_DISK
    assert "holds no turn. Delete it" in ran.err
    assert "Traceback" not in ran.err
