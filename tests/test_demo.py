"""The demo's to-do list: real, private, and the user's own from then on."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.demo import FIRST_TASKS, TaskList, demo_tools
from goliath_local.errors import StorageBusy, StorageError
from goliath_local.tools import (
    ResultBudget,
    ToolContext,
    call_tool,
    format_result,
    resolve_input,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "tasks.sqlite"


def context() -> ToolContext:
    return ToolContext(
        conversation_id=None,
        context=None,
        cancel=CancelToken(),
        result_budget=ResultBudget(max_tokens=100, count_tokens=len),
        steps=(),
        recent=(),
    )


async def call(path: Path, name: str, **arguments: str) -> str:
    tool = {tool.name: tool for tool in demo_tools(path)}[name]
    resolved = await resolve_input(tool, arguments, context())
    came = await call_tool(tool, resolved.output, context())
    assert not came.failed, came.message
    return (await format_result(tool, came.output, completed="done", cancel=CancelToken())).text


async def test_a_new_list_has_something_to_ask_for(path: Path) -> None:
    assert (
        await call(path, "list_tasks") == "1. buy bread\n2. call the dentist\n3. water the plants"
    )


async def test_what_is_added_and_done_is_still_so_after_a_restart(path: Path) -> None:
    await call(path, "create_task", title="milk")
    await call(path, "complete_task", title="the dentist")
    assert TaskList(path).titles() == ["buy bread", "water the plants", "milk"]


async def test_an_emptied_list_is_not_filled_again(path: Path) -> None:
    for title in FIRST_TASKS:
        await call(path, "complete_task", title=title)
    assert await call(path, "list_tasks") == "The list is empty."


async def test_a_task_is_not_added_twice(path: Path) -> None:
    assert (
        await call(path, "create_task", title="Buy bread")
        == '"Buy bread" was on the list already.'
    )
    assert len(TaskList(path).titles()) == 3


async def test_a_blank_title_is_a_failed_call(path: Path) -> None:
    came = await call_tool(demo_tools(path)[1], {"title": " "}, context())
    assert came.failed
    assert len(TaskList(path).titles()) == 3


async def test_a_title_nobody_knows_is_a_failed_call_that_names_the_open_ones(path: Path) -> None:
    complete = demo_tools(path)[2]
    came = await call_tool(complete, {"title": "mow"}, context())
    assert came.failed
    assert "buy bread, call the dentist, water the plants" in came.message


def test_only_the_writing_tools_ask(path: Path) -> None:
    assert {tool.name for tool in demo_tools(path) if tool.writes} == {
        "create_task",
        "complete_task",
    }


def test_the_file_is_private(path: Path) -> None:
    TaskList(path).titles()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_two_first_uses_at_once_fill_the_list_once(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: TaskList(path).titles(), range(8)))
    assert found == [list(FIRST_TASKS)] * 8


def test_a_broken_file_says_what_to_do_and_stays_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StorageError, match="Move the file away"):
        TaskList(path).titles()
    assert path.read_bytes() == b"not a database" * 100


def test_a_stopped_first_use_is_made_good(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert TaskList(path).titles() == list(FIRST_TASKS)
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_task_that_two_programs_add_at_once_is_there_once(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda _: TaskList(path).add("milk"), range(8)))
    assert sorted(added) == [False] * 7 + [True]
    assert TaskList(path).titles() == [*FIRST_TASKS, "milk"]


def test_a_list_that_another_program_holds_is_busy_and_no_reason_to_move_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TaskList(path).titles()
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name, timeout: real(name, timeout=0.05))
    with closing(real(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusy, match="in use by another program"):
            TaskList(path).add("milk")
