from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import estimate_tokens
from goliath_local.cancel import CancelToken
from goliath_local.errors import FileError, FileMissing, NotText, RunCancelled, StaleFile
from goliath_local.filesystem import File, Filesystem, create_filesystem, in_memory_filesystem

if TYPE_CHECKING:
    from collections.abc import Callable

NOTES = {
    "/a.md": "Milk\nEggs\n",
    "/notes/b.md": "milk again\nno\nMILK",
    "/notes/deep/c.md": "a.* is literal\nabc",
    "/notes2/d.md": "milk",
    "/z.txt": "",
}


async def _pages(call: Any, files: Filesystem, name: str, **given_: Any) -> list[Any]:
    pages, cursor = [], None
    while True:
        page = await call(files, name, **given_, **({} if cursor is None else {"cursor": cursor}))
        pages.append(page)
        cursor = page["nextCursor"]
        if cursor is None:
            return pages
        assert len(pages) < 1000


def _paths(page: Any) -> list[str]:
    return [match["path"] for match in page["matches"]]


async def test_glob_finds_root_and_nested_files_in_order(call: Any, files: Any) -> None:
    page = await call(files(NOTES), "glob", pattern="/**/*.md")
    assert _paths(page) == ["/a.md", "/notes/b.md", "/notes/deep/c.md", "/notes2/d.md"]
    assert page["nextCursor"] is None
    assert all(match["revision"] for match in page["matches"])


async def test_glob_star_stays_in_its_folder(call: Any, files: Any) -> None:
    assert _paths(await call(files(NOTES), "glob", pattern="/*")) == ["/a.md", "/z.txt"]
    assert _paths(await call(files(NOTES), "glob", pattern="/notes/*")) == ["/notes/b.md"]


async def test_glob_outside_the_root_finds_nothing(call: Any, files: Any) -> None:
    below = files(NOTES, root="/notes")
    assert _paths(await call(below, "glob", pattern="/**")) == ["/notes/b.md", "/notes/deep/c.md"]
    assert _paths(await call(below, "glob", pattern="/notes2/*")) == []
    assert _paths(await call(below, "glob", pattern="/a.md")) == []


async def test_grep_is_literal(call: Any, files: Any) -> None:
    page = await call(files(NOTES), "grep", pattern="a.*")
    assert [(m["path"], m["line"]) for m in page["matches"]] == [("/notes/deep/c.md", 1)]


async def test_grep_ignores_case_unless_told(call: Any, files: Any) -> None:
    loose = await call(files(NOTES), "grep", pattern="milk")
    assert [(m["path"], m["line"]) for m in loose["matches"]] == [
        ("/a.md", 1),
        ("/notes/b.md", 1),
        ("/notes/b.md", 3),
        ("/notes2/d.md", 1),
    ]
    strict = await call(files(NOTES), "grep", pattern="milk", ignoreCase=False)
    assert [(m["path"], m["line"]) for m in strict["matches"]] == [
        ("/notes/b.md", 1),
        ("/notes2/d.md", 1),
    ]


async def test_grep_stays_below_its_path(call: Any, files: Any) -> None:
    page = await call(files(NOTES), "grep", pattern="milk", path="/notes")
    assert set(_paths(page)) == {"/notes/b.md"}
    one = await call(files(NOTES), "grep", pattern="milk", path="/a.md")
    assert _paths(one) == ["/a.md"]
    with pytest.raises(FileError, match="only files under /notes"):
        await call(files(NOTES, root="/notes"), "grep", pattern="milk", path="/notes2")


async def test_grep_takes_the_first_occurrence_of_a_line(call: Any, files: Any) -> None:
    line = "x" * 50 + "needle" + "y" * 200 + "needle"
    page = await call(files({"/a": f"{line}\n"}), "grep", pattern="needle")
    [match] = page["matches"]
    assert match["excerpt"] == line[20:120]


async def test_grep_shows_a_line_from_its_start_when_the_match_is_near(
    call: Any, files: Any
) -> None:
    page = await call(files({"/a": "a needle\r\nnext"}), "grep", pattern="needle")
    assert page["matches"][0]["excerpt"] == "a needle"


async def test_grep_wants_one_to_256_characters(call: Any, files: Any) -> None:
    for pattern in ("", "x" * 257):
        with pytest.raises(FileError, match="1 to 256"):
            await call(files(NOTES), "grep", pattern=pattern)


async def test_line_numbers_hold_across_pages(call: Any, files: Any) -> None:
    text = "".join(f"line {number} hit\nnothing\n" for number in range(1, 26))
    found = await _pages(call, files({"/a": text, "/b": "hit"}), "grep", pattern="hit")
    matches = [match for page in found for match in page["matches"]]
    assert [m["line"] for m in matches] == [2 * number - 1 for number in range(1, 26)] + [1]
    assert all(m["excerpt"].startswith(f"line {m['line'] // 2 + 1} ") for m in matches[:-1])
    assert [len(page["matches"]) for page in found] == [10, 10, 6]


async def test_a_search_that_ends_at_its_limit_has_no_cursor(call: Any, files: Any) -> None:
    ten = {f"/f{number}": "hit" for number in range(10)}
    assert len(await _pages(call, files(ten), "glob", pattern="/*")) == 1
    assert len(await _pages(call, files(ten), "grep", pattern="hit")) == 1
    one_page = files(ten, search={"max_files": 10})
    assert len(await _pages(call, one_page, "grep", pattern="nowhere")) == 1


async def test_an_empty_page_may_have_a_cursor(call: Any, files: Any) -> None:
    many = {f"/f{number:03}": "x" for number in range(7)} | {"/last": "hit"}
    found = await _pages(call, files(many, search={"max_files": 3}), "grep", pattern="hit")
    assert [_paths(page) for page in found] == [[], [], ["/last"]]


async def test_a_search_pauses_inside_a_long_file(call: Any, files: Any) -> None:
    text = ("x" * 999 + "\n") * 200 + "hit\n"
    found = await _pages(call, files({"/long": text}), "grep", pattern="hit")
    assert [len(page["matches"]) for page in found] == [0, 0, 0, 1]
    assert found[-1]["matches"][0]["line"] == 201


async def test_a_page_fits_its_budget_with_room_to_spare(call: Any, files: Any) -> None:
    seed = {f"/folder/{'n' * 40}{number}": "hit " + "é" * 90 for number in range(9)}
    for name, given_ in (("glob", {"pattern": "/**"}), ("grep", {"pattern": "hit"})):
        tool = files(seed).tools[name]
        found = await _pages(call, files(seed), name, max_tokens=150, **given_)
        assert sum(len(page["matches"]) for page in found) == 9
        for page in found:
            assert estimate_tokens(tool.to_model_output(page)) <= 150 - 16


async def test_the_first_excerpt_is_shortened_to_fit(call: Any, files: Any) -> None:
    seed = {"/a": "hit " + "é" * 90}
    page = await call(files(seed), "grep", pattern="hit", max_tokens=100)
    [match] = page["matches"]
    assert match["excerpt"].startswith("hit é")
    assert len(match["excerpt"]) < 94


async def test_a_match_that_cannot_fit_asks_for_a_narrower_search(call: Any, files: Any) -> None:
    seed = {"/" + "n" * 400: "hit"}
    with pytest.raises(FileError, match="Narrow the search"):
        await call(files(seed), "glob", pattern="/*", max_tokens=60)
    with pytest.raises(FileError, match="Narrow the search"):
        await call(files(seed), "grep", pattern="hit", max_tokens=60)


async def test_a_search_is_one_line_of_compact_json(call: Any, files: Any) -> None:
    made = files({"/a": "hit\u2028é"})
    page = await call(made, "grep", pattern="hit")
    text = made.tools["grep"].to_model_output(page)
    assert "\n" not in text
    assert json.loads(text) == page
    assert text.startswith('{"matches":[{"path":"/a","revision":"r1","line":1,"excerpt":"hit')


async def test_a_file_that_changed_since_a_search_paused_in_it_is_an_error(call: Any) -> None:
    backend = in_memory_filesystem({"/a": "hit\n" * 30})
    made = create_filesystem(backend=backend)
    page = await call(made, "grep", pattern="hit")
    await backend.write("/a", "hit\n" * 31, (await backend.read("/a")).revision)
    with pytest.raises(StaleFile, match="Start again without a cursor"):
        await call(made, "grep", pattern="hit", cursor=page["nextCursor"])
    await backend.remove("/a", (await backend.read("/a")).revision)
    with pytest.raises(StaleFile, match="Start again without a cursor"):
        await call(made, "grep", pattern="hit", cursor=page["nextCursor"])


async def test_a_search_over_many_files_is_a_live_view(call: Any) -> None:
    backend = in_memory_filesystem({f"/f{number:02}": "hit" for number in range(12)})
    made = create_filesystem(backend=backend)
    page = await call(made, "glob", pattern="/*")
    await backend.write("/f10a", "new")
    rest = await call(made, "glob", pattern="/*", cursor=page["nextCursor"])
    assert _paths(rest) == ["/f10", "/f10a", "/f11"]


class _Flaky:
    """Lists files of which one is gone and one is a picture by the time it is read."""

    def __init__(self) -> None:
        self._files = in_memory_filesystem({"/a": "hit", "/b": "hit", "/c": "hit", "/d": "hit"})

    def list(self, path: str, **options: Any) -> Any:
        return self._files.list(path, **options)

    async def read(self, path: str, **options: Any) -> File:
        if path == "/b":
            raise FileMissing(path, "gone")
        if path == "/c":
            raise NotText(path, "a picture")
        return await self._files.read(path, **options)


async def test_grep_passes_over_what_is_gone_or_no_text(call: Any) -> None:
    made = create_filesystem(backend=_Flaky(), search={"max_files": 1})
    found = await _pages(call, made, "grep", pattern="hit")
    assert [path for page in found for path in _paths(page)] == ["/a", "/d"]


async def test_a_cancelled_search_stops(context: Callable[..., Any], files: Any) -> None:
    cancel = CancelToken()
    cancel.cancel("enough")
    with pytest.raises(RunCancelled, match="enough"):
        await files(NOTES).tools["grep"].execute({"pattern": "x"}, context(cancel=cancel))


_SEEDS = st.dictionaries(
    st.text(alphabet="ab/", min_size=1, max_size=3).map(lambda name: f"/f/{name}x"),
    st.text(alphabet="hx\né", max_size=60),
    max_size=9,
)


@given(
    seed=_SEEDS,
    max_matches=st.integers(1, 3),
    max_files=st.integers(1, 3),
    max_tokens=st.sampled_from([90, 120, 512]),
)
async def test_following_cursors_gives_every_match_exactly_once(
    call: Any, seed: dict[str, str], max_matches: int, max_files: int, max_tokens: int
) -> None:
    seed = {
        "/" + "/".join(part for part in path.split("/") if part): t for path, t in seed.items()
    }
    made = create_filesystem(
        backend=in_memory_filesystem(seed),
        search={"max_matches": max_matches, "max_files": max_files},
    )
    found = await _pages(call, made, "glob", pattern="/**", max_tokens=max_tokens)
    assert [path for page in found for path in _paths(page)] == sorted(seed)
    found = await _pages(call, made, "grep", pattern="h", max_tokens=max_tokens)
    lines = [
        (path, number)
        for path in sorted(seed)
        for number, line in enumerate(seed[path].split("\n"), start=1)
        if "h" in line
    ]
    assert [(m["path"], m["line"]) for page in found for m in page["matches"]] == lines
