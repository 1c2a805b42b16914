"""Tool servers named on the command line: by command, or by a file of servers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from goliath_local.errors import ConfigError, ToolServerError
from goliath_local.mcp import is_tool_server, named_tools

if TYPE_CHECKING:
    from collections.abc import Callable

SERVERS = str(Path(__file__).with_name("servers.py"))


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("mcp:uvx mcp-server-time", True),
        ("mcp[one,two]:uvx x", True),
        ("mcp:", True),
        ("mcp", False),
        ("mcp_tools:add", False),
        ("module:attr", False),
    ],
)
def test_a_server_is_told_by_its_form(name: str, is_one: bool) -> None:
    assert is_tool_server(name) is is_one


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mcp:", 'no command. Write for example -T "mcp:uvx'),
        ("mcp:  ", "no command"),
        ("mcp[]:uvx x", r"no tool is named in the brackets. Write mcp\[one,other\]:uvx x"),
        ("mcp:nothing.json", "There is no file nothing.json"),
    ],
)
def test_a_name_that_says_too_little_is_refused(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=words):
        named_tools(name)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "is not a JSON document"),
        ("[]", "the document: .* Write"),
        ("{}", "mcpServers: Field required"),
        ('{"mcpServers": {}}', "names no server"),
        ('{"mcpServers": {"a": {"command": "x", "disabled": true}}}', "names no server"),
        ('{"mcpServers": {"a": {"command": ["x"]}}}', r"mcpServers\.a\.command: "),
        (
            '{"mcpServers": {"a": {"url": "http://x"}}}',
            "a: only servers with a command.* http://x",
        ),
        (
            '{"mcpServers": {"a": {"command": "x", "args": ["${NO_SUCH_NAME}"]}}}',
            "a: the variable NO_SUCH_NAME is not set",
        ),
    ],
)
def test_a_file_that_is_no_list_of_servers_says_where(
    tmp_path: Path, document: str, words: str
) -> None:
    path = tmp_path / "servers.json"
    path.write_text(document)
    with pytest.raises(ConfigError, match=words):
        named_tools(f"mcp:{path}")


@pytest.fixture
def servers(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of servers; each is a name and what its entry says besides the command."""

    def write(**entries: dict[str, Any]) -> Path:
        path = tmp_path / "servers.json"
        listed = {
            name: {
                "command": sys.executable,
                "args": [SERVERS, name.rstrip("2")],
                "start_timeout_s": 100,
                **entry,
            }
            for name, entry in entries.items()
        }
        path.write_text(json.dumps({"mcpServers": listed, "theme": "dark"}))
        return path

    return write


@pytest.mark.slow
async def test_a_file_chooses_tools_for_each_server_and_keeps_keys_in_the_environment(
    servers: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTES_KEY", "k-123")
    path = servers(
        good={"tools": ["environment"], "env": {"API_KEY": "${NOTES_KEY}", "PLAIN": "yes"}},
        many={"tools": ["tool.3"], "prefix": "box-", "type": "stdio"},
    )
    tools = named_tools(f"mcp:{path}")
    assert [tool.name for tool in tools] == ["environment", "box-tool_3"]
    seen = await tools[0].execute({}, None)  # type: ignore[arg-type, misc]  # no context needed
    assert (seen["API_KEY"], seen["PLAIN"]) == ("k-123", "yes")


@pytest.mark.slow
def test_brackets_choose_among_all_servers_of_a_file(servers: Callable[..., Path]) -> None:
    path = servers(good={}, many={})
    tools = named_tools(f"mcp[add tool_6]:{path}")
    assert [tool.name for tool in tools] == ["add", "tool_6"]
    with pytest.raises(ConfigError, match=r"no server offers 'delete'\. They offer add, "):
        named_tools(f"mcp[delete]:{path}")


@pytest.mark.slow
def test_more_tools_than_a_small_model_keeps_apart_are_refused_and_nothing_is_left(
    servers: Callable[..., Path],
) -> None:
    before = set(psutil.Process().children(recursive=True))
    path = servers(good={}, good2={"prefix": "two-"})
    with pytest.raises(ConfigError, match=r"10 tools are too many.*mcp\[add,environment\]"):
        named_tools(f"mcp:{path}")
    after = set(psutil.Process().children(recursive=True)) - before
    assert not [child for child in after if child.is_running()]


@pytest.mark.slow
def test_a_server_that_does_not_start_says_what_to_run() -> None:
    with pytest.raises(ToolServerError, match=r"Its last words: no database at /nowhere.*servers"):
        named_tools(f"mcp:{shlex.join([sys.executable, SERVERS, 'dies'])}")


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "goliath_local", *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=home,
        timeout=800,
    )


@pytest.mark.slow
def test_a_run_uses_a_server_asks_before_its_changes_and_leaves_no_process(
    home: Path, script: Callable[..., str], servers: Callable[..., Path]
) -> None:
    def plan(tool: str) -> dict[str, Any]:
        return {"json": {"why": "w", "kind": "tool", "tool": tool, "brief": "b"}}

    engine = script(
        plan("add"),
        {"json": {"a": 2, "b": 3, "missing": ""}},
        plan("save"),
        {"json": {"text": "5", "missing": ""}},
        {"json": {"why": "w", "kind": "answer", "brief": "b"}},
        {"text": "Five."},
    )
    named = f"mcp[add,save]:{servers(good={})}"
    ask = ("--json", "-T", named, "--engine", engine, "Add 2 and 3, save it")
    ran = _run(home, "run", *ask)
    steps = json.loads(ran.stdout)["steps"]
    assert [(s.get("tool"), s["status"]) for s in steps[:2]] == [
        ("add", "completed"),
        ("save", "skipped"),
    ]
    assert ran.returncode == 6
    allowed = _run(home, "run", "--allow", "save", *ask)
    assert json.loads(allowed.stdout)["steps"][1]["result"] == "saved 5"
    assert allowed.returncode == 0
    assert not [
        process
        for process in psutil.process_iter(["cmdline", "ppid"])
        if SERVERS in (process.info["cmdline"] or ()) and process.info["ppid"] == 1
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("dies", 3, "no database at /nowhere"),
        ("many", 2, "7 tools are too many"),
    ],
)
def test_a_server_that_cannot_be_used_ends_the_command_with_its_reason(
    home: Path, servers: Callable[..., Path], name: str, code: int, words: str
) -> None:
    ran = _run(home, "tools", "check", "-T", f"mcp:{servers(**{name: {}})}")
    assert (ran.returncode, words in ran.stderr, "Traceback" in ran.stderr) == (code, True, False)
