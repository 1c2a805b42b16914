"""Memory that is short: said with figures, tried in a child first, never our bug (F6)."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from goliath_local.catalogue import machine, needed_bytes, read_gguf_header
from goliath_local.cli import load_probe
from goliath_local.cli.load_probe import Probed
from goliath_local.cli.problems import read_problem
from goliath_local.cli.room import is_room_short, try_in_child
from goliath_local.cli.settings import Settings
from goliath_local.errors import MachineError
from tests.catalogue.maker import large_gguf

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        ImportError("libllama.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
    ids=repr,
)
def test_memory_that_runs_out_anywhere_is_no_bug_of_ours(error: BaseException) -> None:
    problem = read_problem(error)
    assert (problem.code, "not enough memory" in problem.message) == (3, True)


def test_another_import_error_still_is(tmp_path: Path) -> None:
    assert read_problem(ImportError("no module")).code == 1


def free(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    monkeypatch.setattr(machine, "_address_room_bytes", lambda: free_bytes)


def test_a_model_is_refused_tried_or_loaded_by_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(large_gguf(100_000))

    def is_short() -> bool:
        return is_room_short("m", path, window_tokens=4096)

    free(monkeypatch, 1 << 50)
    assert not is_short()
    free(monkeypatch, 0)
    with pytest.raises(MachineError, match=r"needs about .* GiB, 0\.0 GiB is free"):
        is_short()
    header = read_gguf_header(path)
    need = needed_bytes(
        header.file_bytes, header.kv_bytes_per_token or 0, window_tokens=Settings().window
    )
    free(monkeypatch, int(need * 1.25))
    assert is_short()
    free(monkeypatch, int(need * 1.35))
    assert not is_short()


def test_a_child_that_dies_of_it_is_told_and_this_process_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died = Probed(ok=False, why="the test process was ended by SIGABRT", signal="SIGABRT")
    monkeypatch.setattr(load_probe, "run_probe", lambda *_, **__: died)
    with pytest.raises(MachineError, match="SIGABRT"):
        try_in_child("m", Settings())
    monkeypatch.setattr(load_probe, "run_probe", lambda *_, **__: Probed(ok=True))
    try_in_child("m", Settings())
