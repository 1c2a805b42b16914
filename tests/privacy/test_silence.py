"""P1: with a model here and no fallback, no command opens a socket or asks for an address."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local import create_agent, define_tool
from goliath_local.memory import sqlite_memory
from goliath_local.testing import fake_model

if TYPE_CHECKING:
    from pathlib import Path

REPLIES = [
    {"json": {"why": "w", "kind": "tool", "tool": "list_tasks", "brief": "look"}},
    {"json": {"why": "w", "kind": "answer", "brief": "tell"}},
    {"text": "Nothing to do."},
]

COMMANDS = (
    (0, "run -T demo hello"),
    (0, "run -T demo --json --conversation c hello"),
    (0, "run --jsonl -T demo hello"),
    (0, "run -T demo --dry-run hello"),
    (2, "run --conversation= hello"),
    (8, "run -T demo --max-steps 0 hello"),
    (0, "tokens words.txt"),
    (0, "tools list -T demo"),
    (0, "tools check -T demo"),
    (0, "trace list"),
    (0, "trace show last --prompt"),
    (0, "trace export last"),
    (0, "conversations list"),
    (0, "conversations show last"),
    (0, "conversations rm --all"),
    (0, "config show"),
    (0, "config path"),
    (0, "version"),
    (0, "models list"),
    (0, "models path"),
    (0, "grammar compile schema.json"),
    (None, "doctor --quick"),
    (None, "eval --help"),
    (None, "chat"),
    (3, "models verify"),
)

GUARD = """
import sys

NET = ("socket.", "urllib.", "http.client.", "ftplib.", "smtplib.", "webbrowser.")
HARMLESS = ("socket.__new__",)  # asyncio makes a pair of its own to wake itself up
seen = []


def audit(event, arguments):
    if event == "pickle.find_class" or (event.startswith(NET) and event not in HARMLESS):
        seen.append(f"{event} {arguments!r:.200}")
        raise RuntimeError(event)
    if event == "socket.__new__" and len(arguments) > 1 and arguments[1] not in (1, 0):
        seen.append(f"{event} family {arguments[1]}")
        raise RuntimeError(event)


sys.addaudithook(audit)
"""

DRIVER = """
import json, shlex
from goliath_local.cli import main
told = json.load(open("commands.json"))
for code, line in told["commands"]:
    words = shlex.split(line)
    came = main([*words, *told["more"]] if words[0] in ("run", "chat") else words)
    if code is not None and came != code:
        print(f"CODE {line}: {came}, not {code}", file=sys.stderr)
for each in seen:
    print("NET", each, file=sys.stderr)
"""


def scene(folder: Path) -> dict[str, str]:
    """Prepare a folder in which every command has something to do; return the environment."""
    (folder / "script.json").write_text(json.dumps({"replies": REPLIES}))
    (folder / "words.txt").write_text("some words")
    (folder / "schema.json").write_text('{"type": "integer"}')
    more = ["--engine", f"fake:{folder / 'script.json'}"]
    (folder / "commands.json").write_text(json.dumps({"commands": COMMANDS, "more": more}))
    (folder / "driver.py").write_text(GUARD + DRIVER)
    home = str(folder / "home")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": home, "XDG_DATA_HOME": f"{home}/data", "TERM": "dumb"}


def driven(folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "driver.py"],
        cwd=folder,
        env=scene(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_no_command_opens_a_socket_as_python_sees_it(tmp_path: Path) -> None:
    ran = driven(tmp_path)
    told = [line for line in ran.stderr.splitlines() if line.startswith(("NET", "CODE"))]
    assert told == []
    assert "RuntimeError" not in ran.stderr
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_the_guard_would_see_a_socket(tmp_path: Path) -> None:
    program = GUARD + "import socket\ntry:\n    socket.getaddrinfo('localhost', 80)\n"
    program += "except RuntimeError:\n    print(seen[0].split()[0])\n"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.stdout == "socket.getaddrinfo\n", ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="unshare is a Linux thing")
def test_every_command_does_its_work_without_any_network(tmp_path: Path) -> None:
    trial = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if trial.returncode:
        pytest.skip("this machine lets nobody make a network namespace")
    ran = driven(tmp_path, "unshare", "-rn")
    assert [line for line in ran.stderr.splitlines() if line.startswith(("NET", "CODE"))] == []
    assert ran.returncode == 0, ran.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_command_makes_a_network_call_as_the_kernel_sees_it(tmp_path: Path) -> None:
    log = tmp_path / "calls.txt"
    calls = "trace=connect,sendto,sendmsg,bind,listen,accept4"
    ran = driven(tmp_path, "strace", "-f", "-qq", "-e", calls, "-o", str(log))
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = [line for line in log.read_text().splitlines() if "AF_INET" in line]
    assert found == []


async def test_a_turn_of_an_agent_opens_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **_: Any) -> Any:
        pytest.fail(f"the network was asked: {arguments!r}")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(f"socket.socket.{name}", refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(f"socket.{name}", refuse)
    look = define_tool(name="look", description="Look.", execute=lambda *_: {"seen": "milk"})
    script = [
        {"json": {"why": "w", "kind": "tool", "tool": "look", "brief": "b"}},
        {"json": {"why": "w", "kind": "answer", "brief": "b"}},
        {"text": "Milk."},
        {"json": {"why": "w", "kind": "escalate", "brief": "b"}},
        {"text": "As far as I see."},
    ]
    agent = create_agent(
        model=fake_model(script), tools=[look], memory=sqlite_memory(tmp_path / "m.sqlite")
    )
    assert (await agent.run("What is there?", conversation_id="c")).text == "Milk."
    assert (await agent.run("And what else?", conversation_id="c")).handled_by == "device"
