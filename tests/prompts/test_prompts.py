"""What the model is told: strict slots, stated sizes, the forms of logs, menus and examples."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from goliath_local.budget import estimate_tokens
from goliath_local.prompts import (
    MenuItem,
    built_in_turns,
    exchange_parts,
    fact_lines,
    log_line,
    render,
    schema_lines,
    tool_menu,
)
from goliath_local.records import Exchange, StepRecord

NAMES = [
    f"{file.name.removesuffix('.md')}.{section}"
    for file in sorted((files("goliath_local.prompts") / "texts").iterdir(), key=lambda f: f.name)
    if file.name.endswith(".md")
    for section in re.findall(r"^## (\S+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
]


def test_a_slot_left_open_is_refused():
    with pytest.raises(ValueError, match="brief"):
        render("worker.order")


def test_a_value_that_no_slot_asks_for_is_refused():
    with pytest.raises(ValueError, match="extra"):
        render("worker.order", brief="x", extra="y")


def test_an_unknown_text_is_refused():
    with pytest.raises(KeyError):
        render("worker.song")


def test_a_value_is_never_read_for_slots():
    assert render("worker.order", brief="{{tool}} {{brief}}").endswith("{{tool}} {{brief}}")


@pytest.mark.parametrize("name", NAMES)
def test_every_text_can_be_filled_and_ends_without_blank_lines(name):
    text = (files("goliath_local.prompts") / "texts" / f"{name.partition('.')[0]}.md").read_text()
    section = text.partition(f"## {name.partition('.')[2]}\n")[2].partition("\n## ")[0]
    slots = dict.fromkeys(re.findall(r"\{\{([a-z_]+)\}\}", section), "x")
    filled = render(name, **slots)
    assert filled.strip()
    assert not filled.endswith("\n")
    assert "{{" not in filled


def _size(*names):
    return estimate_tokens("\n".join(names))


PERSONA = render("shared.persona")


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ((PERSONA, render("conductor.task", max_steps=5)), 140),
        (
            (PERSONA, render("worker.order", brief=""), render("worker.rules", missing="missing")),
            80,
        ),
        ((PERSONA, render("answer.prose")), 40),
        ((PERSONA, render("answer.structured")), 40),
        ((PERSONA, render("answer.best-effort-prose")), 70),
        ((PERSONA, render("answer.best-effort-structured")), 70),
        ((render("scribe.task"),), 140),
        ((render("conductor.invalid", names=""),), 50),
        ((render("conductor.no-such-tool", name="", names=""),), 50),
        ((render("answer.blank"),), 50),
        ((render("answer.invalid", problem=""),), 50),
        ((render("worker.invalid", problem=""),), 50),
    ],
)
def test_fixed_texts_stay_under_their_stated_sizes(text, most):
    assert _size(*text) <= most


def _step(**more):
    return StepRecord(
        **{"index": 0, "kind": "tool", "brief": "b", "tool": "look", "input": {}, **more}
    )


def test_log_lines_carry_the_records_own_number_and_status():
    assert log_line(_step(index=2, result="seen")) == "3. look({}) [completed] → seen"
    assert log_line(_step(result="x", failed=True)) == "1. look({}) [failed] → x"
    assert log_line(_step(result="x", skipped=True)) == "1. look({}) [skipped] → x"
    assert log_line(_step(result="x", cached=True)) == "1. look({}) [cached] → x"
    assert log_line(_step(input=None, result=None)) == "1. look() [completed] → "
    answer = StepRecord(index=1, kind="answer", brief="b", text="All done.")
    assert log_line(answer) == "2. All done."


@pytest.mark.parametrize(("size", "cut"), [(111, False), (112, True)])
def test_arguments_are_cut_at_120_characters(size, cut):
    line = log_line(_step(input={"at": "é" * size}, result="r"))
    shown = line.partition("(")[2].partition(") [")[0]
    assert len(shown) == (120 if cut else size + 9)
    assert shown.endswith("…") == cut


def test_an_exchange_is_shown_with_its_actions_and_never_its_outputs():
    step = _step(result="one pot", output={"id": 7}, has_output=True)
    exchange = Exchange(ask="a", answer="b", at=0, best_effort=True, steps=(step,))
    said, answered, actions = exchange_parts(exchange)
    assert said == "User: a"
    assert answered == "(only partly answered) Assistant: b"
    assert actions == "Actions:\n1. look({}) [completed] → one pot"
    assert len(exchange_parts(Exchange(ask="a", answer="b", at=0))) == 2


def test_the_menu_marks_writes_and_says_what_comes_first():
    items = [
        MenuItem(name="find", description="Finds."),
        MenuItem(name="wipe", description="Wipes.", writes=True, requires=("find",)),
    ]
    assert tool_menu(items).splitlines() == [
        "Tools:",
        "- find: Finds.",
        "- wipe: Wipes. (changes data)",
        "Use find before wipe.",
    ]


def test_facts_are_lines_under_a_heading_or_nothing():
    assert fact_lines({"today": "Tuesday"}).splitlines() == ["Known facts:", "today: Tuesday"]
    assert fact_lines({}) == ""


SCHEMA = {
    "type": "object",
    "$defs": {"Spot": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    "properties": {
        "title": {"type": "string", "description": "What to\n do.", "maxLength": 80},
        "size": {"enum": ["s", "m"]},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "spot": {"$ref": "#/$defs/Spot"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "mixed": {"type": ["string", "null"]},
        "any": {},
        "fixed": {"const": True},
    },
    "required": ["title", "size"],
}


def test_a_schema_is_told_in_one_line_for_each_property():
    assert schema_lines(SCHEMA).splitlines() == [
        "- title (string, at most 80 characters): What to do.",
        '- size (one of "s", "m")',
        "- when (string or null, optional)",
        "- tags (list of string, optional)",
        "- spot (object with x: integer, optional)",
        "- count (integer, at least 1, at most 9, optional)",
        "- mixed (string or null, optional)",
        "- any (any value, optional)",
        "- fixed (true, optional)",
    ]


def test_a_schema_that_is_no_object_is_told_in_one_line():
    assert schema_lines({"type": "array", "items": {"type": "integer"}}) == "list of integer"


def test_a_schema_that_contains_itself_is_told_without_end_of_depth():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {
        "$defs": {"Node": node},
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/Node"}},
    }
    assert schema_lines(schema) == (
        "- first (object with next: object with next: object, optional)"
    )


def test_built_in_examples_are_whole_and_within_what_they_may_cost():
    every = built_in_turns(max_steps=5, most_tokens=10_000, count=estimate_tokens)
    kinds = [json.loads(turn.assistant)["kind"] for turn in every]
    assert {"tool", "answer", "escalate"} == set(kinds)
    cost = [estimate_tokens(turn.user) + estimate_tokens(turn.assistant) for turn in every]
    for most in range(0, sum(cost) + 50, 50):
        turns = built_in_turns(max_steps=5, most_tokens=most, count=estimate_tokens)
        assert turns == every[: len(turns)]
        assert sum(cost[: len(turns)]) <= most
        assert not turns or json.loads(turns[-1].assistant)["kind"] != "tool"


def test_built_in_examples_speak_of_nothing_that_the_evals_ask():
    text = "".join(
        t.user + t.assistant for t in built_in_turns(max_steps=5, most_tokens=9999, count=len)
    )
    for word in ("milk", "eggs", "dentist", "mom", "task"):
        assert word not in text.lower()


def test_every_plan_of_an_example_would_be_accepted():
    from goliath_local.harness.plans import read_plan
    from goliath_local.records import Plan

    for turn in built_in_turns(max_steps=5, most_tokens=10_000, count=estimate_tokens):
        names = re.findall(r"^Tools in this example: (.*)\.$", turn.user, re.MULTILINE)
        plan = read_plan(turn.assistant, names[0].split(", "))
        assert isinstance(plan, Plan)
        assert plan.why
        assert list(json.loads(turn.assistant))[:2] == ["why", "kind"]
