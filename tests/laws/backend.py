"""What every back end of virtual files keeps, as a list of truths.

A law is an async function of `make`, which is awaited with a mapping of
path → text and gives a back end that holds it. Run
`READ_LAWS` against every back end and `WRITE_LAWS` against those that can be written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import pytest

from goliath_local.errors import ConfigError, FileError, FileMissing, NotText, StaleFile

Make: TypeAlias = Callable[[Mapping[str, str]], Awaitable[Any]]
Law: TypeAlias = Callable[[Make], Awaitable[None]]

FILES = {
    "/a.md": "alpha\nbeta\n",
    "/a/b.md": "",
    "/a-b.md": "dash",
    "/a/b/c.txt": "Grüße, 漢字 😀\nzwei",
    "/z.txt": "end",
}


async def a_file_reads_back_as_it_was(make: Make) -> None:
    backend = await make(FILES)
    for path, content in FILES.items():
        file = await backend.read(path)
        assert (file.path, file.content) == (path, content)


async def a_listing_is_sorted_by_code_point(make: Make) -> None:
    files = {f"/{name}": "x" for name in ("b", "B", "a/x", "a-x", "a.x", "é", "漢", "\U0001f600")}
    files |= {"/\uffee": "x"}
    listing = await (await make(files)).list("/", limit=256)
    assert [info.path for info in listing.files] == sorted(files)
    assert listing.next is None


async def listed_revisions_are_those_of_reading(make: Make) -> None:
    backend = await make(FILES)
    for info in (await backend.list("/")).files:
        assert (await backend.read(info.path)).revision == info.revision


async def pages_of_a_listing_give_every_file_once(make: Make) -> None:
    backend = await make(FILES)
    for limit in (1, 2, 3, len(FILES), 256):
        seen, after = [], None
        while True:
            listing = await backend.list("/", after=after, limit=limit)
            assert 1 <= len(listing.files) <= limit
            seen += [info.path for info in listing.files]
            if listing.next is None:
                break
            assert listing.next == listing.files[-1].path
            after = listing.next
        assert seen == sorted(FILES)


async def a_listing_starts_after_a_path_that_is_not_there(make: Make) -> None:
    listing = await (await make(FILES)).list("/", after="/a/b.mdx")
    assert [info.path for info in listing.files] == ["/a/b/c.txt", "/z.txt"]


async def a_listing_stays_below_its_folder(make: Make) -> None:
    backend = await make(FILES)
    assert [i.path for i in (await backend.list("/a")).files] == ["/a/b.md", "/a/b/c.txt"]
    assert [i.path for i in (await backend.list("/a/b")).files] == ["/a/b/c.txt"]


async def a_listing_takes_one_exact_file(make: Make) -> None:
    backend = await make(FILES)
    assert [info.path for info in (await backend.list("/a.md")).files] == ["/a.md"]
    assert (await backend.list("/a.md", after="/a.md")).files == ()


async def a_listing_of_nothing_is_empty(make: Make) -> None:
    listing = await (await make(FILES)).list("/nowhere")
    assert (listing.files, listing.next) == ((), None)


async def a_missing_file_is_an_error(make: Make) -> None:
    backend = await make(FILES)
    for path in ("/none.md", "/a.md/b", "/a/c.md"):
        with pytest.raises(FileMissing):
            await backend.read(path)


async def a_folder_is_not_a_file(make: Make) -> None:
    with pytest.raises(FileError):
        await (await make(FILES)).read("/a")


async def slashes_collapse(make: Make) -> None:
    backend = await make(FILES)
    assert (await backend.read("//a///b.md/")).path == "/a/b.md"
    assert len((await backend.list("/a/")).files) == 2


async def paths_that_are_none_are_refused(make: Make) -> None:
    backend = await make(FILES)
    for path in ("a.md", "/../a.md", "/a/./b.md", "/a\\b", "/a\x00b", "/a\nb", "/" + "x" * 512):
        with pytest.raises(FileError):
            await backend.read(path)
        with pytest.raises(FileError):
            await backend.list(path)


async def limits_out_of_range_are_refused(make: Make) -> None:
    backend = await make(FILES)
    for limit in (0, -1, 257, 1.5, True):
        with pytest.raises(ConfigError, match="256"):
            await backend.list("/", limit=limit)


async def a_new_file_is_there_at_once(make: Make) -> None:
    backend = await make({})
    info = await backend.write("/n/new.md", "text")
    assert info.path == "/n/new.md"
    file = await backend.read("/n/new.md")
    assert (file.content, file.revision) == ("text", info.revision)
    assert [listed.path for listed in (await backend.list("/n")).files] == ["/n/new.md"]


async def creating_over_a_file_fails(make: Make) -> None:
    backend = await make({"/a/w": "old"})
    with pytest.raises(StaleFile):
        await backend.write("/a/w", "new")
    assert (await backend.read("/a/w")).content == "old"


async def only_the_current_revision_can_be_replaced(make: Make) -> None:
    backend = await make({"/a/w": "one"})
    first = (await backend.read("/a/w")).revision
    second = await backend.write("/a/w", "two", first)
    assert second.revision != first
    with pytest.raises(StaleFile):
        await backend.write("/a/w", "three", first)
    with pytest.raises(StaleFile):
        await backend.remove("/a/w", first)
    assert (await backend.read("/a/w")).content == "two"


async def the_same_text_again_is_a_new_revision(make: Make) -> None:
    backend = await make({"/a/w": "one"})
    first = (await backend.read("/a/w")).revision
    assert (await backend.write("/a/w", "one", first)).revision != first


async def a_revision_of_nothing_writes_nothing(make: Make) -> None:
    backend = await make({})
    with pytest.raises(FileMissing):
        await backend.write("/a/w", "text", "r1")
    with pytest.raises(FileMissing):
        await backend.remove("/a/w", "r1")
    assert (await backend.list("/")).files == ()


async def a_file_made_again_has_a_new_revision(make: Make) -> None:
    backend = await make({"/a/w": "one"})
    first = (await backend.read("/a/w")).revision
    await backend.remove("/a/w", first)
    with pytest.raises(FileMissing):
        await backend.read("/a/w")
    assert (await backend.write("/a/w", "one")).revision != first
    with pytest.raises(StaleFile):
        await backend.write("/a/w", "two", first)


async def removing_takes_one_file_and_no_tree(make: Make) -> None:
    backend = await make({"/a/w": "x", "/a/w/b": "y"})
    await backend.remove("/a/w", (await backend.read("/a/w")).revision)
    assert [info.path for info in (await backend.list("/")).files] == ["/a/w/b"]


async def a_file_has_at_most_one_mebibyte(make: Make) -> None:
    backend = await make({})
    await backend.write("/full", "é" * 524_288)
    with pytest.raises(NotText, match="1,048,577"):
        await backend.write("/over", "é" * 524_288 + "x")
    with pytest.raises(NotText, match="Unicode"):
        await backend.write("/half", "a\ud83d")
    assert [info.path for info in (await backend.list("/")).files] == ["/full"]


async def odd_characters_survive(make: Make) -> None:
    text = "\r\n\t\x00\x1b[31m\u2028e\u0301\u200d\ufeff"
    backend = await make({})
    await backend.write("/odd", text)
    assert (await backend.read("/odd")).content == text


READ_LAWS: tuple[Law, ...] = (
    a_file_reads_back_as_it_was,
    a_listing_is_sorted_by_code_point,
    listed_revisions_are_those_of_reading,
    pages_of_a_listing_give_every_file_once,
    a_listing_starts_after_a_path_that_is_not_there,
    a_listing_stays_below_its_folder,
    a_listing_takes_one_exact_file,
    a_listing_of_nothing_is_empty,
    a_missing_file_is_an_error,
    a_folder_is_not_a_file,
    slashes_collapse,
    paths_that_are_none_are_refused,
    limits_out_of_range_are_refused,
)
WRITE_LAWS: tuple[Law, ...] = (
    a_new_file_is_there_at_once,
    creating_over_a_file_fails,
    only_the_current_revision_can_be_replaced,
    the_same_text_again_is_a_new_revision,
    a_revision_of_nothing_writes_nothing,
    a_file_made_again_has_a_new_revision,
    removing_takes_one_file_and_no_tree,
    a_file_has_at_most_one_mebibyte,
    odd_characters_survive,
)
