from __future__ import annotations

from typing import Any

import pytest

from goliath_local.errors import FileError, FileMissing, NotText, StaleFile
from goliath_local.filesystem import create_filesystem, in_memory_filesystem, static_filesystem


async def test_write_file_creates_and_replaces_only_with_the_revision(
    call: Any, files: Any
) -> None:
    made = files({})
    first = await call(made, "write_file", path="/a", content="one")
    assert set(first) == {"path", "revision"}
    with pytest.raises(StaleFile, match="exists already"):
        await call(made, "write_file", path="/a", content="two")
    second = await call(made, "write_file", path="/a", content="two", revision=first["revision"])
    with pytest.raises(StaleFile, match="Read it again"):
        await call(made, "write_file", path="/a", content="three", revision=first["revision"])
    page = await call(made, "read_file", path="/a")
    assert (page["content"], page["revision"]) == ("two", second["revision"])


@pytest.mark.parametrize("nothing", ["", "null", "none"])
async def test_a_blank_revision_creates_and_never_replaces(
    call: Any, files: Any, nothing: str
) -> None:
    made = files({"/a": "one"})
    await call(made, "write_file", path="/b", content="x", revision=nothing)
    with pytest.raises(StaleFile):
        await call(made, "write_file", path="/a", content="x", revision=nothing)


async def test_edit_file_replaces_what_occurs_once(call: Any, files: Any) -> None:
    made = files({"/a": "milk, eggs, tea"})
    given = {"path": "/a", "revision": "r1", "old_text": "eggs", "new_text": "bread"}
    assert (await call(made, "edit_file", **given))["path"] == "/a"
    assert (await call(made, "read_file", path="/a"))["content"] == "milk, bread, tea"


@pytest.mark.parametrize(
    ("text", "old", "words"),
    [
        ("aaa", "aa", "more than once"),
        ("abab", "ab", "more than once"),
        ("abc", "x", "not in the file"),
        ("abc", "ABC", "not in the file"),
        ("abc", "", "empty"),
    ],
)
async def test_edit_file_wants_exactly_one_occurrence(
    call: Any, files: Any, text: str, old: str, words: str
) -> None:
    made = files({"/a": text})
    given = {"path": "/a", "revision": "r1", "old_text": old, "new_text": "y"}
    with pytest.raises(FileError, match=words):
        await call(made, "edit_file", **given)
    assert (await call(made, "read_file", path="/a"))["content"] == text


async def test_edit_file_wants_the_current_revision(call: Any, files: Any) -> None:
    made = files({"/a": "one"})
    given = {"path": "/a", "revision": "r0", "old_text": "one", "new_text": "two"}
    with pytest.raises(StaleFile, match="its revision is r1, not r0"):
        await call(made, "edit_file", **given)


async def test_an_edit_cannot_make_a_file_too_large(call: Any, files: Any) -> None:
    made = files({"/a": "x" + "y" * 1_048_570})
    given = {"path": "/a", "revision": "r1", "old_text": "x", "new_text": "z" * 20}
    with pytest.raises(NotText, match="1,048,576"):
        await call(made, "edit_file", **given)


async def test_delete_file_removes_one_file(call: Any, files: Any) -> None:
    made = files({"/a": "x", "/a/b": "y"})
    done = await call(made, "delete_file", path="/a", revision="r1")
    assert done == {"path": "/a", "deleted": True}
    with pytest.raises(FileMissing):
        await call(made, "delete_file", path="/a", revision="r1")
    with pytest.raises(FileMissing):
        await call(made, "delete_file", path="/a/none", revision="r1")
    with pytest.raises(StaleFile):
        await call(made, "delete_file", path="/a/b", revision="r1")


async def test_changes_stay_within_the_root(call: Any, files: Any) -> None:
    made = files({"/b": "x"}, root="/notes")
    for name, given in (
        ("write_file", {"path": "/c", "content": "x"}),
        ("edit_file", {"path": "/b", "revision": "r1", "old_text": "x", "new_text": "y"}),
        ("delete_file", {"path": "/b", "revision": "r1"}),
    ):
        with pytest.raises(FileError, match="only files under /notes"):
            await call(made, name, **given)


async def test_a_back_end_chosen_at_the_call_may_turn_out_to_be_read_only(call: Any) -> None:
    made = create_filesystem(backend=lambda _: static_filesystem({"/a": "x"}), read_only=False)
    with pytest.raises(FileError, match="only be read"):
        await call(made, "write_file", path="/b", content="y")


async def test_plain_functions_make_a_back_end_too(call: Any) -> None:
    class Plain:
        def __init__(self) -> None:
            self.files = in_memory_filesystem({"/a": "text"})

        def read(self, path: str, *, cancel: Any = None) -> Any:
            return self.files._files[path]

        def list(self, path: str, **_: Any) -> Any:
            from goliath_local.filesystem import FileInfo, Listing

            return Listing(files=(FileInfo(path="/a", revision="r1"),), next=None)

    made = create_filesystem(backend=Plain())
    assert (await call(made, "read_file", path="/a"))["content"] == "text"
    assert len((await call(made, "glob", pattern="/*"))["matches"]) == 1
