"""Many turns, long life, any order of life (L1, L2, F6, F8): small; scripts/ has the long runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPTS = Path(__file__).parents[2] / "scripts"


def ran(script: str, *options: object, models: Path | None = None) -> str:
    home = {} if models is None else {"GOLIATH_MODELS_DIR": str(models)}
    ended = subprocess.run(
        [sys.executable, str(SCRIPTS / script), *map(str, options)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, **home},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture
def models(weights: Callable[[str], Path]) -> Path:
    return weights("smollm2-135m").parent


@pytest.mark.slow
def test_every_turn_that_ended_is_stored_once_whoever_is_killed_or_cancelled(tmp_path: Path):
    turns = ("--turns", 150, "--conversations", 12, "--kill-after", 0.3, 1)
    said = ran("soak.py", "--model", "fake", "--folder", tmp_path, *turns)
    assert said.startswith("150 turns begun")


@pytest.mark.slow
def test_many_turns_in_one_process_leave_nothing_behind():
    assert ran("lasting.py", "--model", "fake", "--turns", 300).startswith("300 turns")


@pytest.mark.model
@pytest.mark.slow
def test_turns_on_a_real_model_are_stored_once_whoever_is_killed(tmp_path: Path, models: Path):
    turns = ("--turns", 8, "--conversations", 3, "--kill-after", 3, 9)
    assert ran("soak.py", "--folder", tmp_path, *turns, models=models).startswith("8 turns")


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "count"), [("flat", 70), ("loads", 25), ("life", 2), ("short", 4)]
)
def test_the_native_layer_keeps_its_word(way: str, count: int, models: Path):
    ran("native.py", "--way", way, "--count", count, "--lives", 3, models=models)
