"""The command on real weights: silent, private, stoppable, repeatable."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.model, pytest.mark.slow]

TINY = "smollm2-135m"


@pytest.fixture
def shell(home, weights, monkeypatch):
    """Run a shell line; `goliath-local` stands for the command, on the tiny model."""
    folder = weights(TINY).parent
    monkeypatch.setenv("GOLIATH_MODELS_DIR", str(folder))
    monkeypatch.setenv("GOLIATH_MODEL", TINY)

    def run(line: str, **options) -> subprocess.CompletedProcess[str]:
        line = line.replace("goliath-local", f"{sys.executable} -m goliath_local")
        return subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=False, **options
        )

    return run


def test_json_is_all_of_stdout_and_stderr_is_empty(shell) -> None:
    ran = shell("goliath-local run --json 'Say hello.' < /dev/null")
    assert ran.stderr == ""
    document = json.loads(ran.stdout)
    assert document["text"]
    assert document["model"]["name"] == TINY
    assert len(document["model"]["sha256"]) == 64
    assert document["usage"]["completion_tokens"] > 0
    assert document["time"]["first_token_s"] > 0


def test_native_lines_come_only_when_asked_for_and_with_a_prefix(shell) -> None:
    ran = shell("goliath-local run -v 'Say hello.' < /dev/null")
    lines = ran.stderr.splitlines()
    assert any(line.startswith("llama.cpp: ") for line in lines)
    assert [line for line in lines if not line.startswith(("llama.cpp: ", "engine: "))] == []


def test_no_socket_is_opened(shell, tmp_path) -> None:
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import sys\n\ndef audit(event, args):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        "        raise RuntimeError(event)\n\nsys.addaudithook(audit)\n"
    )
    ran = shell(
        "goliath-local run 'Say hello.' < /dev/null && goliath-local tokens <<< hi",
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert (ran.returncode, "RuntimeError" in ran.stderr) == (0, False)


def test_a_replay_gives_the_same_bytes(shell) -> None:
    shell("goliath-local run -T demo 'What is on my list?' < /dev/null")
    ran = shell("goliath-local trace replay last")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "replies are the same bytes" in ran.stdout


# Every batch is evaluated again and again: no machine is fast enough to come to its end.
ENDLESS = """
import sys
from goliath_local.__main__ import main
from goliath_local.engine.native.session import Session

once = Session._evaluate_batch

def endless(self, ids, *, outputs):
    while True:
        before = self.length
        once(self, ids, outputs=outputs)
        self.truncate(before)

Session._evaluate_batch = endless
sys.exit(main())
"""


def test_time_that_is_up_stops_the_native_code(shell, tmp_path) -> None:
    endless = tmp_path / "endless.py"
    endless.write_text(ENDLESS)
    ran = shell(f"{sys.executable} {endless} run --timeout 2 'Count.' < /dev/null")
    assert (ran.returncode, ran.stdout) == (124, "")
    assert "2 s" in ran.stderr


def test_tokens_are_counted_by_the_model(shell) -> None:
    ran = shell("goliath-local tokens --json <<< 'hello <|im_end|>'")
    document = json.loads(ran.stdout)
    assert document["exact"] is True
    assert document["texts"][0] > 4  # the control text is no control token here


def test_the_doctor_generates(shell) -> None:
    ran = shell("goliath-local doctor")
    assert ran.returncode == 0, ran.stdout
    assert "tok/s" in ran.stdout
