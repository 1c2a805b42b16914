"""Waiting that can be told to stop."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.cli.waiting import until
from goliath_local.errors import RunCancelled

ROOT = Path(__file__).parents[2]


async def test_work_that_is_cancelled_before_it_begins_leaves_no_warning() -> None:
    cancel = CancelToken()
    cancel.cancel("the time was over before the turn began")
    begun = []

    async def work() -> None:
        begun.append(True)

    with pytest.raises(RunCancelled, match="the time was over"):
        await until(work(), cancel)
    gc.collect()  # "coroutine was never awaited" would be an error here
    assert begun == []


def test_ctrl_c_while_the_program_itself_is_loading_is_code_130_and_no_traceback(
    tmp_path: Path,
) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    ended = subprocess.run(
        [sys.executable, "-m", "goliath_local", "version"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
