"""Every set can be named with -T, is small enough for a small model, and works in a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from goliath_local.budget import RESULT_CHARACTERS
from goliath_local.errors import ConfigError
from goliath_local.toolsets import TOOL_SETS, is_tool_set, tool_set
from goliath_local.toolsets.system import system_tools

FLAT = {"string", "integer", "number", "boolean"}


@pytest.mark.parametrize("name", TOOL_SETS)
def test_a_set_suits_a_small_model(name: str, tmp_path: Path, home: Path) -> None:
    tools = tool_set(name, data=tmp_path)
    assert 1 <= len(tools) <= 5
    for tool in tools:
        assert len(tool.description) <= 70
        for about in tool.parameters.properties.values():
            assert about["type"] in FLAT
        assert not tool.name.startswith("_")


def test_the_names_of_all_tools_differ_so_that_sets_can_be_used_together(
    tmp_path: Path, home: Path
) -> None:
    names = [t.name for s in TOOL_SETS if s != "demo" for t in tool_set(s, data=tmp_path)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clok", "There are: demo, tasks, notes, files"),
        ("notes:", "no folder behind the colon"),
        ("files:/no/such/folder", "is not a folder"),
        ("tasks:.", "is a folder. Name a file"),
    ],
)
def test_a_set_that_cannot_be_had_says_why(
    name: str, words: str, tmp_path: Path, home: Path
) -> None:
    with pytest.raises(ConfigError, match=words):
        tool_set(name, data=tmp_path)


def test_only_sets_with_a_place_take_one() -> None:
    assert is_tool_set("notes:somewhere")
    assert not is_tool_set("clock:somewhere")


@pytest.mark.parametrize("name", TOOL_SETS)
def test_a_set_is_named_on_the_command_line(name: str, goliath: Any) -> None:
    ran = goliath("tools", "check", "-T", name)
    assert (ran.code, ran.out.count(": sound")) == (0, len(ran.out.splitlines()))


def test_a_name_nearly_right_is_answered_with_the_right_one(goliath: Any) -> None:
    ran = goliath("tools", "check", "-T", "clok")
    assert (ran.code, 'Did you mean "clock"?' in ran.err) == (2, True)


def test_a_module_of_ones_own_comes_before_a_set_of_its_name(goliath: Any) -> None:
    Path("notes.py").write_text(
        "from goliath_local import tool\n@tool\ndef mine() -> str:\n    return 'x'\n"
    )
    assert goliath("tools", "check", "-T", "notes:mine").out.startswith("mine: sound")
    assert "list_notes" in goliath("tools", "check", "-T", "notes").out


def test_a_new_task_list_is_empty_and_the_demo_is_not(goliath: Any, script: Any) -> None:
    plan = {"json": {"why": "w", "kind": "tool", "tool": "list_tasks", "brief": "b"}}
    done = [{"json": {"why": "w", "kind": "answer", "brief": "b"}}, {"text": "Done."}]
    ran = goliath("run", "--json", "-T", "tasks:mine.sqlite", "--engine", script(plan, *done), "?")
    assert ran.json["steps"][0]["result"] == "The list is empty."
    ran = goliath("run", "--json", "-T", "demo", "--engine", script(plan, *done), "?")
    assert ran.json["steps"][0]["result"].startswith("1. buy bread")


def test_sets_work_together_in_a_turn_and_a_change_waits_for_a_yes(
    goliath: Any, script: Any
) -> None:
    def plan(tool: str) -> dict[str, Any]:
        return {"json": {"why": "w", "kind": "tool", "tool": tool, "brief": "b"}}

    replies = (
        plan("calculate"),
        {"json": {"expression": "80 + 19%", "missing": ""}},
        plan("write_note"),
        {"json": {"title": "Price", "text": "95.20", "missing": ""}},
        {"json": {"why": "w", "kind": "answer", "brief": "b"}},
        {"text": "Noted."},
    )
    sets = ("-T", "numbers", "-T", "notes:vault")
    declined = goliath("run", "--json", *sets, "--engine", script(*replies), "?")
    assert [step["status"] for step in declined.json["steps"][:2]] == ["completed", "skipped"]
    assert not list(Path("vault").iterdir())
    allowed = ("--allow", "write_note")
    ran = goliath("run", "--json", *sets, *allowed, "--engine", script(*replies), "?")
    assert ran.json["steps"][0]["result"] == "80 + 19% = 95.2"
    assert Path("vault/Price.md").read_text() == "# Price\n\n95.20\n"


def test_the_machine_is_described_in_few_words() -> None:
    told = {tool.name: tool.execute({}, None) for tool in system_tools()}
    for text in told.values():
        assert 0 < len(text) <= RESULT_CHARACTERS
        assert "None" not in text
    assert " free of " in told["memory_use"]
    assert " % used" in told["disk_space"]
    assert told["system_info"].startswith("system: ")
    assert "busy now: " in told["cpu_load"]


def test_the_view_of_files_shows_the_working_directory_and_cannot_change_it(
    tmp_path: Path, home: Path
) -> None:
    tools = {tool.name: tool for tool in tool_set("files", data=tmp_path)}
    assert set(tools) == {"glob", "grep", "read_file"}
    assert not any(tool.writes for tool in tools.values())
