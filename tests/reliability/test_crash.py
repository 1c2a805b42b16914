"""Kills, disk errors, power cuts of every store: F1, F2, F4. The long runs: scripts/crash.py."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.trials.power import Disk, laid_out, whole_lines
from scripts.trials.stores import STORES

SCRIPT = Path(__file__).parents[2] / "scripts" / "crash.py"
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="needs Linux and strace")

EVERY_CALL = ("memory-file", "memory-sqlite", "config")
"""Killed before each call, for the last sync of a save is the second of its kind."""


def crash(*options: object) -> str:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, options)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("way", ["kill", "error", "power"])
@pytest.mark.parametrize("store", STORES)
def test_a_fault_at_any_call_leaves_the_state_before_or_after(store: str, way: str):
    strides = {"error": 7, "kill": 1 if store in EVERY_CALL else 3}
    stride = strides.get(way, 3)
    said = crash("--store", store, "--way", way, "--stride", stride)
    assert int(said.split()[2]) > 0


@needs_strace
@pytest.mark.slow
def test_a_kill_while_an_error_is_mended_tears_nothing():
    crash("--way", "compound", "--count", 4)


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
def test_kills_at_random_moments_tear_nothing(store: str):
    crash("--store", store, "--way", "random", "--count", 25)


def hexed(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def pictures(folder: Path, *lines: str) -> dict[str, dict[str, bytes]]:
    disk = Disk(folder)
    for line in lines:
        disk.play(line)
    return {
        name: {Path(path).name: data for path, data in files.items()}
        for name, files in disk.images()
    }


def saving(folder: Path, *, synced: bool) -> list[str]:
    """Return the calls of a program that writes beside, and renames."""
    fresh, final = hexed(f"{folder}/.a.tmp"), hexed(f"{folder}/a")
    return [
        f'12 openat(AT_FDCWD, "{fresh}", O_WRONLY|O_CREAT|O_EXCL, 0600) = 5',
        f'12 write(5, "{hexed("new")}", 3) = 3',
        *(["12 fsync(5) = 0"] if synced else []),
        "12 close(5) = 0",
        f'12 rename("{fresh}", "{final}") = 0',
    ]


def test_a_rename_before_the_sync_may_leave_an_empty_file(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"old")
    found = pictures(tmp_path, *saving(tmp_path, synced=False))
    assert found["lost, names kept"] == {"a": b""}
    assert found["cut short, names kept"] == {"a": b"n"}
    assert found["zero-filled, names kept"] == {"a": b"\0\0\0"}
    assert found["lost, names lost"] == {"a": b"old"}


def test_a_rename_after_the_sync_leaves_the_old_file_or_the_new_one(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"old")
    calls = saving(tmp_path, synced=True)
    assert {data["a"] for data in pictures(tmp_path, *calls).values()} == {b"old", b"new"}
    calls += [
        f'12 openat(AT_FDCWD, "{hexed(str(tmp_path))}", O_RDONLY|O_DIRECTORY) = 6',
        "12 fsync(6) = 0",
    ]
    assert {data["a"] for data in pictures(tmp_path, *calls).values()} == {b"new"}


def test_calls_that_threads_interrupt_are_put_together_again():
    log = '1 fsync(3 <unfinished ...>\n2 write(4, "", 0) = 0\n1 <... fsync resumed>) = 0\n'
    assert whole_lines(log) == ['2 write(4, "", 0) = 0', "1 fsync(3) = 0"]


@pytest.mark.parametrize("store", STORES)
def test_a_store_tells_its_states_apart_and_a_damaged_copy_is_no_state(store: str, tmp_path: Path):
    kept, folder = STORES[store], tmp_path / "a"
    folder.mkdir()
    assert [kept.read(folder), kept.change(folder, 1), kept.read(folder)] == [0, None, 1]
    again = tmp_path / "b"
    again.mkdir()
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    laid_out(files, source=folder, target=again)
    assert kept.read(again) == 1
