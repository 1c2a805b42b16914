"""Two chats at once: the second is told who has the conversation, by process and command."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from goliath_local.cli.holding import ConversationBusy, Holder, Seat, holders_of
from goliath_local.cli.problems import ExitCode, read_problem

HOLD = """
import sys
from pathlib import Path
from goliath_local.cli.holding import Seat
sys.argv = ["goliath-local", "chat", "-c", "trip"]
seat = Seat(Path({folder!r}))
seat.take("trip")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locks(home: Path) -> Path:
    return home / ".local/share/goliath-local/locks"


@pytest.fixture
def other(locks: Path):
    """Another process that has the conversation "trip" open."""
    code = HOLD.format(folder=str(locks))
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def test_who_holds_a_conversation_is_told_and_a_dead_holder_holds_nothing(other, locks) -> None:
    seat = Seat(locks)
    with pytest.raises(ConversationBusy) as caught:
        seat.take("trip")
    assert caught.value.holder == Holder(pid=other.pid, command="goliath-local chat -c trip")
    told = str(caught.value)
    assert f"process {other.pid} (goliath-local chat -c trip)" in told
    assert told.endswith("goliath-local chat --new")
    assert read_problem(caught.value).code == ExitCode.BUSY
    other.kill()
    other.wait()
    seat.take("trip")
    seat.close()


def test_a_second_chat_on_a_named_conversation_is_code_10(goliath, script, other) -> None:
    ran = goliath("chat", "-c", "trip", "--engine", script({"text": "x"}))
    assert ran.code == ExitCode.BUSY
    assert f"process {other.pid}" in ran.err
    assert ran.out == ""


def test_a_chat_begins_anew_when_the_last_conversation_is_open(
    goliath, script, locks, monkeypatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
    assert goliath("chat", "--engine", script({"text": "One."})).code == 0
    (before,) = goliath("conversations", "list", "--json").json["conversations"]
    seat = Seat(locks)
    seat.take(before["conversation"])
    try:
        monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
        ran = goliath("chat", "--engine", script({"text": "Two."}))
    finally:
        seat.close()
    assert (ran.code, ran.out) == (0, "Two.\n")
    assert f"is open in process {os.getpid()}" in ran.err
    listed = goliath("conversations", "list", "--json").json["conversations"]
    assert [one["exchanges"] for one in listed] == [1, 1]


def test_another_conversation_is_free_and_the_one_before_is_let_go(locks) -> None:
    one, two = Seat(locks), Seat(locks)
    one.take("a")
    one.take("a")
    one.take("b")
    two.take("a")
    with pytest.raises(ConversationBusy):
        one.take("a")
    with pytest.raises(ConversationBusy):
        two.take("b")
    one.close()
    two.close()
    assert list(locks.glob("*.json")) == []
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in locks.iterdir())


def test_a_note_that_is_garbage_still_says_that_it_is_busy(locks) -> None:
    one = Seat(locks)
    one.take("a")
    note = next(locks.glob("*.json"))
    for garbage in (b"", b"[]", b'{"pid": "x"}', b"\xff"):
        note.write_bytes(garbage)
        with pytest.raises(ConversationBusy, match="open in another process"):
            Seat(locks).take("a")
    one.close()


def test_processes_that_have_a_file_open_are_found(tmp_path) -> None:
    path = tmp_path / "store"
    path.touch()
    code = f"f = open({str(path)!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert [holder.pid for holder in holders_of([path])] == [child.pid]
        child.kill()
    assert holders_of([path]) == ()


@pytest.mark.slow
def test_a_store_that_another_process_keeps_is_code_10_and_says_which(goliath, home) -> None:
    path = home / ".local/share/goliath-local/conversations.sqlite"
    path.parent.mkdir(parents=True)
    code = (
        f"import sqlite3; c = sqlite3.connect({str(path)!r}, isolation_level=None);"
        "c.execute('PRAGMA locking_mode=EXCLUSIVE'); c.execute('BEGIN EXCLUSIVE');"
        "c.execute('CREATE TABLE t (x)'); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        ran = goliath("conversations", "list")
        child.kill()
    assert ran.code == ExitCode.BUSY
    assert f"It is open in process {child.pid} (" in ran.err


def test_addresses_on_a_command_line_are_told_without_their_keys(
    locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://ana:pw-canary@example.org/hook?token=tok-canary"
    words = ["chat", "--fallback", address, f"--fallback={address}"]
    monkeypatch.setattr(sys, "argv", ["goliath-local", *words])
    seat = Seat(locks)
    seat.take("trip")
    [note] = locks.glob("*.json")
    assert "canary" not in note.read_text()
    assert "chat --fallback https://example.org/hook --fallback=https://" in note.read_text()
    seat.close()
