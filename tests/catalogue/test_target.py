"""What `models pull` can be asked for beside a card's name."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from goliath_local.catalogue import Card, FileSource, HubSource, Pin, fetch, read_target
from goliath_local.catalogue.record import write_chosen
from goliath_local.errors import BadModelFile, ConfigError, FetchError, HashMismatch, NoModel
from tests.catalogue import server
from tests.catalogue.maker import REVISION, gguf, large_gguf
from tests.catalogue.server import Handler, Place, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONTENT = large_gguf(100_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def linked(handler: Handler) -> None:
    """Answer as the hub does about a large file."""
    content = handler.place.content
    handler.start(
        302,
        0,
        Location="/elsewhere",
        X_Linked_Size=str(len(content)),
        X_Linked_ETag=f'"{hashlib.sha256(content).hexdigest()}"',
        X_Repo_Commit=REVISION,
    )


def test_a_name_is_a_cards() -> None:
    card = read_target("smollm2-135m")
    assert isinstance(card, Card)
    with pytest.raises(NoModel, match="Did you mean"):
        read_target("smollm2-134m")


def test_a_hub_file_is_pinned_to_the_commit_and_hash_the_hub_states(
    folder: Path, hub: Callable[..., Place]
) -> None:
    place = hub(CONTENT)
    place.head = linked
    pin = read_target("hf:some/repo/own.gguf@main")
    assert isinstance(pin, Pin)
    assert (pin.name, pin.size_bytes, pin.sha256) == ("own", len(CONTENT), DIGEST)
    assert pin.sources == (HubSource(repository="some/repo", revision=REVISION, file="own.gguf"),)
    assert fetch(pin, folder).path.read_bytes() == CONTENT
    assert place.gets()[0].path == f"/some/repo/resolve/{REVISION}/own.gguf"


def test_a_hub_file_without_a_stated_hash_needs_one(hub: Callable[..., Place]) -> None:
    place = hub(CONTENT)
    place.head = lambda handler: handler.start(200, len(CONTENT), X_Repo_Commit=REVISION)
    with pytest.raises(ConfigError, match="Add it with --sha256"):
        read_target("hf:some/repo/own.gguf@main")
    assert read_target("hf:some/repo/own.gguf@main", sha256=DIGEST.upper()).sha256 == DIGEST


def test_a_hub_that_refuses_a_look_says_how_to_get_in(hub: Callable[..., Place]) -> None:
    place = hub(CONTENT)
    place.head = server.status(401, X_Error_Code="GatedRepo")
    with pytest.raises(FetchError, match=r"HF_TOKEN=\.\.\. goliath-local models pull hf:some"):
        read_target("hf:some/repo/own.gguf@main")


@pytest.mark.parametrize(
    "text",
    [
        "hf:repo/own.gguf",
        "hf:some/repo@main",
        "hf:some/repo/own.gguf@",
        "hf:some/repo/../x.gguf@main",
        "hf:../repo/own.gguf@main",
        "hf:",
        "hf:some/repo/a b.gguf@main",
    ],
)
def test_a_hub_name_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_target(text)


def test_an_address_is_fetched_with_its_hash(folder: Path, home: Path) -> None:
    with serving(CONTENT) as place:
        pin = read_target(f"{place.url}/models/own.gguf?x=1", sha256=DIGEST)
        assert pin.name == "own"
        assert fetch(pin, folder).path == folder.resolve() / "own.gguf"
        assert all("authorization" not in request.headers for request in place.seen)


@pytest.mark.parametrize(
    ("text", "sha256", "words"),
    [
        ("https://a.invalid/own.gguf", None, "needs the file's hash"),
        ("https://a.invalid/own.gguf", "abc", "64 hex digits"),
        ("http://a.invalid/own.gguf", DIGEST, "Give an https:// address"),
        ("ftp://a.invalid/own.gguf", DIGEST, "Give an https:// address"),
        ("https://me:pw@a.invalid/own.gguf", DIGEST, "user name or a password"),
        ("https://a.invalid/..%2fown.gguf", DIGEST, "not a plain file name"),
        ("https://a.invalid/", DIGEST, "not a plain file name"),
        (f"https://a.invalid/{'SmolLM2-135M-Instruct.Q4_1.gguf'}", DIGEST, "Rename it first"),
    ],
)
def test_an_address_that_will_not_do_is_refused_in_words(
    text: str, sha256: str | None, words: str, hub: Callable[..., Place]
) -> None:
    if "Rename" in words:
        place = hub(CONTENT)
        text = text.replace("https://a.invalid", place.url)
    with pytest.raises(ConfigError, match=words) as caught:
        read_target(text, sha256=sha256)
    assert "pw" not in str(caught.value)


def test_an_address_that_does_not_say_its_size_is_refused(home: Path) -> None:
    with serving(CONTENT) as place:
        place.head = server.status(404)
        with pytest.raises(FetchError, match="answered 404"):
            read_target(f"{place.url}/own.gguf", sha256=DIGEST)


def test_offline_asks_no_server() -> None:
    for text in ("hf:some/repo/own.gguf@main", "https://a.invalid/own.gguf"):
        with pytest.raises(FetchError, match="without --offline"):
            read_target(text, sha256=DIGEST, offline=True)


def test_a_local_file_is_copied(folder: Path, tmp_path: Path, home: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    fetched = fetch(read_target(str(own)), folder, offline=True)
    assert fetched.path.read_bytes() == CONTENT
    assert not fetched.path.is_symlink()
    assert fetched.source == str(own)


def test_a_local_file_is_linked_when_asked(folder: Path, tmp_path: Path, home: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    target = read_target(str(own), link=True)
    assert target.sources == (FileSource(path=own, link=True),)
    fetched = fetch(target, folder)
    assert fetched.path.is_symlink()
    assert fetched.path.read_bytes() == CONTENT


def test_a_local_file_with_another_hash_is_refused(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT)
    for link in (False, True):
        with pytest.raises(HashMismatch):
            fetch(read_target(str(own), sha256="0" * 64, link=link), folder)
    assert not (folder / "own.gguf").exists()


def test_a_local_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.gguf").write_bytes(b"<html>")
    with pytest.raises(BadModelFile, match="a web page"):
        read_target(str(tmp_path / "own.gguf"))
    with pytest.raises(NoModel, match="There is no file"):
        read_target(str(tmp_path / "gone.gguf"))
    (tmp_path / "own model.gguf").write_bytes(gguf())
    with pytest.raises(ConfigError, match="Rename the file"):
        read_target(str(tmp_path / "own model.gguf"))


def test_a_copy_whose_beginning_was_lost_with_the_power_is_begun_anew(
    folder: Path, tmp_path: Path
) -> None:
    source = tmp_path / "mine.gguf"
    source.write_bytes(CONTENT)
    pin = read_target(str(source))
    folder.mkdir(exist_ok=True)
    (folder / "mine.gguf.part").write_bytes(bytes(len(CONTENT) // 2))
    fetch(pin, folder)
    assert (folder / "mine.gguf").read_bytes() == CONTENT


def test_what_a_killed_note_left_goes_with_the_next_note(tmp_path: Path) -> None:
    left = tmp_path / ".default.json.ab.tmp"
    left.touch()
    os.utime(left, (1, 1))
    write_chosen(tmp_path, "m")
    assert [path.name for path in tmp_path.iterdir()] == ["default.json"]
