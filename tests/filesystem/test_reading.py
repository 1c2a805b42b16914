from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import estimate_tokens
from goliath_local.errors import FileError, FileMissing, NotText, StaleFile
from goliath_local.filesystem import Filesystem, create_filesystem, in_memory_filesystem


async def _pages(call: Any, files: Filesystem, path: str, **given_: Any) -> list[Any]:
    pages = [await call(files, "read_file", path=path, **given_)]
    given_.pop("offset", None)
    while pages[-1]["nextCursor"] is not None:
        cursor = pages[-1]["nextCursor"]
        pages.append(await call(files, "read_file", path=path, cursor=cursor, **given_))
        assert len(pages) < 5000
    return pages


async def test_one_line_is_read_and_the_next_page_goes_on_behind_it(call: Any, files: Any) -> None:
    made = files({"/a": "one\ntwo\nthree"})
    page = await call(made, "read_file", path="/a", offset=1, limit=1)
    assert (page["content"], page["line"], page["continued"]) == ("two\n", 2, False)
    rest = await call(made, "read_file", path="/a", cursor=page["nextCursor"])
    assert (rest["content"], rest["line"], rest["nextCursor"]) == ("three", 3, None)


async def test_reading_beyond_the_end_is_empty_and_complete(call: Any, files: Any) -> None:
    page = await call(files({"/a": "one\ntwo\nthree"}), "read_file", path="/a", offset=999)
    assert (page["content"], page["nextCursor"]) == ("", None)


async def test_an_empty_file_is_empty_and_complete(call: Any, files: Any) -> None:
    page = await call(files({"/a": ""}), "read_file", path="/a")
    assert (page["content"], page["line"], page["nextCursor"]) == ("", 1, None)


async def test_25_lines_are_read_unless_told(call: Any, files: Any) -> None:
    text = "x\n" * 30
    assert (await call(files({"/a": text}), "read_file", path="/a"))["content"] == "x\n" * 25
    few = files({"/a": text}, read={"max_lines": 5})
    assert (await call(few, "read_file", path="/a"))["content"] == "x\n" * 5


async def test_a_read_is_a_line_of_json_and_then_the_text_as_it_stands(
    call: Any, files: Any
) -> None:
    made = files({"/a": 'say "hi"\n\ttab'})
    page = await call(made, "read_file", path="/a")
    about, _, content = made.tools["read_file"].to_model_output(page).partition("\n")
    assert content == 'say "hi"\n\ttab'
    assert json.loads(about) == {
        "path": "/a",
        "revision": "r1",
        "line": 1,
        "continued": False,
        "nextCursor": None,
    }


async def test_a_long_line_goes_on_in_the_next_page(call: Any, files: Any) -> None:
    text = "漢字😀é" * 700 + "\nend"
    made = files({"/a": text})
    found = await _pages(call, made, "/a")
    assert "".join(page["content"] for page in found) == text
    assert [page["continued"] for page in found] == [False] + [True] * (len(found) - 1)
    assert {page["line"] for page in found} == {1}
    for page in found:
        assert estimate_tokens(made.tools["read_file"].to_model_output(page)) <= 512


async def test_a_page_takes_as_many_characters_as_fit(call: Any, files: Any) -> None:
    made = files({"/a": "x" * 5000})
    page = await call(made, "read_file", path="/a", max_tokens=100)
    render = made.tools["read_file"].to_model_output
    more = page | {"content": page["content"] + "x" * 4}
    assert estimate_tokens(render(page)) <= 100 < estimate_tokens(render(more))


async def test_a_page_has_at_most_16384_characters(call: Any, files: Any) -> None:
    page = await call(files({"/a": "x" * 20_000}), "read_file", path="/a", max_tokens=100_000)
    assert len(page["content"]) == 16_384


async def test_no_room_for_one_character_is_an_error(call: Any, files: Any) -> None:
    with pytest.raises(FileError, match="not one character fits into 20 tokens"):
        await call(files({"/a": "x" * 90}), "read_file", path="/a", max_tokens=20)


async def test_an_offset_of_zero_beside_a_cursor_is_let_pass_and_others_are_not(
    call: Any, files: Any
) -> None:
    made = files({"/a": "one\ntwo\nthree"})
    page = await call(made, "read_file", path="/a", limit=1)
    cursor = page["nextCursor"]
    again = await call(made, "read_file", path="/a", cursor=cursor, offset=0)
    assert again["content"] == "two\nthree"
    with pytest.raises(FileError, match="not both"):
        await call(made, "read_file", path="/a", cursor=cursor, offset=1)


@pytest.mark.parametrize("given_", [{"offset": -1}, {"limit": 0}, {"limit": 201}])
async def test_lines_out_of_range_are_refused(files: Any, context: Any, given_: Any) -> None:
    tool = files({"/a": "x"}).tools["read_file"]
    with pytest.raises(FileError, match="1 to 200"):
        await tool.execute({"path": "/a", **given_}, context())


async def test_paths_outside_the_root_cannot_be_read(call: Any, files: Any) -> None:
    made = files({"/notes/a": "in", "/notes2/a": "out", "/b": "out"}, root="/notes/")
    assert (await call(made, "read_file", path="/notes/a"))["content"] == "in"
    for path in ("/notes2/a", "/b", "/notes/../b"):
        with pytest.raises(FileError):
            await call(made, "read_file", path=path)


async def test_a_missing_file_says_how_to_see_which_there_are(call: Any, files: Any) -> None:
    with pytest.raises(FileMissing, match="glob"):
        await call(files({}), "read_file", path="/a")


async def test_a_file_that_changed_between_two_pages_is_an_error(call: Any) -> None:
    backend = in_memory_filesystem({"/a": "one\ntwo\nthree"})
    made = create_filesystem(backend=backend)
    cursor = (await call(made, "read_file", path="/a", limit=1))["nextCursor"]
    await backend.write("/a", "one\ntwo\nthree!", "r1")
    with pytest.raises(StaleFile, match="Start again without a cursor"):
        await call(made, "read_file", path="/a", cursor=cursor)


async def test_a_back_end_that_hands_out_too_much_or_no_text_is_an_error(files: Any) -> None:
    with pytest.raises(NotText):
        files({"/a": "x" * 1_048_577})
    with pytest.raises(NotText):
        files({"/a": b"bytes"})


async def test_without_a_context_a_page_has_512_tokens(files: Any) -> None:
    made = files({"/a": "x" * 9000})
    page = await made.tools["read_file"].execute({"path": "/a"}, None)
    text = made.tools["read_file"].to_model_output(page)
    assert 505 <= estimate_tokens(text) <= 512


@given(
    text=st.text(alphabet=st.sampled_from("a\n\r é漢😀"), max_size=400),
    limit=st.one_of(st.none(), st.integers(1, 5)),
    max_tokens=st.sampled_from([50, 80, 512]),
)
async def test_the_pages_of_a_file_are_the_file(
    call: Any, text: str, limit: int | None, max_tokens: int
) -> None:
    made = create_filesystem(backend=in_memory_filesystem({"/a": text}))
    given_ = {} if limit is None else {"limit": limit}
    found = await _pages(call, made, "/a", max_tokens=max_tokens, **given_)
    assert "".join(page["content"] for page in found) == text
    at = 0
    for page in found:
        assert page["line"] == text.count("\n", 0, at) + 1
        assert page["continued"] == (at > 0 and text[at - 1] != "\n")
        assert estimate_tokens(made.tools["read_file"].to_model_output(page)) <= max_tokens
        at += len(page["content"])
