"""Signals at random moments of a chat and of a run, on pseudo-terminals (F11).

    python scripts/signals.py --count 36 --seed 0

A scripted model answers; the chat adds a task after a yes. SIGINT, SIGTERM, SIGHUP, SIGWINCH or
SIGTSTP with SIGCONT come at any moment from the start on, and a reader of `run` goes away. Then:
the exit code is the right one, the terminal's settings are those from before, the stores are
sound, no temporary file and no process is left. Exit code 1 if not. Needs pexpect.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pexpect
import psutil

ROOT = Path(__file__).parents[1]
IDLE_S = 1.5
"""Silence after which a prompt on the last line is taken to wait for an answer."""

ROUND_S = 90
MOMENTS_S = 6.0
CODES = {
    "SIGINT": {0, 130},
    "SIGTERM": {143},
    "SIGHUP": {129},
    "SIGWINCH": {0},
    "SIGTSTP": {0},
}
_SCRIPT = [
    {"json": {"why": "w", "kind": "tool", "tool": "create_task", "brief": "add"}},
    {"json": {"title": "milk"}},
    {"json": {"why": "w", "kind": "answer", "brief": "tell"}},
    {"text": "It is on the list now. " * 20},
]
_CODE = re.compile(rb"code (\d+)\r\n")


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG"}}
    own = {"HOME": str(home), "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    return kept | own | {"PYTHONPATH": str(ROOT)}


def chat(home: Path, name: str, after_s: float, *, columns: int) -> list[str]:
    """Send the signal so long after the start; return what is not as it should be."""
    engine = home / "script.json"
    engine.write_text(json.dumps({"replies": _SCRIPT, "load_s": 0.3, "read_s": 0.3}))
    program = f"{sys.executable} -m goliath_local chat --engine fake:{engine} -T demo"
    # The shell waits on, and does not hand on that it does. It controls jobs, as a person's does:
    # without that nothing stops at SIGTSTP.
    line = (
        f"set -m; trap : TERM HUP INT; stty -g; {program}; code=$?; "
        "while [ $code = 148 ]; do fg; code=$?; done; echo code $code; stty -g"
    )
    child = pexpect.spawn(
        "/bin/bash", ["-c", line], env=environment(home), dimensions=(40, 100), timeout=None
    )
    seen, is_sent, is_asked = b"", False, False
    start, last = time.monotonic(), time.monotonic()
    while not _CODE.search(seen) and time.monotonic() - start < ROUND_S:
        if not is_sent and time.monotonic() - start > after_s:
            is_sent = _send(child, name, columns)
        try:
            seen += child.read_nonblocking(1 << 16, timeout=0.05)
            last = time.monotonic()
        except pexpect.TIMEOUT:
            if time.monotonic() - last > IDLE_S and (answer := _answer(seen, is_asked=is_asked)):
                is_asked, last = True, time.monotonic()
                child.send(answer)
        except pexpect.EOF:
            break
    with suppress(pexpect.EOF, pexpect.TIMEOUT):
        child.expect(pexpect.EOF, timeout=10)
        seen += child.before or b""
    child.close(force=True)
    return _faults_in(seen, name, is_sent=is_sent) + faults_at(home)


def _send(child: pexpect.spawn, name: str, columns: int) -> bool:
    """Send the signal to the program under the shell; False when it is not there (any more)."""
    with suppress(psutil.Error, IndexError):
        program = psutil.Process(child.pid).children()[0]
        if "goliath_local" not in " ".join(program.cmdline()):
            return False
        if name == "SIGWINCH":
            child.setwinsize(30, columns)
        program.send_signal(getattr(signal, name))
        if name == "SIGTSTP":
            time.sleep(0.3)
            program.send_signal(signal.SIGCONT)
        return True
    return False


def _answer(seen: bytes, *, is_asked: bool) -> str:
    """Return what a person would type now; nothing where nothing is asked."""
    tail = seen[-600:]
    if b"why" in tail and b"[y]" in tail and tail.rfind(b"you>") < tail.rfind(b"[y]"):
        return "y\r"
    if b"you>" in tail:
        return "\x04" if is_asked else "put milk on my list\r"
    return ""


def _faults_in(seen: bytes, name: str, *, is_sent: bool) -> list[str]:
    found = _CODE.search(seen)
    tail = seen[-300:].decode("utf-8", "replace")
    if found is None:
        return [f"it did not end: {tail!r}"]
    wanted = CODES[name] | (set() if is_sent else {0})
    faults = [] if int(found[1]) in wanted else [f"code {found[1].decode()}: {tail!r}"]
    modes = re.findall(rb"(?:[0-9a-f]+:){20,}[0-9a-f]+", seen)
    if len(modes) != 2 or modes[0] != modes[1]:
        faults.append(f"the terminal is left in another mode: {modes}")
    # While Python itself starts, nothing of ours can listen yet.
    if b"Traceback" in seen and b"goliath_local" in seen.partition(b"Traceback")[2]:
        faults.append(f"a traceback: {seen.decode('utf-8', 'replace')}")
    return faults


def run_cut(home: Path, chance: random.Random) -> list[str]:
    """Let the reader of a run go away after its first line, or at once."""
    engine = home / "script.json"
    engine.write_text(json.dumps({"replies": _SCRIPT, "read_s": chance.uniform(0, 0.3)}))
    how = chance.choice(["", "--json", "--jsonl", "-v"])
    program = f"{sys.executable} -m goliath_local run {how} --engine fake:{engine} -T demo --yes"
    reader = chance.choice(["head -1", "head -c 1", "true", "sleep 0.2"])
    line = f'{program} "put milk on my list" | {reader}; exit ${{PIPESTATUS[0]}}'
    ended = subprocess.run(
        ["/bin/bash", "-c", line],
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ROUND_S,
        check=False,
    )
    faults = faults_at(home)
    if ended.returncode not in {0, 141} or "Traceback" in ended.stderr:
        faults.append(f"{how} | {reader}: code {ended.returncode}, {ended.stderr[-300:]}")
    return faults


def faults_at(home: Path) -> list[str]:
    """Return what is wrong with what is stored, and what is left behind."""
    faults = [f"{path.name} is left" for path in home.rglob(".*.tmp")]
    for path in home.rglob("*.sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            if (said := connection.execute("PRAGMA integrity_check").fetchone()) != ("ok",):
                faults.append(f"{path.name}: {said}")
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if str(home) in " ".join(process.cmdline()):
                faults.append(f"process {process.pid} is left")
                process.kill()
    return faults


def main() -> int:
    """Run the rounds and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=6, help="rounds of a signal, or a pipe")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, done, faults = random.Random(options.seed), Counter[str](), 0
    names = [*CODES, "SIGPIPE"]
    for number in range(options.count):
        name = names[number % len(names)]
        after_s, columns = chance.uniform(0, MOMENTS_S), chance.randint(20, 160)
        with tempfile.TemporaryDirectory(prefix="goliath-signals-") as home:
            place = Path(home)
            if name == "SIGPIPE":
                found = run_cut(place, chance)
            else:
                found = chat(place, name, after_s, columns=columns)
        done[name] += 1
        faults += bool(found)
        for fault in found:
            print(f"  FAULT {name} after {after_s:.2f} s: {fault}", flush=True)
    print(f"signals, seed {options.seed}: {dict(done)}, {faults} rounds with faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
