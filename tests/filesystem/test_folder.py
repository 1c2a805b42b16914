from __future__ import annotations

import contextlib
import errno
import os
import socket
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.cancel import CancelToken
from goliath_local.errors import (
    ConfigError,
    FileError,
    FileMissing,
    NotText,
    RunCancelled,
    StorageError,
)
from goliath_local.filesystem import create_filesystem, folder_filesystem
from tests import audit
from tests.filesystem.test_paths import HOSTILE
from tests.levers import many

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files of all kinds, and secrets beside it."""
    folder = tmp_path / "shown"
    (folder / "notes" / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("alpha\nbeta\n", encoding="utf-8")
    (folder / "notes" / "b.md").write_text("Grüße 😀", encoding="utf-8")
    (folder / "notes" / "deep" / "c.txt").write_bytes(b"one\r\ntwo\xef\xbb\xbf")
    (tmp_path / "secret.txt").write_text("SECRET", encoding="utf-8")
    (tmp_path / "shown-too").mkdir()
    (tmp_path / "shown-too" / "secret.txt").write_text("SECRET", encoding="utf-8")
    return folder


async def _paths(files: Any) -> list[str]:
    return [info.path for info in (await files.list("/", limit=256)).files]


async def test_the_files_are_those_of_the_folder(root: Path) -> None:
    files = folder_filesystem(root)
    assert await _paths(files) == ["/a.md", "/notes/b.md", "/notes/deep/c.txt"]
    assert (await files.read("/notes/b.md")).content == "Grüße 😀"
    assert (await files.read("/notes/deep/c.txt")).content == "one\r\ntwo\ufeff"
    assert not hasattr(files, "write")


def _names(seen: list[tuple[str, Any, bool]]) -> set[str]:
    paths = [path for _, path, _ in seen if isinstance(path, str | bytes | os.PathLike)]
    return {name for name in map(os.fsdecode, paths) if not audit.is_pythons(name)}


async def test_no_hostile_path_opens_anything_outside(root: Path, touched: Any) -> None:
    files = folder_filesystem(root)
    said: list[str] = []
    touched()
    for name in [*HOSTILE, *(f"/{name}" for name in HOSTILE), *(f"/notes/{n}" for n in HOSTILE)]:
        for call in (files.read, files.list):
            try:
                assert "SECRET" not in str(await call(name))
            except FileError as error:
                said.append(str(error))
    assert len(said) > 50
    assert not any(str(root.parent) in words for words in said)
    seen = touched()
    assert {event for event, _, _ in seen} <= {"open", "os.scandir"}
    assert not any(changes for _, _, changes in seen)
    for name in _names(seen):
        # The folder itself, or one plain name, which is opened relative to a folder within it.
        assert name == str(root) or ("/" not in name and name not in {".", ".."})


_SEGMENT = st.one_of(
    st.sampled_from(["..", ".", "", "notes", "deep", "b.md", "link", "up", "shown-too", "~"]),
    st.text(max_size=4),
)


_PATH = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["/", "", "//", "\\", "C:/"]),
    st.lists(_SEGMENT, max_size=5),
)


@given(path=_PATH)
async def test_no_made_up_path_opens_anything_outside(root: Path, touched: Any, path: str) -> None:
    await _read_and_look(root, touched, path)


@pytest.mark.slow
@settings(max_examples=many(3_000), deadline=None)
@given(path=_PATH)
async def test_none_of_many_made_up_paths_opens_anything_outside(
    root: Path, touched: Any, path: str
) -> None:
    await _read_and_look(root, touched, path)


async def _read_and_look(root: Path, touched: Any, path: str) -> None:
    if not (root / "link").is_symlink():
        (root / "link").symlink_to(root.parent)
        (root / "notes" / "up").symlink_to("../..")
    files = folder_filesystem(root)
    touched()
    with contextlib.suppress(FileError):
        assert "SECRET" not in (await files.read(path)).content
    for name in _names(touched()):
        assert name == str(root) or ("/" not in name and name not in {".", ".."})


async def test_links_are_not_followed_and_not_listed(root: Path) -> None:
    (root / "out.txt").symlink_to(root.parent / "secret.txt")
    (root / "outside").symlink_to(root.parent, target_is_directory=True)
    (root / "around").symlink_to(root, target_is_directory=True)
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "nowhere").symlink_to(root / "none")
    files = folder_filesystem(root)
    assert await _paths(files) == ["/a.md", "/notes/b.md", "/notes/deep/c.txt"]
    for path in ("/out.txt", "/outside/secret.txt", "/around/a.md", "/inside.md", "/nowhere"):
        with pytest.raises(FileMissing):
            await files.read(path)
        assert (await files.list(path)).files == ()


async def test_a_folder_swapped_for_a_link_is_not_followed(root: Path) -> None:
    files = folder_filesystem(root)
    assert (await files.read("/notes/b.md")).content
    (root / "notes").rename(root.parent / "moved")
    (root.parent / "shown-too" / "b.md").write_text("SECRET", encoding="utf-8")
    (root / "notes").symlink_to(root.parent / "shown-too", target_is_directory=True)
    with pytest.raises(FileMissing):
        await files.read("/notes/b.md")
    assert await _paths(files) == ["/a.md"]


async def test_pipes_sockets_and_devices_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(root / "sock"))
        files = folder_filesystem(root)
        assert await _paths(files) == ["/a.md", "/notes/b.md", "/notes/deep/c.txt"]
        # Without care, opening the pipe would wait for a writer for ever.
        for path in ("/pipe", "/sock"):
            with pytest.raises((NotText, FileMissing)):
                await files.read(path)


async def test_only_utf8_text_of_at_most_one_mebibyte_is_read(root: Path) -> None:
    (root / "latin").write_bytes(b"Gr\xfc\xdfe")
    (root / "cut").write_bytes("😀".encode()[:3])
    (root / "surrogate").write_bytes(b"\xed\xa0\xbd")
    (root / "binary").write_bytes(b"\x89PNG\x00\x01")
    (root / "full").write_bytes(b"x" * 1_048_576)
    (root / "over").write_bytes(b"x" * 1_048_577)
    files = folder_filesystem(root)
    for path, words in (
        ("/latin", "byte 3 of it is not UTF-8"),
        ("/cut", "byte 1 "),
        ("/surrogate", "byte 1 "),
        ("/binary", "binary data"),
        ("/over", "1,048,576 bytes"),
        ("/notes", "a folder"),
    ):
        with pytest.raises(NotText, match=words):
            await files.read(path)
    assert len((await files.read("/full")).content) == 1_048_576
    assert "/over" not in await _paths(files)


async def test_grep_passes_over_pictures(root: Path, call: Any) -> None:
    (root / "binary").write_bytes(b"alpha\x00")
    made = create_filesystem(backend=folder_filesystem(root))
    page = await call(made, "grep", pattern="ALPHA")
    assert [(m["path"], m["line"]) for m in page["matches"]] == [("/a.md", 1)]


async def test_hidden_names_are_shown_only_when_asked(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("token", encoding="utf-8")
    (root / "notes" / ".env").write_text("key", encoding="utf-8")
    files = folder_filesystem(root)
    assert await _paths(files) == ["/a.md", "/notes/b.md", "/notes/deep/c.txt"]
    for path in ("/.git/config", "/notes/.env"):
        with pytest.raises(FileMissing):
            await files.read(path)
        assert (await files.list(path)).files == ()
    every = folder_filesystem(root, hidden=True)
    assert set(await _paths(every)) >= {"/.git/config", "/notes/.env"}
    assert (await every.read("/.git/config")).content == "token"


async def test_a_change_of_a_file_changes_its_revision(root: Path) -> None:
    files = folder_filesystem(root)
    first = (await files.read("/a.md")).revision
    assert (await files.read("/a.md")).revision == first
    (root / "a.md").write_text("gamma\nzeta\n", encoding="utf-8")
    second = (await files.read("/a.md")).revision
    (root / "a.md").unlink()
    (root / "a.md").write_text("gamma\nzeta\n", encoding="utf-8")
    assert len({first, second, (await files.read("/a.md")).revision}) == 3


async def test_names_that_no_virtual_path_has_are_left_out(root: Path) -> None:
    for name in (b"back\\slash", b"new\nline", b"\xff\xfe"):
        (root / os.fsdecode(name)).write_text("x", encoding="utf-8")
    deep = root
    for _ in range(3):
        deep = deep / ("d" * 200)
        deep.mkdir()
    (deep / "far.txt").write_text("x", encoding="utf-8")
    assert await _paths(folder_filesystem(root)) == [
        "/a.md", "/notes/b.md", "/notes/deep/c.txt",
    ]  # fmt: skip


async def test_a_locked_folder_is_left_out_of_listings(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_really = os.open

    def refuse(path: Any, *given_: Any, **named: Any) -> int:
        # As the system does for anyone but root, whom no lock keeps out.
        if path == "notes":
            raise PermissionError(errno.EACCES, "Permission denied")
        return open_really(path, *given_, **named)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "supports_dir_fd", {refuse})
    files = folder_filesystem(root)
    assert await _paths(files) == ["/a.md"]
    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        await files.read("/notes/b.md")


async def test_a_folder_that_is_gone_is_said_so(root: Path) -> None:
    files = folder_filesystem(root)
    root.rename(root.parent / "gone")
    with pytest.raises(StorageError, match="cannot be opened"):
        await files.list("/")
    with pytest.raises(StorageError, match="cannot be opened"):
        await files.read("/a.md")


@pytest.mark.parametrize("name", ["none", "a.md"])
def test_what_is_no_folder_is_refused(root: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        folder_filesystem(root / name)


async def test_a_cancelled_listing_stops(root: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(RunCancelled):
        await folder_filesystem(root).list("/", cancel=cancel)


async def test_no_file_stays_open(root: Path) -> None:
    files = folder_filesystem(root)
    before = psutil.Process().num_fds()
    for _ in range(20):
        await files.list("/", limit=1)
        await files.read("/notes/deep/c.txt")
        with pytest.raises(FileMissing):
            await files.read("/notes/none")
    assert psutil.Process().num_fds() <= before
