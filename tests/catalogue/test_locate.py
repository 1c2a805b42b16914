"""Where weights lie, what is known about them, and what is checked at each start."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from goliath_local.catalogue import (
    find_card,
    installed_path,
    inventory,
    is_plain_file_name,
    locate_model,
    models_dir,
    read_record,
    remove_model,
    verify_installed,
)
from goliath_local.catalogue.folder import open_folder, path_in, read_note, sweep, write_whole
from goliath_local.catalogue.record import read_chosen, remember
from goliath_local.errors import BadModelFile, ConfigError, HashMismatch, NoModel, StorageError
from tests.catalogue.maker import gguf

CARD = find_card("smollm2-135m")


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


@pytest.fixture
def place(folder: Path) -> Path:
    return open_folder(folder)


def test_the_folder_is_the_given_one_then_the_environments_then_the_users(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert models_dir() == home / ".local/share/goliath-local/models"
    monkeypatch.setenv("GOLIATH_MODELS_DIR", "~/weights")
    assert models_dir() == home / "weights"
    assert models_dir(Path("/given")) == Path("/given")


def test_a_file_in_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("")
    with pytest.raises(StorageError, match=r"cannot be made.*--models-dir"):
        open_folder(tmp_path / "models")


def test_a_card_that_is_not_installed_has_no_path(place: Path) -> None:
    assert installed_path(CARD, place) is None
    with pytest.raises(NoModel) as caught:
        locate_model("smollm2-135m", place)
    assert str(place / CARD.file) in str(caught.value)
    assert "goliath-local models pull smollm2-135m" in str(caught.value)


def test_a_file_of_another_size_is_refused_before_it_is_loaded(place: Path) -> None:
    sparse(place / CARD.file, CARD.size_bytes - 1)
    with pytest.raises(BadModelFile, match=r"has 98,362,431 bytes and should have 98,362,432"):
        installed_path(CARD, place)
    with pytest.raises(BadModelFile):
        locate_model("smollm2-135m", place)


def test_a_directory_under_the_files_name_is_refused(place: Path) -> None:
    (place / CARD.file).mkdir()
    with pytest.raises(BadModelFile, match="is not a file"):
        installed_path(CARD, place)


def test_a_file_nobody_verified_is_hashed_once(place: Path) -> None:
    sparse(place / CARD.file, CARD.size_bytes)
    with pytest.raises(HashMismatch, match="Remove it and pull it again"):
        locate_model("smollm2-135m", place)


def test_a_verified_file_is_found_by_its_size_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sparse(place / CARD.file, CARD.size_bytes)
    known(place, CARD.file, CARD.sha256)
    hashed: list[Path] = []
    monkeypatch.setattr("goliath_local.catalogue.locate.verify_file", hashed.append)
    assert locate_model("smollm2-135m", place).path == path
    assert hashed == []


def known(place: Path, file: str, sha256: str, name: str = "own") -> None:
    size = (place / file).stat().st_size
    remember(place, file=file, name=name, size_bytes=size, sha256=sha256, source="here")


def test_an_own_model_is_found_by_name_and_by_path(place: Path) -> None:
    path = place / "own.gguf"
    path.write_bytes(gguf())
    known(place, "own.gguf", "0" * 64)
    assert locate_model("own", place).path == path
    assert locate_model(str(path), place).card is None
    path.write_bytes(b"cut")
    with pytest.raises(BadModelFile):
        locate_model("own", place)


def test_an_unknown_name_and_a_missing_path_say_which(place: Path) -> None:
    with pytest.raises(NoModel, match='Did you mean "smollm2-135m"'):
        locate_model("smollm2-135", place)
    with pytest.raises(NoModel, match=r"There is no file gone/x\.gguf"):
        locate_model("gone/x.gguf", place)


def test_the_inventory_knows_installed_partial_and_available(place: Path) -> None:
    sparse(place / CARD.file, CARD.size_bytes)
    small = find_card("qwen2.5-coder-0.5b")
    sparse(place / f"{small.file}.part", small.size_bytes * 41 // 100)
    (place / "own.gguf").write_bytes(gguf())
    (place / "half.gguf.part").write_bytes(b"GGUF")
    (place / "half.gguf.part.json").write_text('{"sizeBytes": 100}')
    found = {entry.name: entry for entry in inventory(place)}
    assert found["smollm2-135m"].state == "installed"
    assert found["qwen2.5-coder-0.5b"].state == "partial"
    assert found["granite-4.0-micro"].state == "available"
    assert (found["own"].state, found["own"].card) == ("installed", None)
    assert (found["half"].size_bytes, found["half"].have_bytes) == (100, 4)


def test_verifying_remembers_the_hash_and_when(place: Path) -> None:
    (place / "own.gguf").write_bytes(gguf())
    entry = next(one for one in inventory(place) if one.name == "own")
    record = verify_installed(entry, place)
    assert record.sha256 == hashlib.sha256(gguf()).hexdigest()
    assert read_record(place, "own.gguf") == record


def test_a_flipped_bit_is_found_by_verifying(place: Path) -> None:
    (place / "own.gguf").write_bytes(gguf())
    entry = next(one for one in inventory(place) if one.name == "own")
    verify_installed(entry, place)
    data = bytearray(gguf())
    data[-5] ^= 1
    (place / "own.gguf").write_bytes(data)
    with pytest.raises(HashMismatch, match=r"own\.gguf"):
        verify_installed(entry, place)


def test_removing_takes_file_part_and_record(place: Path) -> None:
    sparse(place / CARD.file, CARD.size_bytes)
    known(place, CARD.file, CARD.sha256)
    sparse(place / f"{CARD.file}.part", 1000)
    (place / f"{CARD.file}.part.json").write_text("{}")
    assert remove_model("smollm2-135m", place) >= CARD.size_bytes + 1000
    assert list(place.iterdir()) == []
    with pytest.raises(NoModel, match="Nothing of smollm2-135m is here"):
        remove_model("smollm2-135m", place)


def test_removing_a_link_leaves_what_it_points_to(place: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.gguf"
    target.write_bytes(gguf())
    (place / "own.gguf").symlink_to(target)
    remove_model("own", place)
    assert target.read_bytes() == gguf()
    assert not (place / "own.gguf").is_symlink()


@pytest.mark.parametrize("file", ["../x", "/etc/passwd", "a/b", "C:\\x", "nul", "", "a\x00b"])
def test_no_name_leads_out_of_the_folder(place: Path, file: str) -> None:
    assert not is_plain_file_name(file)
    with pytest.raises(ConfigError, match="not a plain file name"):
        path_in(place, file)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xef\xbb\xbf{}",
        bytes(4096),
        b"[" * 100000,
        b'{"name": 5}',
        b'{"sizeBytes": ' + b"9" * 5000 + b"}",
        b'{"sizeBytes": true}',
        b"\xff\xfe",
    ],
)
def test_a_damaged_record_is_as_good_as_none(place: Path, data: bytes) -> None:
    (place / "own.gguf").write_bytes(gguf())
    (place / "own.gguf.json").write_bytes(data)
    (place / "default.json").write_bytes(data)
    assert read_record(place, "own.gguf") is None
    assert read_chosen(place) is None
    assert [entry.name for entry in inventory(place) if entry.card is None] == ["own"]


def test_a_huge_note_is_not_read(place: Path) -> None:
    sparse(place / "default.json", 2 << 20)
    assert read_note(place / "default.json") == {}


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole(place / "note.json", b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_whole(place / "note.json", b"new")
    assert (place / "note.json").read_bytes() == b"old"
    assert [path.name for path in place.iterdir()] == ["note.json"]


def test_old_rubbish_is_swept_and_fresh_is_not(place: Path) -> None:
    old, fresh = place / ".a.tmp", place / ".b.tmp"
    wheels = place / ".wheels-old"
    wheels.mkdir()
    (wheels / "x.whl").write_bytes(b"x")
    for path in (old, fresh):
        path.write_bytes(b"x")
    hour_ago = time.time() - 3700
    os.utime(old, (hour_ago, hour_ago))
    os.utime(wheels, (hour_ago, hour_ago))
    sweep(place)
    assert {path.name for path in place.iterdir()} == {".b.tmp"}
