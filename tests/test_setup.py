"""What scripts/setup.sh leaves behind when something goes wrong; its pip only plays pip."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

SETUP = Path(__file__).parents[1] / "scripts" / "setup.sh"
PYTHON = """#!/bin/bash
case "$*" in
  -c*) exit 0 ;;
  *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *"-m pip"*) echo $$ >> pids; eval "$PIP_DOES" ;;
esac
"""


@pytest.fixture
def begin(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start the script in a checkout that holds nothing else."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SETUP, tmp_path / "scripts")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("python3", PYTHON), ("c++", "#!/bin/sh\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def begin(pip_does: str = "true", **more: str) -> subprocess.Popen[str]:
        path = {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHON": "python3"}
        return subprocess.Popen(
            ["bash", str(tmp_path / "scripts" / "setup.sh")],
            env=os.environ | path | {"PIP_DOES": pip_does} | more,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


def ended(running: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = running.communicate(timeout=600)  # a hang, not a speed
    return running.returncode, said


FAILURES = {
    "echo 'ERROR: Failed building wheel for llama-cpp-python'; exit 1": "could not be compiled",
    "echo 'NewConnectionError: [Errno 101]'; exit 1": "package index could not be reached",
    "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES'; exit 1": "is not the file",
    "echo 'OSError: [Errno 28] No space left on device'; exit 1": "The disk is full",
    "echo 'something else'; exit 1": "The installation failed",
}


@pytest.mark.parametrize("pip_does", FAILURES)
def test_a_failed_installation_says_its_cause_and_the_next_make_goes_on(
    begin: Callable[..., subprocess.Popen[str]], tmp_path: Path, pip_does: str
) -> None:
    code, said = ended(begin(pip_does))
    assert code == 3
    assert FAILURES[pip_does] in said
    assert "run make again" in said
    assert not (tmp_path / ".venv" / "ready").exists()
    code, said = ended(begin())
    assert (code, said.splitlines()[-1]) == (0, "Ready.")
    assert (tmp_path / ".venv" / "ready").exists()


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_installation_leaves_no_compiler_running(
    begin: Callable[..., subprocess.Popen[str]], tmp_path: Path, name: signal.Signals
) -> None:
    running = begin("exec sleep 300")
    pids = tmp_path / "pids"
    while not (pids.exists() and pids.read_text().strip()):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(name)
    code, said = ended(running)
    assert code == 3
    assert "Stopped." in said
    assert "run make again" in said
    assert not (tmp_path / ".venv" / "ready").exists()
    (pid,) = map(int, pids.read_text().split())
    assert is_gone(pid)
    assert ended(begin())[0] == 0


def is_gone(pid: int) -> bool:
    for _ in range(500):
        try:
            if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_without_a_compiler_nothing_is_fetched(
    begin: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    only = tmp_path / "only"
    only.mkdir()
    for name in ("bash", "dirname", "mkdir", "cp", "python3"):
        found = shutil.which(name, path=f"{tmp_path / 'tools'}:{os.environ['PATH']}")
        assert found
        (only / name).symlink_to(found)
    code, said = ended(begin(PATH=str(only)))
    assert code == 3
    assert "needs a C++ compiler" in said
    assert not (tmp_path / "pids").exists()


def test_an_old_python_is_named_with_what_to_install(
    begin: Callable[..., subprocess.Popen[str]],
) -> None:
    code, said = ended(begin(PYTHON="false"))
    assert code == 3
    assert "Python 3.11 or later is needed" in said
