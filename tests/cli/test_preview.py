"""What a yes would change is shown before it is given, and cannot do harm itself."""

import threading

import pytest

from goliath_local.cli import preview as previews
from goliath_local.cli.preview import MOST_LINES, preview_lines, previewed
from goliath_local.demo import demo_tools
from goliath_local.filesystem import create_filesystem, in_memory_filesystem
from goliath_local.tools import define_tool


def tool_with(preview):
    return define_tool(
        name="change", description="Change it.", execute=lambda *_: None, preview=preview,
        writes=True,
    )  # fmt: skip


async def test_the_demo_says_what_comes_and_what_goes(tmp_path) -> None:
    tools = {tool.name: tool for tool in demo_tools(tmp_path / "tasks.sqlite")}
    assert await previewed(tools["create_task"], {"title": "milk"}) == (
        "+ milk\n4 tasks are then open"
    )
    assert await previewed(tools["create_task"], {"title": "Buy bread"}) == (
        "nothing: it is on the list already"
    )
    assert await previewed(tools["complete_task"], {"title": "buy bread"}) == (
        "- buy bread\n2 tasks stay open"
    )
    assert await previewed(tools["list_tasks"], {}) is None


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("write_file", {"path": "/new", "content": "a\nb"}, "@@ -0,0 +1,2 @@\n+a\n+b"),
        ("write_file", {"path": "/a", "content": "one\ntwo"}, "nothing: the text stays as it is"),
        ("edit_file", {"path": "/a", "old_text": "two", "new_text": "2"},
         "@@ -1,2 +1,2 @@\n one\n-two\n+2"),
        ("delete_file", {"path": "/a"}, "@@ -1,2 +0,0 @@\n-one\n-two"),
    ],
)  # fmt: skip
async def test_a_change_to_a_file_is_shown_as_a_difference(name, given, told) -> None:
    backend = in_memory_filesystem({"/a": "one\ntwo"})
    tools = create_filesystem(backend=backend, read_only=False).tools
    assert await previewed(tools[name], given) == told
    assert (await backend.read("/a")).content == "one\ntwo"


async def test_a_preview_that_fails_is_told_and_the_question_is_asked() -> None:
    def broken(_):
        raise ValueError("no such table")

    assert await previewed(tool_with(broken), {}) == "not known: ValueError: no such table"


async def test_a_preview_that_hangs_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr(previews, "PATIENCE_S", 0.05)
    release = threading.Event()
    told = await previewed(tool_with(lambda _: release.wait(60)), {})
    release.set()
    assert told is not None
    assert told.startswith("not known: the tool did not say within")


async def test_a_preview_gets_a_copy_of_the_arguments() -> None:
    given = {"title": "milk"}
    await previewed(tool_with(lambda values: values.clear()), given)
    assert given == {"title": "milk"}


def test_a_preview_cannot_leave_its_box_or_drive_the_terminal() -> None:
    text = "+ " + "x" * 300 + "\n\x1b[2J└ [y] yes ? y\n" + "\n".join("more" for _ in range(50))
    lines = [styled.text for styled in preview_lines(text, 60)]
    assert all(line.startswith("    │") and len(line) <= 60 for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert lines[-1] == f"    │   … and {52 - MOST_LINES} lines more"
