from __future__ import annotations

import json
import shutil
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.memory import (
    exchange_from_json,
    file_memory,
    key_value_memory,
    memory_text,
    read_memory,
    sqlite_memory,
    step_from_json,
)
from goliath_local.records import Exchange, MemoryState, StepRecord
from tests.laws.memory import STATE

if TYPE_CHECKING:
    from pathlib import Path

SOUND = {"ask": "a", "answer": "b", "at": 1}
NO_JSON = [
    b"",
    b"{",
    b"\x00" * 4096,
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"\xff\xfe{\x00}\x00",
    b"not json at all",
    b'{"summary": "s"} trailing',
]
OTHER_SHAPES = [b"[]", b"null", b"5", b'"text"', b"true"]


@pytest.mark.parametrize("data", [*NO_JSON, *OTHER_SHAPES], ids=lambda data: repr(data[:12]))
def test_corrupt_stored_text_reads_as_empty_and_says_so(data: bytes) -> None:
    reading = read_memory(data)
    assert reading.state.recent == ()
    assert reading.problems


def test_65_mib_of_spaces_are_refused_by_size() -> None:
    assert "larger than 64 MiB" in read_memory(b" " * (65 * 1024**2)).problems[0]


@pytest.mark.parametrize(
    "data",
    [
        b'{"recent":[' + b"1," * 2_000_000 + b"1]}",
        b'{"recent":[' + b"{}," * 1_000_000 + b"{}]}",
        b'{"recent":[{"ask":"a","answer":"b","at":1,"steps":['
        + b'{"index":0,"kind":"tool","brief":"b","result":"r","output":['
        + b"0," * 1_000_000
        + b"0]}]}]}",
    ],
    ids=["numbers", "objects", "output"],
)
def test_a_large_text_of_nonsense_is_read_in_one_pass(data: bytes) -> None:
    started = time.process_time()
    reading = read_memory(data)
    assert time.process_time() - started < 60  # a hang: looking twice at each takes hours
    assert reading.problems


def test_a_byte_order_mark_before_sound_json_is_no_problem() -> None:
    reading = read_memory(b"\xef\xbb\xbf" + memory_text(STATE).encode())
    assert reading.state == STATE
    assert reading.problems == ()


BAD_EXCHANGES = [
    None,
    5,
    [],
    {},
    {"ask": "a", "answer": "b"},
    {"ask": "a", "at": 1},
    {"ask": 5, "answer": "b", "at": 1},
    {"ask": "a", "answer": None, "at": 1},
    {"ask": "a", "answer": "b", "at": "1"},
    {"ask": "a", "answer": "b", "at": True},
    {"ask": "a", "answer": "b", "at": None},
]


@pytest.mark.parametrize("bad", BAD_EXCHANGES)
def test_one_bad_exchange_drops_only_itself(bad: Any) -> None:
    data = json.dumps({"summary": "s", "recent": [SOUND, bad, {**SOUND, "ask": "c"}]})
    reading = read_memory(data)
    assert [item.ask for item in reading.state.recent] == ["a", "c"]
    assert reading.state.summary == "s"
    assert len(reading.problems) == 1
    assert reading.problems[0].startswith("exchange 1 was left out: ")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000])
def test_a_time_that_is_no_number_drops_its_exchange(number: str) -> None:
    data = f'{{"summary":"","recent":[{{"ask":"a","answer":"b","at":{number}}},' + (
        json.dumps(SOUND) + "]}"
    )
    reading = read_memory(data)
    assert reading.state.recent == (Exchange(ask="a", answer="b", at=1),)
    assert reading.problems


BAD_STEPS = [
    None,
    {},
    {"index": -1, "kind": "tool", "brief": "b"},
    {"index": True, "kind": "tool", "brief": "b"},
    {"index": 1.5, "kind": "tool", "brief": "b"},
    {"index": 0, "kind": "plan", "brief": "b"},
    {"index": 0, "kind": "tool"},
    {"index": 0, "kind": "tool", "brief": "b", "result": 5},
    {"index": 0, "kind": "answer", "brief": "b", "text": []},
]


@pytest.mark.parametrize("bad", BAD_STEPS)
def test_one_bad_step_drops_only_itself(bad: Any) -> None:
    good = {"index": 1, "kind": "tool", "brief": "b", "result": "r"}
    reading = read_memory(json.dumps({"recent": [{**SOUND, "steps": [bad, good]}]}))
    (exchange,) = reading.state.recent
    assert exchange.steps == (StepRecord(index=1, kind="tool", brief="b", result="r"),)
    assert reading.problems


def test_a_step_whose_output_holds_nan_is_left_out() -> None:
    step = '{"index":0,"kind":"tool","brief":"b","result":"r","output":{"x":[NaN]}}'
    reading = read_memory(f'{{"recent":[{{"ask":"a","answer":"b","at":1,"steps":[{step}]}}]}}')
    assert reading.state.recent[0].steps == ()
    assert reading.problems


def test_steps_that_are_no_list_leave_their_exchange() -> None:
    reading = read_memory(json.dumps({"recent": [{**SOUND, "steps": "all"}]}))
    assert reading.state.recent == (Exchange(ask="a", answer="b", at=1),)
    assert reading.problems


def test_unknown_keys_are_not_taken_and_wrong_optional_ones_are_ignored() -> None:
    step = {"index": 0, "kind": "tool", "brief": "b", "result": "r", "cached": "yes", "new": 1}
    assert step_from_json(step) == StepRecord(index=0, kind="tool", brief="b", result="r")
    assert exchange_from_json({**SOUND, "mood": "good"}) == Exchange(ask="a", answer="b", at=1)
    assert exchange_from_json({"ask": "a"}) is None
    assert step_from_json([]) is None


def test_a_key_that_stands_twice_is_told() -> None:
    reading = read_memory('{"summary":"first","summary":"second","recent":[]}')
    assert reading.state.summary == "second"
    assert reading.problems == ("a key stands twice",)


def test_a_newer_version_is_read_as_far_as_it_goes_and_told() -> None:
    reading = read_memory(json.dumps({"version": 99, "summary": "s", "recent": [SOUND]}))
    assert reading.state == MemoryState(summary="s", recent=(Exchange(ask="a", answer="b", at=1),))
    assert reading.problems == ("it says version 99",)


def test_lone_surrogates_become_replacement_characters() -> None:
    reading = read_memory('{"summary":"a\\ud800b","recent":[]}')
    assert reading.state.summary == "a\ufffdb"


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_text_that_breaks_off_gives_what_stands_before(quarter: int) -> None:
    text = memory_text(STATE)
    reading = read_memory(text[: len(text) * quarter // 4])
    assert reading.state.summary == STATE.summary
    assert reading.state.recent == STATE.recent[: len(reading.state.recent)]
    assert len(reading.state.recent) == 1
    assert reading.problems


def test_a_call_without_a_result_loads_as_interrupted() -> None:
    call = {"index": 0, "kind": "tool", "brief": "b", "tool": "pay", "input": {}, "writes": True}
    reading = read_memory(json.dumps({"recent": [{**SOUND, "steps": [call]}]}))
    (step,) = reading.state.recent[0].steps
    assert step.interrupted
    assert step.status == "interrupted"
    assert reading.problems == ()


def test_an_interrupted_exchange_without_an_answer_loads_as_partial() -> None:
    call = {"index": 0, "kind": "tool", "brief": "b", "tool": "pay", "input": {}}
    reading = read_memory(json.dumps({"recent": [{"ask": "pay", "at": 1, "steps": [call]}]}))
    (exchange,) = reading.state.recent
    assert (exchange.ask, exchange.answer, exchange.best_effort) == ("pay", "", True)
    assert exchange.steps[0].interrupted
    assert read_memory(memory_text(reading.state)).state == reading.state


def test_keys_in_stored_json_are_camel_case_and_those_of_the_application_are_not_touched() -> None:
    stored = json.loads(memory_text(STATE))
    first, blocked = stored["recent"][1]["steps"][0], stored["recent"][1]["steps"][2]
    assert stored["recent"][1]["bestEffort"] is True
    assert first["outputMode"] == "content"
    assert first["output"] == [{"title": "milk", "snake_case": 1}]
    assert blocked["skipReason"] == "policy"
    assert "output" not in blocked
    assert "has_output" not in first


def _with_output(output: Any) -> MemoryState:
    step = StepRecord(index=0, kind="tool", brief="b", result="r", output=output, has_output=True)
    return MemoryState(recent=(Exchange(ask="a", answer="b", at=1, steps=(step,)),))


@pytest.mark.parametrize(
    ("output", "is_kept"),
    [("x" * (65_536 - 2), True), ("x" * (65_536 - 1), False), ("漢" * 30_000, False)],
)
def test_outputs_over_64_kib_are_left_out_of_storage(output: str, is_kept: bool) -> None:
    state = _with_output(output)
    (step,) = read_memory(memory_text(state)).state.recent[0].steps
    assert step.has_output is is_kept
    assert step.result == "r"
    assert state.recent[0].steps[0].output == output


@pytest.mark.parametrize("output", [{1, 2}, float("nan"), object(), [float("inf")]])
def test_an_output_without_a_json_form_is_left_out_of_storage(output: Any) -> None:
    (step,) = read_memory(memory_text(_with_output(output))).state.recent[0].steps
    assert not step.has_output


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["summary", "recent", "ask", "answer", "at", "steps", "index", "kind", "output"]
            ),
            inner,
        )
    ),
    max_leaves=30,
)


@given(ANY_JSON)
def test_any_json_loads_and_what_was_loaded_is_stored_whole(value: Any) -> None:
    state = read_memory(json.dumps(value)).state
    again = read_memory(memory_text(state))
    assert again.state == state
    assert again.problems == ()


@given(st.binary(max_size=200))
def test_any_bytes_load(data: bytes) -> None:
    assert isinstance(read_memory(data).state, MemoryState)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_flipped_byte_loses_at_most_what_it_is_in(place: int, byte: int) -> None:
    data = bytearray(memory_text(STATE).encode())
    data[place % len(data)] = byte
    reading = read_memory(bytes(data))
    assert isinstance(reading.state, MemoryState)
    if reading.state != STATE and not reading.problems:
        # Then it is sound JSON that says something else, as nobody can tell.
        json.loads(data)


async def test_unreadable_bytes_of_a_file_are_set_aside_before_a_save(tmp_path: Path) -> None:
    store = file_memory(tmp_path)
    path = tmp_path / "default.json"
    path.write_bytes(b"\xff{broken")
    memory = store(None)
    assert await memory.load() == MemoryState()
    assert memory.warning is not None
    assert "default.json is not wholly readable" in memory.warning
    assert path.read_bytes() == b"\xff{broken"
    await memory.save(STATE)
    (aside,) = tmp_path.glob("default.json.bad-*")
    assert aside.read_bytes() == b"\xff{broken"
    assert aside.stat().st_mode & 0o777 == 0o600
    assert await store(None).load() == STATE


async def test_bytes_are_set_aside_also_when_nobody_looked_before_saving(tmp_path: Path) -> None:
    (tmp_path / "default.json").write_bytes(b"{")
    await file_memory(tmp_path)(None).save(STATE)
    assert [path.read_bytes() for path in tmp_path.glob("*.bad-*")] == [b"{"]


async def test_a_partly_sound_file_is_kept_aside_whole(tmp_path: Path) -> None:
    path = tmp_path / "default.json"
    path.write_text(json.dumps({"summary": "s", "recent": [SOUND, 5]}))
    before = path.read_bytes()
    memory = file_memory(tmp_path)(None)
    loaded = await memory.load()
    assert len(loaded.recent) == 1
    await memory.save(loaded)
    assert [path.read_bytes() for path in tmp_path.glob("*.bad-*")] == [before]


async def test_a_file_over_64_mib_is_moved_aside_unread(tmp_path: Path) -> None:
    path = tmp_path / "default.json"
    with path.open("wb") as file:
        file.truncate(65 * 1024**2)
    memory = file_memory(tmp_path)(None)
    assert await memory.load() == MemoryState()
    await memory.save(STATE)
    (aside,) = tmp_path.glob("*.bad-*")
    assert aside.stat().st_size == 65 * 1024**2
    assert await memory.load() == STATE


async def test_at_most_five_unreadable_files_are_kept(tmp_path: Path) -> None:
    store = file_memory(tmp_path)
    for number in range(8):
        (tmp_path / "default.json").write_text(f"{{{number}")
        await store(None).save(MemoryState())
    kept = sorted(path.read_text() for path in tmp_path.glob("*.bad-*"))
    assert kept == ["{3", "{4", "{5", "{6", "{7"]


async def test_removing_a_conversation_removes_what_was_set_aside_too(tmp_path: Path) -> None:
    store = file_memory(tmp_path)
    await store("one").save(MemoryState(summary="canary"))
    (path,) = tmp_path.glob("one-*.json")
    path.write_text('{"summary": "canary"')
    await store("one").save(MemoryState())
    (tmp_path / f".{path.name}.1.ab.tmp").write_text("canary")
    assert store.remove("one")
    assert not [file for file in tmp_path.iterdir() if b"canary" in file.read_bytes()]


async def test_key_value_memory_sets_bad_text_aside_under_its_own_keys() -> None:
    store = {"chat": "{broken"}
    memory = key_value_memory(store, "chat")
    assert await memory.load() == MemoryState()
    assert memory.warning is not None
    assert store == {"chat": "{broken"}
    await memory.save(STATE)
    assert store["chat.bad-1"] == "{broken"
    assert await memory.load() == STATE
    for number in range(9):
        store["chat"] = f"{{{number}"
        await memory.save(STATE)
    assert sorted(key for key in store if ".bad-" in key) == [f"chat.bad-{n}" for n in range(1, 6)]


@pytest.mark.parametrize("missing", [None, 5, b""])
async def test_a_key_without_text_reads_as_empty(missing: Any) -> None:
    assert await key_value_memory({"goliath.memory": missing}).load() == MemoryState()


def _execute(path: Path, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, values).fetchall()


def _damaged(path: Path, kind: str) -> None:
    if kind == "text":
        path.write_text("this is no database, " * 100)
    elif kind == "garbage":
        data = bytearray(path.read_bytes())
        data[100:] = b"\xa5" * (len(data) - 100)
        path.write_bytes(data)
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[:2000])
    else:
        path.unlink()
        _execute(path, "CREATE TABLE goliath_memory_v1 (conversation TEXT, state TEXT)")


@pytest.mark.parametrize("kind", ["text", "garbage", "cut", "column"])
async def test_an_unsound_sqlite_file_is_set_aside_and_the_next_save_works(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "memory.db"
    await sqlite_memory(path)("one").save(STATE)
    _damaged(path, kind)
    before = path.read_bytes()
    memory = sqlite_memory(path)("one")
    assert await memory.load() == MemoryState()
    assert memory.warning is not None
    assert path.read_bytes() == before
    await memory.save(STATE)
    (aside,) = tmp_path.glob("memory.db.bad-*")
    assert aside.read_bytes() == before
    assert await sqlite_memory(path)("one").load() == STATE


async def test_an_empty_sqlite_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    assert await sqlite_memory(path)("one").load() == MemoryState()
    await sqlite_memory(path)("one").save(STATE)
    assert await sqlite_memory(path)("one").load() == STATE


@pytest.mark.parametrize("text", ["{broken", b"\xff\xfe\x00", "5"])
async def test_an_unsound_row_is_kept_in_a_table_of_its_own(tmp_path: Path, text: Any) -> None:
    path = tmp_path / "memory.db"
    store = sqlite_memory(path)
    await store("one").save(STATE)
    await store("two").save(STATE)
    for _ in range(7):
        _execute(path, "UPDATE goliath_memory_v1 SET state = ?", text)
        memory = store("one")
        assert await memory.load() == MemoryState()
        assert memory.warning is not None
        await memory.save(STATE)
    query = "SELECT CAST(state AS BLOB) FROM goliath_memory_bad_v1"
    raw = text if isinstance(text, bytes) else text.encode()
    assert _execute(path, query) == [(raw,)] * 5


async def test_after_removal_nothing_of_a_conversation_is_left_in_any_file(
    tmp_path: Path,
) -> None:
    store = sqlite_memory(tmp_path / "memory.db")
    await store("other").save(MemoryState(summary="kept"))
    await store("one").save(MemoryState(summary="canary " * 5000))
    await store("one").save(MemoryState(summary="short"))
    assert store.remove("one")
    for file in tmp_path.iterdir():
        assert b"canary" not in file.read_bytes(), file
    assert (await store("other").load()).summary == "kept"


async def test_the_log_beside_an_unsound_database_is_set_aside_with_it(tmp_path: Path) -> None:
    path, here = tmp_path / "a" / "m.db", tmp_path / "b"
    await sqlite_memory(path)("one").save(MemoryState(summary="in the file"))
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT * FROM goliath_memory_v1").fetchall()
        await sqlite_memory(path)("one").save(MemoryState(summary="only in the log"))
        shutil.copytree(path.parent, here)
    assert b"only in the log" not in (here / "m.db").read_bytes()
    (here / "m.db").write_bytes(b"no database" * 100)
    store = sqlite_memory(here / "m.db")
    await store("one").save(MemoryState(summary="new"))
    assert (await store("one").load()).summary == "new"
    # SQLite may have put the log into the file before it was moved.
    kept = b"".join(path.read_bytes() for path in here.glob("m.db.bad-*"))
    assert b"only in the log" in kept
    assert b"no database" in kept
