"""`eval`: sets and own cases in, a table, failures, records and gates out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CASE = {
    "id": "milk-on-list",
    "ask": "put milk on my list",
    "tools": ["add_item"],
    "args": [{"tool": "add_item", "match": {"text": {"mode": "contains_ci", "any_of": ["milk"]}}}],
    "mentions": ["milk"],
}
GREET = {"id": "greeting", "ask": "hello", "tools": []}
TOOLS = '''
from goliath_local import tool

@tool(writes=True)
def add_item(text: str) -> str:
    """Put an item on the list."""
    raise SystemExit("written for real")

@tool
def list_items() -> list[str]:
    """The list."""
    return ["bread"]
'''
ADD = {"json": {"why": "w", "kind": "tool", "tool": "add_item", "brief": "add milk"}}
MILK = {"json": {"text": "milk", "missing": ""}}
ANSWER = {"json": {"why": "w", "kind": "answer", "brief": "say it"}}
SAID = {"text": "Milk is on your list."}
HELLO = {"text": "Hello!"}
LOOK = {"json": {"why": "w", "kind": "tool", "tool": "list_items", "brief": "look"}}
RIGHT = (ADD, MILK, ANSWER, SAID, ANSWER, HELLO)
WRONG = (ADD, MILK, ANSWER, SAID, LOOK, ANSWER, HELLO)
"""The second case is greeted with a look at the list, which nobody asked for."""


@pytest.fixture
def evaluate(goliath, script):
    """Play the two cases above on a scripted model."""
    Path("cases.jsonl").write_text(f"{json.dumps(CASE)}\n{json.dumps(GREET)}\n")
    Path("my_tools.py").write_text(TOOLS)

    def run(*flags: str, replies=RIGHT):
        engine = script(*replies)
        return goliath(
            "eval", "run", "cases.jsonl", "-T", "my_tools.py", "--engine", engine, *flags
        )

    return run


def test_own_cases_run_on_own_tools_and_nothing_is_written(evaluate) -> None:
    ran = evaluate()
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("PASS  milk-on-list")
    assert "2/2 passed · 2 on device · 0 escalated" in lines
    assert "wrong but confident" in ran.out


def test_a_failure_is_shown_with_its_steps_and_replies(evaluate) -> None:
    ran = evaluate(replies=WRONG)
    assert ran.code == 0
    assert "FAIL  greeting" in ran.out
    assert "wrong   tools [list_items], expected []" in ran.out
    assert "step 1  list_items" in ran.out
    assert "reply   Hello!" in ran.out
    assert "fault: needless call      1" in ran.out
    assert "-o FILE" in ran.err


def test_json_is_one_document_with_figures(evaluate) -> None:
    document = evaluate("--json", replies=WRONG).json
    assert document["figures"]["pass"] == 0.5
    assert document["verdicts"] == {"right on device": 1, "wrong but confident": 1}
    assert document["faults"] == {"needless call": 1}
    assert [one["passed"] for one in document["fixtures"]] == [True, False]


@pytest.mark.parametrize(
    ("gate", "code"),
    [("pass>=0.5", 0), ("pass>=0.8", 9), ("confident<=8%", 9), ("invalid<=0", 0)],
)
def test_a_gate_on_a_figure_decides_the_exit_code(evaluate, gate, code) -> None:
    ran = evaluate("--gate", gate, replies=WRONG)
    assert ran.code == code
    assert ("NOT MET" in ran.out) is (code == 9)


def test_a_gate_not_met_is_still_one_document_in_json(evaluate) -> None:
    ran = evaluate("--json", "--gate", "pass>=0.8", replies=WRONG)
    assert ran.code == 9
    assert ran.json["gates"] == [{"gate": "pass>=0.8", "met": False, "text": "pass is 0.5"}]


def test_an_unknown_figure_or_a_record_that_is_not_there_is_told(evaluate) -> None:
    assert evaluate("--gate", "speed>=1").code == 2
    ran = evaluate("--gate", "old.jsonl")
    assert ran.code == 2
    assert "old.jsonl" in ran.err


def test_a_record_is_kept_shown_and_compared(evaluate, goliath) -> None:
    assert evaluate("-o", "before.jsonl", replies=WRONG).code == 0
    assert evaluate("-o", "after.jsonl").code == 0
    assert Path("after.jsonl").stat().st_mode & 0o077 == 0

    failures = goliath("eval", "show", "before.jsonl")
    assert "greeting" in failures.out
    assert "milk-on-list" not in failures.out
    assert "1 of 2 attempts right." in failures.err

    one = goliath("eval", "show", "before.jsonl", "milk-on-list")
    assert "[system]" in one.out
    assert "put milk on my list" in one.out
    assert 'reply   {"text":"milk","missing":""}' in one.out

    compared = goliath("eval", "compare", "before.jsonl", "after.jsonl")
    assert "fixed   greeting" in compared.out
    assert "1 fixed · 0 broken · 1 same · p = 1.000" in compared.out
    assert goliath("eval", "compare", "before.jsonl", "after.jsonl", "--json").json["fixed"] == [
        "greeting"
    ]


def test_a_record_can_be_a_gate(evaluate) -> None:
    evaluate("-o", "before.jsonl")
    ran = evaluate("--gate", "before.jsonl", replies=WRONG)
    assert ran.code == 0, "one change of two is within chance"
    assert "broken: greeting" in ran.out


def test_a_file_that_is_no_record_is_not_overwritten(evaluate) -> None:
    ran = evaluate("-o", "cases.jsonl")
    assert ran.code == 2
    assert "it stays" in ran.err
    assert json.loads(Path("cases.jsonl").read_text().splitlines()[0]) == CASE


def test_an_earlier_record_is_replaced(evaluate) -> None:
    evaluate("-o", "r.jsonl")
    evaluate("-o", "r.jsonl", "--limit", "1", replies=RIGHT[:4])
    assert len(Path("r.jsonl").read_text().splitlines()) == 1


def test_limit_and_runs_decide_how_much_is_played(evaluate) -> None:
    ran = evaluate("--limit", "1", "--runs", "2", replies=RIGHT[:4] * 2)
    assert "1/1 passed · 2 on device · 0 escalated · pass^2" in ran.out
    assert evaluate("--runs", "0").code == 2


def test_a_case_that_looks_into_a_store_cannot_run_on_own_tools(evaluate) -> None:
    looking = CASE | {"state_after": {"unchanged": True}}
    Path("cases.jsonl").write_text(json.dumps(looking))
    ran = evaluate()
    assert ran.code == 2
    assert "milk-on-list: state_after" in ran.err


def test_a_case_that_expects_a_tool_nobody_has_is_told_before_the_model_is_loaded(
    evaluate,
) -> None:
    Path("cases.jsonl").write_text(json.dumps(CASE | {"tools": ["add_itm"]}))
    ran = evaluate()
    assert ran.code == 2
    assert "'add_itm', which is not there. There are: add_item, list_items" in ran.err


def test_who_leaves_the_own_tools_out_is_told_how_to_name_them(goliath, home) -> None:
    Path("cases.jsonl").write_text(json.dumps(CASE))
    ran = goliath("eval", "run", "cases.jsonl", "--engine", "fake")
    assert ran.code == 2
    assert "which is not there." in ran.err
    assert "Name them: -T FILE.py" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "nothing"), "There is no eval set 'nothing'"),
        (("run", "builtin", "-T", "demo"), "built-in cases have their own tools"),
        (("show", "nothing.jsonl"), "There is no file nothing.jsonl"),
        (("compare", "a.jsonl", "b.jsonl"), "There is no file a.jsonl"),
    ],
)
def test_what_is_not_there_is_told(goliath, arguments, told) -> None:
    ran = goliath("eval", *arguments)
    assert ran.code == 2
    assert told in ran.err


def test_a_case_of_a_record_that_is_not_there_is_told_with_those_that_are(
    evaluate, goliath
) -> None:
    evaluate("-o", "r.jsonl")
    ran = goliath("eval", "show", "r.jsonl", "nothing")
    assert ran.code == 2
    assert "milk-on-list, greeting" in ran.err


def test_a_line_that_is_no_case_is_named(evaluate) -> None:
    Path("cases.jsonl").write_text('{"id": "x"}\n')
    ran = evaluate()
    assert ran.code == 2
    assert "cases.jsonl:1: turns.0.ask" in ran.err


def test_list_names_the_sets(goliath) -> None:
    assert "builtin" in goliath("eval", "list", "--json").json["sets"]
    assert "list-today" in goliath("eval", "list").out
