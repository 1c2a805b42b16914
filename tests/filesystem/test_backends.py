from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.errors import (
    ConfigError,
    FileError,
    FileMissing,
    StaleFile,
    StorageError,
)
from goliath_local.filesystem import (
    FileInfo,
    Listing,
    Mount,
    composite_filesystem,
    folder_filesystem,
    in_memory_filesystem,
    sqlite_filesystem,
    static_filesystem,
)
from tests.laws.backend import READ_LAWS, WRITE_LAWS, Law, Make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


async def _seeded(backend: Any, files: Mapping[str, str]) -> Any:
    for path, content in files.items():
        await backend.write(path, content)
    return backend


def _write_folder(root: Path, files: Mapping[str, str]) -> Path:
    for path, content in files.items():
        file = root / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
    return root


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    connections: list[sqlite3.Connection] = []

    def connected() -> sqlite3.Connection:
        connections.append(sqlite3.connect(":memory:", check_same_thread=False))
        return connections[-1]

    async def make_one(files: Mapping[str, str]) -> Any:
        match request.param:
            case "in memory":
                return in_memory_filesystem(files)
            case "static":
                return static_filesystem(files)
            case "sqlite file":
                return await _seeded(sqlite_filesystem(tmp_path / "files.db"), files)
            case "sqlite connection":
                return await _seeded(sqlite_filesystem(connected()), files)
            case "composite":
                return _composite(files)
            case "folder":
                return folder_filesystem(_write_folder(tmp_path, files))

    yield make_one
    for connection in connections:
        connection.close()


def _composite(files: Mapping[str, str]) -> Any:
    """The files spread over a default and two mounts, one inside the other."""
    routes = ("/a/b", "/a")
    parts: dict[str, dict[str, str]] = {"": {}, **{route: {} for route in routes}}
    for path, content in files.items():
        owner = next((route for route in routes if path.startswith(route + "/")), "")
        parts[owner][path[len(owner) :]] = content
    mounts = {route: in_memory_filesystem(parts[route]) for route in routes}
    return composite_filesystem(in_memory_filesystem(parts[""]), mounts)


EVERY = ("in memory", "static", "sqlite file", "sqlite connection", "composite", "folder")
WRITABLE = ("in memory", "sqlite file", "sqlite connection", "composite")


@pytest.mark.parametrize("make", EVERY, indirect=True)
@pytest.mark.parametrize("law", READ_LAWS, ids=lambda law: law.__name__)
async def test_every_back_end_reads_and_lists_by_the_laws(law: Law, make: Make) -> None:
    await law(make)


@pytest.mark.parametrize("make", WRITABLE, indirect=True)
@pytest.mark.parametrize("law", WRITE_LAWS, ids=lambda law: law.__name__)
async def test_every_writable_back_end_changes_files_by_the_laws(law: Law, make: Make) -> None:
    await law(make)


async def test_two_seed_paths_that_are_one_file_are_refused() -> None:
    with pytest.raises(ConfigError, match="/a/b"):
        in_memory_filesystem({"/a/b": "x", "//a/b/": "y"})


async def test_a_static_back_end_has_no_write_and_ignores_later_changes_of_its_seed() -> None:
    seed = {"/a": "one"}
    backend = static_filesystem(seed)
    assert not hasattr(backend, "write")
    assert not hasattr(backend, "remove")
    seed["/a"] = "two"
    seed["/b"] = "three"
    assert (await backend.read("/a")).content == "one"
    assert len((await backend.list("/")).files) == 1


async def test_in_memory_files_do_not_change_their_seed() -> None:
    seed = {"/a": "one"}
    backend = in_memory_filesystem(seed)
    await backend.write("/a", "two", (await backend.read("/a")).revision)
    assert seed == {"/a": "one"}


async def test_the_longest_prefix_owns_a_path() -> None:
    files = composite_filesystem(
        in_memory_filesystem({"/n/a": "default", "/n2": "beside"}),
        {
            "/n": in_memory_filesystem({"/a": "outer", "/in/a": "hidden"}),
            "/n/in": in_memory_filesystem({"/a": "inner"}),
        },
    )
    assert (await files.read("/n/a")).content == "outer"
    assert (await files.read("/n/in/a")).content == "inner"
    assert (await files.read("/n2")).content == "beside"
    assert [info.path for info in (await files.list("/")).files] == ["/n/a", "/n/in/a", "/n2"]


async def test_a_mount_hides_the_file_in_its_place() -> None:
    files = composite_filesystem(in_memory_filesystem({"/n": "x"}), {"/n": static_filesystem({})})
    assert (await files.list("/")).files == ()
    with pytest.raises(FileError, match="folder"):
        await files.read("/n")


@pytest.mark.parametrize("how", [{"read_only": True}, "mount", "static"])
async def test_a_read_only_route_refuses_changes(how: Any) -> None:
    inner = in_memory_filesystem({"/a": "x"})
    routes: dict[Any, Any] = {"mount": Mount(backend=inner, read_only=True)}
    routes["static"] = static_filesystem({"/a": "x"})
    route = routes[how] if isinstance(how, str) else {"backend": inner, **how}
    files = composite_filesystem(in_memory_filesystem(), {"/ro": route})
    revision = (await files.read("/ro/a")).revision
    with pytest.raises(FileError, match="/ro/b: files here can only be read"):
        await files.write("/ro/b", "y")
    with pytest.raises(FileError, match="only be read"):
        await files.remove("/ro/a", revision)
    await files.write("/rw", "y")


async def test_errors_of_a_mount_name_the_path_as_it_was_asked() -> None:
    files = composite_filesystem(in_memory_filesystem(), {"/n": in_memory_filesystem({"/a": ""})})
    with pytest.raises(FileMissing, match=r"^/n/b: "):
        await files.read("/n/b")
    with pytest.raises(StaleFile, match=r"^/n/a: "):
        await files.write("/n/a", "y", "old")


@pytest.mark.parametrize(
    ("routes", "words"),
    [
        ({"/": static_filesystem({})}, "default"),
        ({"/n": static_filesystem({}), "//n/": static_filesystem({})}, "/n"),
        ({"/n": {"read_only": True}}, "backend"),
        ({"/n": {"backend": static_filesystem({}), "readonly": True}}, "readonly"),
    ],
)
def test_routes_that_make_no_sense_are_refused(routes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        composite_filesystem(in_memory_filesystem(), routes)


class _Circling:
    """A back end whose listing never gets on."""

    def list(self, path: str, **_: Any) -> Listing:
        return Listing(files=(FileInfo(path="/a", revision="1"),), next="/a")

    def read(self, path: str, **_: Any) -> Any:
        raise FileMissing(path, "no")


async def test_a_back_end_whose_listing_goes_in_circles_is_an_error() -> None:
    files = composite_filesystem(static_filesystem({}), {"/n": _Circling()})
    with pytest.raises(StorageError, match="/a"):
        await files.list("/", limit=10)


_NAMES = st.text(alphabet="ab-./é", min_size=1, max_size=4).filter(
    lambda name: all(part not in {"", ".", ".."} for part in name.split("/"))
)


@given(
    names=st.sets(_NAMES, max_size=12),
    routes=st.sets(st.sampled_from(["/a", "/a/b", "/b", "/a-"]), max_size=3),
    limit=st.integers(1, 4),
)
async def test_merged_listings_are_the_visible_files_in_order(
    names: set[str], routes: set[str], limit: int
) -> None:
    files = {"/" + name: name for name in names}
    mounts = {route: static_filesystem(files) for route in routes}
    composite = composite_filesystem(static_filesystem(files), mounts)

    def owner(path: str) -> str:
        owners = (r for r in routes if path == r or path.startswith(r + "/"))
        return max(owners, key=len, default="")

    everything = {(route, route + path) for route in ("", *routes) for path in files}
    visible = sorted(path for route, path in everything if owner(path) == route)
    seen: list[str] = []
    after = None
    while True:
        listing = await composite.list("/", after=after, limit=limit)
        seen += [info.path for info in listing.files]
        after = listing.next
        if after is None:
            break
    assert seen == visible
