"""The watch of the native trials: a step that does not end is named, with where its time went."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUCK = """
import threading
from scripts.trials.life import Watch

watch = Watch(0.2)
with watch.step("step 0 load"):
    pass
with watch.step("step 1 close"):
    threading.Event().wait()
"""


def test_a_step_that_never_ends_is_named_and_told_from_a_slow_one() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STUCK], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stdout.splitlines()[-1] == "step 1 close ..."
    first, *stacks = ended.stderr.splitlines()
    assert first.startswith("step 1 close is not over after ")
    assert re.search(r"[\d.]+ s computed, [\d.]+ s waited for a core, [\d.]+ s slept$", first)
    assert any("in wait" in line for line in stacks), "where each thread stands"
