"""The page on evals: its files can be used as they stand, its commands exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from goliath_local.evals.figures import figures
from goliath_local.evals.match import accepts
from goliath_local.evals.report import Report
from goliath_local.evals.score import Verdict

PAGE = (Path(__file__).parents[2] / "docs" / "evals.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


COMMANDS = [
    line.partition("#")[0].strip()
    for text in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in text.splitlines()
]

PLAN = {"why": "w", "kind": "tool", "brief": "b"}
ANSWER = {"json": {"why": "w", "kind": "answer", "brief": "b"}}
SCRIPT = (
    {"json": PLAN | {"tool": "list_items"}}, ANSWER, {"text": "Bread and tea."},
    {"json": PLAN | {"tool": "add_item"}}, {"json": {"name": "milk", "missing": ""}}, ANSWER,
    {"text": "Milk is on it."},
    ANSWER, {"text": "Good morning!"},
)  # fmt: skip


@pytest.fixture
def files(home):
    Path("my_tools.py").write_text(block("python"))
    Path("my_cases.jsonl").write_text(block("json"))


def played(goliath, script, command: str):
    arguments = shlex.split(command)[1:]
    flags = ("--engine", script(*SCRIPT)) if arguments[1] == "run" else ()
    return goliath(*arguments, *flags)


def test_every_command_of_the_page_on_own_cases_runs(goliath, script, files):
    own = [command for command in COMMANDS if "builtin" not in command and " dev" not in command]
    assert len(own) == 7
    for command in own:
        ran = played(goliath, script, command)
        assert ran.code == 0, f"{command}: {ran.err}"
    assert "3/3 passed" in played(goliath, script, own[0]).out


def test_the_cases_pass_only_when_the_tools_are_used_as_they_say(goliath, script, files):
    ran = goliath(
        "eval", "run", "my_cases.jsonl", "-T", "my_tools.py", "--json", "--engine",
        script(*[reply for _ in range(3) for reply in (ANSWER, {"text": "Bread, tea, milk."})]),
    )  # fmt: skip
    assert [one["passed"] for one in ran.json["fixtures"]] == [False, False, True]


def test_every_figure_verdict_and_mode_is_on_the_page():
    for name in figures(Report(fixtures=())):
        assert f"`{name}`" in PAGE
    for verdict in Verdict:
        assert verdict is Verdict.ERROR or f"| {verdict.value} |" in PAGE
    table = PAGE.partition("| mode |")[2].partition("\n\n")[0]
    modes = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(modes) == 6
    for mode in modes:
        accepts({"mode": mode, "any_of": ["1"]}, "1")


def test_the_cases_of_the_page_are_one_object_a_line():
    assert [json.loads(line)["id"] for line in block("json").splitlines()] == [
        "what-is-on-it",
        "add-milk",
        "greeting",
    ]
