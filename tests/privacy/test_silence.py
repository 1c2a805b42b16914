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
    from collections.abc import Callable
    from pathlib import Path

TINY = "smollm2-135m"
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
    (0, "models info smollm2-135m"),
    (3, "models info nobody"),
    (2, "bench -p many"),
    (3, "bench"),
    (0, "bench --help"),
    (0, "eval run cases.jsonl"),
    (0, "grammar compile schema.json"),
    (None, "doctor --quick"),
    (None, "eval --help"),
    (None, "chat"),
    (3, "models verify"),
)

ON_WEIGHTS = (
    (0, "run -t 1 --max-steps 1 hello"),
    (0, "tokens words.txt"),
    (0, "chat -t 1 --max-steps 1"),
    (0, "bench -t 1 -p 8 -n 1 -r 1"),
    (0, "doctor -t 1"),
)
"""The same on real weights. `doctor` starts children, which strace and the kernel see."""

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
import io, json, shlex
from goliath_local.cli import main
told = json.load(open("commands.json"))
for code, line in told["commands"]:
    words = shlex.split(line)
    sys.stdin = io.StringIO("hello\\n" if words[0] == "chat" else "")
    asks = words[0] in ("run", "chat") or words[:2] == ["eval", "run"]
    came = main([*words, *told["more"]] if asks else words)
    if code is not None and came != code:
        print(f"CODE {line}: {came}, not {code}", file=sys.stderr)
for each in seen:
    print("NET", each, file=sys.stderr)
"""


NETWORK = "trace=socket,connect,sendto,sendmsg,bind,listen,accept4"
STRACE = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", NETWORK, "-o", "calls.txt")

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def scene(folder: Path, commands: Any = COMMANDS, more: tuple[str, ...] = ()) -> dict[str, str]:
    """Prepare a folder in which every command has something to do; return the environment."""
    (folder / "script.json").write_text(json.dumps({"replies": REPLIES}))
    (folder / "words.txt").write_text("some words")
    (folder / "cases.jsonl").write_text('{"id": "greeting", "ask": "hello", "tools": []}\n')
    (folder / "schema.json").write_text('{"type": "integer"}')
    (folder / "commands.json").write_text(json.dumps({"commands": commands, "more": more}))
    (folder / "driver.py").write_text(GUARD + DRIVER)
    home = str(folder / "home")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "HOME": home, "XDG_DATA_HOME": f"{home}/data", "TERM": "dumb"}


KEPT = ("PATH", "LANG", "PYTHONPATH")


def driven(
    folder: Path, *before: str, models: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run every command: on the scripted model, or those on weights in that folder of models."""
    if models is None:
        environ = scene(folder, more=("--engine", f"fake:{folder / 'script.json'}"))
    else:
        own = {"GOLIATH_MODELS_DIR": str(models), "GOLIATH_MODEL": TINY}
        environ = scene(folder, ON_WEIGHTS) | own
    return subprocess.run(
        [*before, sys.executable, "driver.py"],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def faults_of(ran: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what the driver noticed: network calls, exit codes that are not the expected."""
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "RuntimeError" not in ran.stderr
    return [line for line in ran.stderr.splitlines() if line.startswith(("NET", "CODE"))]


def internet_calls(folder: Path) -> list[str]:
    return [line for line in (folder / "calls.txt").read_text().splitlines() if "AF_INET" in line]


def can_unshare() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    return not subprocess.run(
        ["unshare", "-rn", "true"], capture_output=True, check=False
    ).returncode


@pytest.mark.slow
def test_no_command_opens_a_socket_as_python_sees_it(tmp_path: Path) -> None:
    assert faults_of(driven(tmp_path)) == []


def test_the_guard_would_see_a_socket(tmp_path: Path) -> None:
    program = GUARD + "import socket\ntry:\n    socket.getaddrinfo('localhost', 80)\n"
    program += "except RuntimeError:\n    print(seen[0].split()[0])\n"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.stdout == "socket.getaddrinfo\n", ran.stderr


@needs_strace
def test_strace_would_see_a_socket(tmp_path: Path) -> None:
    program = "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"
    subprocess.run([*STRACE, sys.executable, "-c", program], cwd=tmp_path, check=True)
    assert len(internet_calls(tmp_path)) == 1


@pytest.mark.slow
def test_every_command_does_its_work_without_any_network(tmp_path: Path) -> None:
    if not can_unshare():
        pytest.skip("this machine lets nobody make a network namespace")
    assert faults_of(driven(tmp_path, "unshare", "-rn")) == []


@pytest.mark.slow
@needs_strace
def test_no_command_makes_a_network_call_as_the_kernel_sees_it(tmp_path: Path) -> None:
    assert faults_of(driven(tmp_path, *STRACE)) == []
    assert internet_calls(tmp_path) == []


@pytest.mark.model
@pytest.mark.slow
@needs_strace
def test_commands_on_real_weights_need_no_network_and_ask_for_none(
    tmp_path: Path, weights: Callable[[str], Path]
) -> None:
    # One pass for all three nets: a load costs seconds.
    alone = ("unshare", "-rn") if can_unshare() else ()
    ran = driven(tmp_path, *alone, *STRACE, models=weights(TINY).parent)
    assert faults_of(ran) == []
    assert internet_calls(tmp_path) == []


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
