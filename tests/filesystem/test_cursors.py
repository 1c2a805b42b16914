from __future__ import annotations

import re
from typing import Any

import pytest

from goliath_local.errors import FileError
from goliath_local.filesystem.cursors import KEPT, Cursors, Position, Query, handle_of

QUERY = Query(tool="glob", root="/", pattern="/*")


def test_a_handle_is_eight_letters_and_digits() -> None:
    for number in range(200):
        handle = handle_of(QUERY, Position(after=f"/{number}"))
        assert re.fullmatch("[a-z0-9]{8}", handle)


def test_the_same_place_of_the_same_query_has_the_same_handle_in_every_run() -> None:
    here = Position(after="/a")
    assert Cursors().issue(QUERY, here) == Cursors().issue(QUERY, here) == "4i0fmlu0"
    assert handle_of(QUERY, Position(after="/b")) != handle_of(QUERY, here)


@pytest.mark.parametrize("nothing", [None, "", "  ", "null", "none", "None", " NULL "])
def test_blank_null_and_none_mean_no_cursor(nothing: object) -> None:
    assert Cursors().resolve(nothing, QUERY) is None


@pytest.mark.parametrize(
    "bad", ["abcdefgh", "x" * 12, "x" * 5000, '{"after":"/a"}', "漢", 7, ["a"], True]
)
def test_a_handle_that_was_not_given_out_is_an_error(bad: object) -> None:
    with pytest.raises(FileError, match="Start again without a cursor"):
        Cursors().resolve(bad, QUERY)


@pytest.mark.parametrize(
    "other",
    [
        Query(tool="grep", root="/", pattern="/*"),
        Query(tool="glob", root="/a", pattern="/*"),
        Query(tool="glob", root="/", pattern="/**"),
        Query(tool="glob", root="/", pattern="/*", ignore_case=True),
    ],
)
def test_a_handle_of_another_query_is_an_error(other: Query) -> None:
    cursors = Cursors()
    handle = cursors.issue(QUERY, Position(after="/a"))
    with pytest.raises(FileError, match="another glob query"):
        cursors.resolve(handle, other)


def test_a_handle_copied_in_capitals_or_with_spaces_is_understood() -> None:
    cursors = Cursors()
    handle = cursors.issue(QUERY, Position(after="/a"))
    assert cursors.resolve(f" {handle.upper()}\n", QUERY) == Position(after="/a")


def test_the_oldest_handle_is_dropped_after_512_others() -> None:
    cursors = Cursors()
    first, second = (cursors.issue(QUERY, Position(after=f"/{name}")) for name in "ab")
    cursors.issue(QUERY, Position(after="/a"))
    for number in range(KEPT - 1):
        cursors.issue(QUERY, Position(after=f"/{number}"))
    assert cursors.resolve(first, QUERY) == Position(after="/a")
    with pytest.raises(FileError, match="unknown or expired"):
        cursors.resolve(second, QUERY)


async def test_a_cursor_of_one_tool_or_file_is_no_good_for_another(call: Any, files: Any) -> None:
    made = files({f"/{n:02}": "hit\n" * 30 for n in range(12)})
    globbed = (await call(made, "glob", pattern="/*"))["nextCursor"]
    grepped = (await call(made, "grep", pattern="hit"))["nextCursor"]
    read = (await call(made, "read_file", path="/00"))["nextCursor"]
    assert len({globbed, grepped, read}) == 3
    assert all(len(cursor) <= 12 for cursor in (globbed, grepped, read))
    for name, given in (
        ("glob", {"pattern": "/*", "cursor": grepped}),
        ("glob", {"pattern": "/**", "cursor": globbed}),
        ("grep", {"pattern": "hit", "cursor": read}),
        ("grep", {"pattern": "HIT", "cursor": grepped}),
        ("grep", {"pattern": "hit", "ignoreCase": False, "cursor": grepped}),
        ("grep", {"pattern": "hit", "path": "/00", "cursor": grepped}),
        ("read_file", {"path": "/01", "cursor": read}),
        ("read_file", {"path": "/00", "cursor": globbed}),
    ):
        with pytest.raises(FileError, match="Start again without a cursor"):
            await call(made, name, **given)
    again = await call(made, "read_file", path="/00", cursor=read)
    assert again["line"] == 26


async def test_another_filesystem_does_not_know_the_cursor(call: Any, files: Any) -> None:
    seed = {"/a": "one\ntwo"}
    cursor = (await call(files(seed), "read_file", path="/a", limit=1))["nextCursor"]
    with pytest.raises(FileError, match="unknown or expired"):
        await call(files(seed, root="/a"), "read_file", path="/a", cursor=cursor)
