from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.errors import ConfigError, StaleFile, StorageError
from goliath_local.filesystem import sqlite_filesystem

if TYPE_CHECKING:
    from pathlib import Path


async def test_of_two_writers_with_one_revision_exactly_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "files.db"
    one, other = sqlite_filesystem(path), sqlite_filesystem(str(path))
    revision = (await one.write("/a", "start")).revision
    for turn in range(10):
        done = await asyncio.gather(
            one.write("/a", f"one {turn}", revision),
            other.write("/a", f"other {turn}", revision),
            return_exceptions=True,
        )
        [won] = [result for result in done if not isinstance(result, BaseException)]
        [lost] = [result for result in done if isinstance(result, BaseException)]
        assert isinstance(lost, StaleFile)
        revision = won.revision
    assert (await one.read("/a")).revision == revision


@pytest.mark.slow
async def test_of_two_processes_creating_a_file_exactly_one_succeeds(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from goliath_local.errors import StaleFile
from goliath_local.filesystem import sqlite_filesystem

async def main():
    files, won = sqlite_filesystem(sys.argv[1]), 0
    for number in range(20):
        try:
            await files.write(f"/{number}", sys.argv[2])
            won += 1
        except StaleFile:
            pass
    print(won)

asyncio.run(main())
"""
    path = tmp_path / "files.db"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "other")
    ]
    won = [int(process.communicate(timeout=600)[0]) for process in running]
    assert sum(won) == 20
    assert len((await sqlite_filesystem(path).list("/")).files) == 20


async def test_namespaces_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "files.db"
    one, other = sqlite_filesystem(path, "one"), sqlite_filesystem(path, "other")
    info = await one.write("/a", "x")
    assert (await other.list("/")).files == ()
    await other.write("/a", "y")
    await one.remove("/a", info.revision)
    assert (await other.read("/a")).content == "y"


@pytest.mark.parametrize("odd", ["'; DROP TABLE goliath_files_v1; --", "%", "..", "ä" * 300])
async def test_a_namespace_is_only_a_name(tmp_path: Path, odd: str) -> None:
    files = sqlite_filesystem(tmp_path / "files.db", odd)
    await files.write("/a", odd)
    assert (await files.read("/a")).content == odd
    assert [entry.name for entry in tmp_path.iterdir()] == ["files.db"]


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_namespace_is_refused(tmp_path: Path, blank: str) -> None:
    with pytest.raises(ConfigError, match="blank"):
        sqlite_filesystem(tmp_path / "files.db", blank)


def test_a_database_in_memory_needs_a_connection() -> None:
    with pytest.raises(ConfigError, match="in_memory_filesystem"):
        sqlite_filesystem(":memory:")


async def test_files_survive_reopening_and_are_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "files.db"
    written = await sqlite_filesystem(path).write("/a", "kept")
    file = await sqlite_filesystem(path).read("/a")
    assert (file.content, file.revision) == ("kept", written.revision)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_nothing_is_opened_before_the_first_operation(tmp_path: Path) -> None:
    sqlite_filesystem(tmp_path / "files.db")
    assert list(tmp_path.iterdir()) == []


async def test_a_factory_that_fails_is_asked_again_and_then_kept(tmp_path: Path) -> None:
    asked = 0
    connection = sqlite3.connect(tmp_path / "files.db")

    async def factory() -> sqlite3.Connection:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise OSError("not yet")
        return connection

    files = sqlite_filesystem(factory)
    with pytest.raises(OSError, match="not yet"):
        await files.list("/")
    await files.write("/a", "x")
    await files.read("/a")
    assert asked == 2
    # Still open, and still the application's own.
    assert connection.execute("SELECT count(*) FROM goliath_files_v1").fetchone() == (1,)
    connection.close()


async def test_the_user_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 41")
        await sqlite_filesystem(connection).write("/a", "x")
        assert connection.execute("PRAGMA user_version").fetchone() == (41,)


async def test_an_open_transaction_stays_the_applications_to_commit(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        files = sqlite_filesystem(connection)
        await files.write("/kept", "x")
        connection.execute("BEGIN")
        await files.write("/undone", "x")
        connection.rollback()
        assert [info.path for info in (await files.list("/")).files] == ["/kept"]


async def test_a_writer_waits_for_another_one_that_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "files.db"
    files = sqlite_filesystem(path)
    await files.write("/a", "x")
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(files.write("/b", "y"))
        await asyncio.sleep(0.1)
        assert not writing.done()
        other.rollback()
        assert (await writing).path == "/b"


def _table_without_a_column(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE goliath_files_v1 (namespace TEXT, path TEXT)")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"not a database at all, whatever it is called" * 20),
        lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 2000),
        lambda path: path.mkdir(),
        _table_without_a_column,
    ],
    ids=["a text", "a header and garbage", "a folder", "a table without a column"],
)
async def test_a_database_that_is_none_is_named_in_the_error(tmp_path: Path, spoil: Any) -> None:
    path = tmp_path / "files.db"
    spoil(path)
    with pytest.raises(StorageError, match=r"files\.db cannot be read or written"):
        await sqlite_filesystem(path).read("/a")


async def test_the_order_is_that_of_code_points_also_in_a_utf16_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16'")
        files = sqlite_filesystem(connection)
        for name in ("\U0001f600", "\uffee", "a"):
            await files.write(f"/{name}", "x")
        listing = await files.list("/")
        assert [info.path for info in listing.files] == ["/a", "/\uffee", "/\U0001f600"]
