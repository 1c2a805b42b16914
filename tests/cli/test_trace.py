"""Traces: what is in them, who can read them, how long they stay, whether they repeat."""

import json
import os
import time
from pathlib import Path

import pytest

from goliath_local.cli import tracefile
from goliath_local.cli.ids import is_id, new_id
from goliath_local.cli.problems import ExitCode
from goliath_local.cli.tracefile import TraceFile, find_trace, read_trace, sweep
from goliath_local.errors import StorageError

LIST = {"json": {"why": "w", "kind": "tool", "tool": "list_tasks", "brief": "list them"}}
ANSWER = {"json": {"why": "w", "kind": "answer", "brief": "say it"}}
TEXT = {"text": "Three tasks."}


@pytest.fixture
def folder(home: Path) -> Path:
    return home / ".local/share/goliath-local/traces"


@pytest.fixture
def turn(goliath, script):
    """Run one traced turn; return what `run` printed."""

    def run(*flags: str):
        engine = script(LIST, ANSWER, TEXT)
        ran = goliath("run", "--engine", engine, "-T", "demo", "--json", *flags, "What is up?")
        assert ran.code == 0
        return ran.json

    return run


def test_a_trace_has_the_exact_prompts_the_events_and_the_result(turn, goliath, folder) -> None:
    name = turn()["trace"]
    shown = goliath("trace", "show", "last", "--json").json
    assert shown["turn"]["id"] == name
    assert shown["turn"]["ask"] == "What is up?"
    assert [call["stage"] for call in shown["calls"]] == ["conductor", "conductor", "answer"]
    assert "What is up?" in shown["calls"][0]["user"][-1]["text"]
    assert shown["calls"][2]["reply"]["text"] == "Three tasks."
    assert "tool" in {event["type"] for event in shown["events"]}
    assert shown["result"]["text"] == "Three tasks."


def test_trace_files_are_private_whatever_the_umask(turn, folder) -> None:
    before = os.umask(0)
    try:
        turn()
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


def test_a_trace_is_shown_as_text_with_its_prompts_when_wanted(turn, goliath) -> None:
    name = turn()["trace"]
    short = goliath("trace", "show", name[:8].lower())
    assert "call 3   answer" in short.out
    assert "[user: ask]" not in short.out
    full = goliath("trace", "show", "last", "--step", "1", "--prompt")
    assert "[user: ask]" in full.out
    assert "call 2" not in full.out
    assert goliath("trace", "show", "--step", "9").code == ExitCode.USAGE


def test_traces_are_listed_newest_first(turn, goliath) -> None:
    names = [turn()["trace"], turn()["trace"]]
    listed = goliath("trace", "list").out.splitlines()
    assert [line.split()[0] for line in listed] == names[::-1]
    assert all("What is up?" in line for line in listed)


def test_an_export_is_one_private_document(turn, goliath, tmp_path) -> None:
    turn()
    path = tmp_path / "turn.json"
    assert goliath("trace", "export", "last", "-o", str(path)).code == 0
    assert json.loads(path.read_text())["result"]["text"] == "Three tasks."
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_replay_asks_the_same_again_and_compares_bytes(turn, goliath, script) -> None:
    turn()
    same = goliath("trace", "replay", "--engine", script(LIST, ANSWER, TEXT))
    assert (same.code, same.out.splitlines()[-1]) == (0, "3 of 3 replies are the same bytes.")
    other = goliath("trace", "replay", "--engine", script(LIST, ANSWER, {"text": "Two."}))
    assert other.code == ExitCode.GATE_NOT_MET
    assert "is   Two." in other.out


def test_nothing_is_written_when_traces_are_off(turn, folder, monkeypatch) -> None:
    monkeypatch.setenv("GOLIATH_TRACE", "false")
    assert turn()["trace"] is None
    assert not folder.exists()


def test_old_traces_and_those_beyond_the_bound_go(tmp_path, monkeypatch) -> None:
    now = time.time()
    for number in range(4):
        path = tmp_path / f"{new_id(now_s=now + number, chance=number)}.jsonl"
        path.write_bytes(b"x" * 100)
    oldest = sorted(tmp_path.iterdir())[0]
    os.utime(oldest, (now - 40 * 86_400,) * 2)
    assert sweep(tmp_path, days=30) == 1
    monkeypatch.setattr(tracefile, "MAX_FOLDER_BYTES", 150)
    assert sweep(tmp_path, days=30) == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_a_trace_is_bounded_in_size(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tracefile, "MAX_FILE_BYTES", 500)
    trace = TraceFile(tmp_path, "0" * 26)
    trace.turn({"ask": "x"})
    for _ in range(50):
        trace.result({"text": "y" * 100})
    path = next(tmp_path.iterdir())
    assert path.stat().st_size < 600
    assert path.read_text().splitlines()[-1] == '{"type":"full"}'


def test_a_half_last_line_is_left_out_and_counted(turn, goliath, folder) -> None:
    turn()
    path = next(folder.iterdir())
    path.write_bytes(path.read_bytes()[:-20])
    trace = read_trace(path)
    assert (trace.damaged_lines, trace.result) == (1, {})
    assert "damaged  1 lines" in goliath("trace", "show").out


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 4096, b"[" * 100_000, b"null\n{}", b"\xff\xfe"]
)
def test_a_file_that_is_no_trace_says_so(tmp_path, content) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="holds no turn"):
        read_trace(path)


def test_a_trace_that_cannot_be_written_does_not_cost_the_answer(goliath, script, folder) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    ran = goliath("run", "--engine", script({"text": "Hi."}), "hello")
    assert (ran.code, ran.out) == (0, "Hi.\n")
    assert "The trace was not written" in ran.err


def test_a_name_nobody_knows_says_where_to_look(goliath, folder) -> None:
    ran = goliath("trace", "show", "01KZZ")
    assert ran.code == ExitCode.NETWORK_OR_DISK
    assert 'There is no trace "01KZZ". See: goliath-local trace list' in ran.err
    with pytest.raises(StorageError):
        find_trace(folder, "../../etc/passwd")


def test_ids_sort_by_time_and_are_known_by_their_form() -> None:
    ids = [new_id(now_s=second, chance=0) for second in (1.0, 2.0, 1e9, 1.7e9)]
    assert ids == sorted(ids)
    assert all(len(one) == 26 and is_id(one) for one in ids)
    assert not is_id("../x")
    assert not is_id("")


def test_a_conversation_takes_its_traces_with_it(turn, goliath, folder, home) -> None:
    turn("-c", "trip")
    turn("-c", "work")
    turn()
    assert len(list(folder.iterdir())) == 3
    assert "trip: forgotten, with 1 traces" in goliath("conversations", "rm", "trip").out
    assert len(list(folder.iterdir())) == 2
    names = [
        one["conversation"]
        for one in goliath("conversations", "list", "--json").json["conversations"]
    ]
    assert names == ["work"]


def test_a_forgotten_ask_is_found_in_no_file(goliath, script, home) -> None:
    canary = "CANARY-3141592"
    engine = script({"text": f"About {canary}."})
    assert goliath("run", "--engine", engine, "-c", "trip", "-v", f"Tell me of {canary}").code == 0
    assert any(canary.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())
    goliath("conversations", "rm", "--all")
    left = [
        path for path in home.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()
    ]
    assert left == []


@pytest.mark.parametrize("names", [["trip"], ["--all"]])
def test_damaged_files_that_were_set_aside_go_with_the_first_that_is_forgotten(
    names, turn, goliath, home
) -> None:
    store = home / ".local/share/goliath-local/conversations.sqlite"
    turn("-c", "before")
    store.write_bytes(b"CANARY in a torn page" + store.read_bytes()[21:])
    turn("-c", "trip")  # sets it aside
    assert [path.name for path in store.parent.glob("*.bad-*")]
    said = goliath("conversations", "rm", *names)
    assert "1 damaged file that had been set aside: deleted" in said.out
    assert list(store.parent.glob("*.bad-*")) == []
    assert b"CANARY" not in store.read_bytes()
    assert goliath("conversations", "rm", "--all", "--json").json["damagedFiles"] == 0


def test_a_conversation_is_shown_by_its_name(turn, goliath) -> None:
    turn("-c", "trip")
    shown = goliath("conversations", "show", "trip").out
    assert "you>  What is up?" in shown
    assert "  1 list_tasks: completed" in shown
    assert goliath("conversations", "show", "nothing").code == ExitCode.NETWORK_OR_DISK
    assert goliath("conversations", "rm").code == ExitCode.USAGE
