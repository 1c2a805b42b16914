"""B9: whatever a name is, nothing outside the data, models and named folders is touched.

What Python opens, lists, makes, moves and removes is written down (see `tests/audit.py`).
"""

from __future__ import annotations

import contextlib
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from goliath_local.catalogue import Pin, UrlSource, fetch, installed_path, locate_model
from goliath_local.catalogue.folder import path_in
from goliath_local.catalogue.record import read_record
from goliath_local.cli.holding import Seat
from goliath_local.cli.places import Places
from goliath_local.cli.sources import load_tools
from goliath_local.cli.tracefile import TraceFile, find_trace
from goliath_local.errors import ConfigError, FileError, GoliathError, StorageError
from goliath_local.filesystem import sqlite_filesystem
from goliath_local.memory import empty_memory, file_memory, sqlite_memory
from tests import audit
from tests.filesystem.test_paths import HOSTILE
from tests.levers import slow_after

NOBODY = "~none.of.that.name"
MORE = ("A", "a", "\u00e9", "e\u0301", "\\\\host", "", " ", "..", NOBODY, "**/**/*a*b")
IDS = (*HOSTILE, *MORE)


@pytest.fixture
def outside(home: Path) -> Any:
    """Something beside the folders that every stray path would meet; it has to stay as it is."""
    for name in ("x", "~", "$HOME", "secret.txt"):
        (home.parent / name).write_text("SECRET")
    before = _tree(home.parent)
    yield home.parent
    kept = {path: text for path, text in _tree(home.parent).items() if path in before}
    assert kept == before


def _tree(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("store", ["files", "sqlite"])
async def test_conversations_of_any_name_lie_in_their_folder(
    store: str, outside: Path, touched: Any
) -> None:
    folder = outside / "data"
    folder.mkdir()
    memories = file_memory(folder) if store == "files" else sqlite_memory(folder / "c.sqlite")
    for name in IDS:
        touched()
        with contextlib.suppress(ConfigError, StorageError):
            await memories(name).save(empty_memory())
            await memories(name).load()
        assert audit.strays(touched(), folder) == []
    names = [one.conversation_id for one in memories.conversations()]
    assert len(names) == len(set(names))
    assert {"A", "a", "\u00e9", "e\u0301"} <= set(names)
    assert not any(unicodedata.is_normalized("NFC", name) for name in names if name == "e\u0301")
    for name in IDS:
        memories.remove(name)
    assert audit.strays(touched(), folder) == []
    assert memories.conversations() == ()


async def test_a_link_in_place_of_a_conversation_is_replaced_and_not_written_through(
    outside: Path,
) -> None:
    folder = outside / "data"
    memories = file_memory(folder)
    await memories("one").save(empty_memory())
    [file] = [path for path in folder.iterdir() if path.suffix == ".json"]
    file.unlink()
    file.symlink_to(outside / "secret.txt")
    with contextlib.suppress(StorageError):
        await memories("one").save(empty_memory())
    assert (outside / "secret.txt").read_text() == "SECRET"


def test_seats_of_conversations_lie_in_their_folder(outside: Path, touched: Any) -> None:
    folder = outside / "data" / "locks"
    for name in IDS:
        seat = Seat(folder)
        touched()
        seat.take(name)
        seat.close()
        assert audit.strays(touched(), folder.parent) == []


def test_traces_are_found_in_their_folder_alone(outside: Path, touched: Any) -> None:
    folder = outside / "traces"
    TraceFile(folder, "01").turn({"ask": "x"})
    for name in IDS:
        touched()
        with pytest.raises(StorageError):
            find_trace(folder, name)
        assert audit.strays(touched(), folder) == []


def test_a_model_file_of_any_name_lies_in_the_models_folder(outside: Path, touched: Any) -> None:
    folder = outside / "models"
    folder.mkdir()
    source = UrlSource(url="http://127.0.0.1:9/x.gguf")
    for name in IDS:
        touched()
        with contextlib.suppress(GoliathError):
            assert path_in(folder, name).parent == folder
        with contextlib.suppress(GoliathError):
            read_record(folder, name)
        with contextlib.suppress(GoliathError, ValueError):
            pin = Pin(name="odd", file=name, size_bytes=9, sha256="0" * 64, sources=(source,))
            installed_path(pin, folder)  # type: ignore[arg-type]
            fetch(pin, folder, offline=True)
        assert audit.strays(touched(), folder) == []
        # What looks like a path names a file; it is looked at and nothing is made of it.
        with contextlib.suppress(GoliathError):
            locate_model(name, folder)
        assert not [event for event, _, changes in touched() if changes]


def test_tool_files_are_read_where_they_are_named(outside: Path, touched: Any) -> None:
    data = outside / "data"
    places = Places(data=data, config_file=outside / "config.toml")
    for said in (whole for name in IDS for whole in (name, f"{name}.py", f"{name}:x")):
        touched()
        with contextlib.suppress(GoliathError):
            load_tools([said], places)
        seen = touched()
        # The folder that was named is looked into for a name that is like it.
        assert {event for event, _ in audit.strays(seen, data)} <= {"open", *audit.READS}
        assert not [event for event, _, changes in seen if changes]


def test_the_file_of_a_tool_set_is_the_named_one_alone(outside: Path, touched: Any) -> None:
    for name in (
        ".",
        "~",
        "$HOME",
        "D:x",
        "a:b",
        "CON",
        "%2e%2e/x",
        "**/**/*a*b",
        "~none.of.that.name",
    ):
        touched()
        with contextlib.suppress(GoliathError):
            load_tools([f"notes:{name}"], Places(data=outside, config_file=outside / "c.toml"))
        assert audit.strays(touched(), Path.cwd(), Path.home()) == []


async def test_files_in_sqlite_lie_in_the_database_whatever_namespace_and_path(
    outside: Path, touched: Any
) -> None:
    folder = outside / "data"
    folder.mkdir()
    spaces = [name for name in IDS if name.strip()]
    assert len(spaces) == len(set(spaces))
    touched()
    for number, space in enumerate(spaces):
        files = sqlite_filesystem(folder / "files.sqlite", namespace=space)
        await files.write("/own", str(number))
        with contextlib.suppress(FileError):
            await files.write(space, "x")
        with contextlib.suppress(FileError):
            await files.write(f"/{space}", "x")
    for number, space in enumerate(spaces):
        files = sqlite_filesystem(folder / "files.sqlite", namespace=space)
        assert (await files.read("/own")).content == str(number)
    assert audit.strays(touched(), folder) == []
    assert {path.name.partition(".")[0] for path in folder.iterdir()} == {"files"}


@pytest.mark.parametrize(
    "name", slow_after(2, ["../x", "\\\\host", ".", "~", "$HOME", "D:x", "/etc/passwd"])
)
def test_a_whole_turn_in_a_conversation_of_any_name(
    name: str, goliath: Any, home: Path, tmp_path: Path, touched: Any, outside: Path
) -> None:
    script = home / "script.json"
    plan = {"json": {"why": "w", "kind": "answer", "brief": "b"}}
    script.write_text(json.dumps({"replies": [plan, {"text": "Hi."}]}))
    touched()
    ran = goliath("run", "-c", name, "--engine", f"fake:{script}", "hello")
    found = audit.strays(touched(), home)
    assert ran.code == 0, ran.err
    assert found == []


def test_a_stray_is_seen(tmp_path: Path, touched: Any) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    (tmp_path / "x").write_text("")
    (inside / "y").write_text("")
    (inside / "y").rename(tmp_path / "y")
    (tmp_path / "z").mkdir()
    Path("/etc/passwd").read_bytes()
    found = audit.strays(touched(), inside)
    names = {(event, Path(path).name) for event, path in found}
    assert names == {("open", "x"), ("os.rename", "y"), ("os.mkdir", "z"), ("open", "passwd")}
