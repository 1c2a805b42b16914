"""Several pulls of one model, locks that work and locks that lie, owners that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import pytest

from goliath_local.catalogue import Waiting, fetch
from goliath_local.catalogue.lock import one_at_a_time
from tests.catalogue import server
from tests.catalogue.maker import card, large_gguf

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.catalogue.server import Handler, Place

CONTENT = large_gguf(500_000)


def slowly(handler: Handler) -> None:
    content = handler.place.content
    first = handler.begin_honestly(content)
    for at in range(first, len(content), 50_000):
        handler.send(content[at : min(at + 50_000, len(content))])
        time.sleep(0.01)


def held(until: threading.Event) -> Callable[[Handler], None]:
    """Send a half, then wait: no machine is then too fast for what has to happen meanwhile."""

    def reply(handler: Handler) -> None:
        content = handler.place.content
        first = handler.begin_honestly(content)
        middle = max(first, len(content) // 2)
        handler.send(content[first:middle])
        until.wait(120)
        handler.send(content[middle:])

    return reply


def pull_in_threads(
    folder: Path, count: int, *, waits: Callable[[], None] = lambda: None
) -> tuple[list[Any], list[Exception]]:
    done: list[Any] = []
    failed: list[Exception] = []
    notes: list[Any] = []

    def note(what: Any) -> None:
        notes.append(what)
        if isinstance(what, Waiting):
            waits()

    def pull() -> None:
        try:
            done.append(fetch(card(CONTENT), folder, report=note))
        except Exception as error:  # noqa: BLE001 - the test looks at them
            failed.append(error)

    threads = [threading.Thread(target=pull) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return notes, failed


def test_six_pulls_at_once_fetch_once(folder: Path, hub: Callable[..., Place]) -> None:
    somebody_waits = threading.Event()
    place = hub(CONTENT, held(somebody_waits))
    notes, failed = pull_in_threads(folder, 6, waits=somebody_waits.set)
    assert failed == []
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert place.sent_bytes <= 1.1 * len(CONTENT)
    waited = [note for note in notes if isinstance(note, Waiting)]
    assert waited
    assert str(os.getpid()) in waited[-1].owner or waited[-1].owner == "another process"


def test_the_file_is_right_though_locks_lie(
    folder: Path, hub: Callable[..., Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filelock.FileLock, "acquire", lambda *_, **__: None)
    hub(CONTENT, slowly)
    pull_in_threads(folder, 4)  # some may be told that the part was taken away
    fetch(card(CONTENT), folder)
    assert (folder / "tiny.gguf").read_bytes() == CONTENT


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from goliath_local.catalogue import fetch
from tests.catalogue.maker import card, large_gguf
fetch(card(large_gguf(500_000)), Path(sys.argv[1]))
"""


def child(folder: Path) -> subprocess.Popen[bytes]:
    code = CHILD.format(root=str(Path(__file__).parents[2]))
    return subprocess.Popen([sys.executable, "-c", code, str(folder)], stderr=subprocess.DEVNULL)


def wait_for_bytes(folder: Path, size: int) -> None:
    part = folder / "tiny.gguf.part"
    end = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size >= size):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_two_pulls_at_once_fetch_once(folder: Path, hub: Callable[..., Place]) -> None:
    somebody_waits = threading.Event()
    place = hub(CONTENT, held(somebody_waits))
    _, failed = pull_in_threads(folder, 2, waits=somebody_waits.set)
    assert failed == []
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert place.sent_bytes <= 1.1 * len(CONTENT)


@pytest.mark.slow
def test_a_killed_pull_gives_its_lock_and_its_part_to_the_next(
    folder: Path, hub: Callable[..., Place]
) -> None:
    is_dead = threading.Event()
    place = hub(CONTENT, held(is_dead))
    first = child(folder)
    wait_for_bytes(folder, 100_000)
    first.send_signal(signal.SIGKILL)
    first.wait()
    is_dead.set()
    place.replies[:] = [server.honest]
    fetch(card(CONTENT), folder)  # the dead hold no lock
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert place.ranges()[-1] is not None


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 6])
def test_several_processes_fetch_once(folder: Path, hub: Callable[..., Place], count: int) -> None:
    place = hub(CONTENT, slowly)
    children = [child(folder) for _ in range(count)]
    assert [one.wait() for one in children] == [0] * count
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert place.sent_bytes <= 1.1 * len(CONTENT)


HOLDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from goliath_local.catalogue.lock import one_at_a_time
from goliath_local.catalogue.progress import ignore
with one_at_a_time(Path(sys.argv[1]), "tiny.gguf", report=ignore, cancel=None):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_the_lock_of_a_dead_owner_is_broken_within_five_seconds(folder: Path) -> None:
    folder.mkdir(parents=True)
    code = HOLDER.format(root=str(Path(__file__).parents[2]))
    owner = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    waits, taken = threading.Event(), threading.Event()

    def take() -> None:
        def told(_: Any) -> None:
            waits.set()

        with one_at_a_time(folder, "tiny.gguf", report=told, cancel=None):
            taken.set()

    waiting = threading.Thread(target=take)
    with owner:
        try:
            assert owner.stdout.readline() == b"held\n"
            waiting.start()
            assert waits.wait(60)
            assert not taken.wait(0.5)  # as long as its owner lives
        finally:
            owner.kill()
    assert taken.wait(5)
    waiting.join()


def test_the_note_of_a_dead_owner_holds_nobody_up(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / ".tiny.gguf.owner").write_text('{"pid": 1}')
    (folder / ".tiny.gguf.lock").touch()
    told: list[Any] = []
    with one_at_a_time(folder, "tiny.gguf", report=told.append, cancel=None):
        assert told == []


WATCHED = (
    """
import os, sys
from pathlib import Path
opened = []
def watch(event, args):
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)):
        mode, flags = args[1], args[2]
        if (mode and any(c in mode for c in "wax+")) or flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(os.fsdecode(args[0]))
sys.addaudithook(watch)
"""
    + CHILD
    + """
place = Path(sys.argv[1]).resolve()
final = str(place / "tiny.gguf")
assert final not in [os.path.abspath(name) for name in opened], opened
assert str(place / "tiny.gguf.part") in opened, opened
assert all(Path(name).is_relative_to(place) or "/pip" in name or name.startswith("/dev/")
           or name.endswith(".pyc") or ".pyc." in name for name in opened), opened
"""
)


def test_nothing_is_opened_for_writing_under_the_final_name(
    folder: Path, hub: Callable[..., Place]
) -> None:
    hub(CONTENT)
    code = WATCHED.format(root=str(Path(__file__).parents[2]))
    ran = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
