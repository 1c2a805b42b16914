from __future__ import annotations

from typing import Any

import pytest

from goliath_local.errors import ConfigError, FileError
from goliath_local.filesystem import create_filesystem, in_memory_filesystem, static_filesystem

READ = {"glob", "grep", "read_file"}
WRITE = {"write_file", "edit_file", "delete_file"}


def test_only_reading_is_offered_unless_told() -> None:
    assert set(create_filesystem().tools) == READ
    assert set(create_filesystem(read_only=False).tools) == READ | WRITE
    assert list(create_filesystem(tools=["grep"]).tools) == ["grep"]


@pytest.mark.parametrize("name", sorted(WRITE))
def test_asking_for_a_write_tool_while_read_only_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="read_only=False"):
        create_filesystem(tools=["glob", name])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tools": ["readFile"]}, "no file tool 'readFile'"),
        ({"read": {"max_lines": 0}}, "read.max_lines is 0"),
        ({"read": {"max_lines": 1001}}, "1 to 1000"),
        ({"read": {"max_lines": 10, "default_lines": 11}}, "1 to 10"),
        ({"read": {"default_lines": 2.5}}, "2.5"),
        ({"read": {"lines": 3}}, "read has no 'lines'"),
        ({"search": {"max_matches": 101}}, "1 to 100"),
        ({"search": {"max_files": 0}}, "1 to 1024"),
        ({"search": {"max_files": True}}, "True"),
        ({"read_only": False, "backend": static_filesystem({})}, "can only be read"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        create_filesystem(**options)


def test_a_root_that_is_no_path_is_refused() -> None:
    with pytest.raises(FileError, match="starts with /"):
        create_filesystem(root="notes")


def test_the_tools_have_their_flags() -> None:
    for name, tool in create_filesystem(read_only=False).tools.items():
        assert tool.name == name
        assert tool.writes == tool.requires_confirmation == (name in WRITE)
        assert tool.output_mode == ("summary" if name in WRITE else "content")


def test_the_arguments_are_flat_and_named_as_specified() -> None:
    tools = create_filesystem(read_only=False).tools
    expected = {
        "glob": (["pattern", "cursor"], ["pattern"]),
        "grep": (["pattern", "path", "ignoreCase", "cursor"], ["pattern"]),
        "read_file": (["path", "offset", "limit", "cursor"], ["path"]),
        "write_file": (["path", "content", "revision"], ["path", "content"]),
        "edit_file": (["path", "revision", "old_text", "new_text"],) * 2,
        "delete_file": (["path", "revision"],) * 2,
    }
    for name, (properties, required) in expected.items():
        schema = tools[name].parameters.json
        assert list(schema["properties"]) == properties
        assert schema["required"] == required
        kinds = {part["type"] for part in schema["properties"].values()}
        assert kinds <= {"string", "integer", "boolean"}


async def test_a_back_end_function_is_given_the_tool_context_of_each_call(context: Any) -> None:
    seen = []

    async def backend(given: Any) -> Any:
        seen.append(given)
        return in_memory_filesystem({"/a": f"for {given.conversation_id}"})

    made = create_filesystem(backend=backend)
    for name in ("x", "y"):
        here = context(conversation_id=name)
        page = await made.tools["read_file"].execute({"path": "/a"}, here)
        assert page["content"] == f"for {name}"
        assert seen[-1] is here
