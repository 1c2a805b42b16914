"""Fetching from a hub that cuts, lies, flips bytes, sends pages and refuses."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.catalogue import Moved, Pin, Restarted, UrlSource, fetch
from goliath_local.catalogue import part as part_module
from goliath_local.errors import BadModelFile, FetchError, HashMismatch, RunCancelled
from tests.catalogue import server
from tests.catalogue.maker import card, large_gguf
from tests.catalogue.server import Place, serving
from tests.levers import first_seed, many

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = large_gguf()
SIZE = len(CONTENT)
Hub = Callable[..., Place]


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_whole_file_arrives_under_its_name_with_a_record(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    fetched = fetch(card(CONTENT), folder)
    assert fetched.path.read_bytes() == CONTENT
    assert fetched.source == "the hub (127.0.0.1)"
    assert not fetched.already
    assert left_behind(folder) == {"tiny.gguf", "tiny.gguf.json"}
    record = json.loads((folder / "tiny.gguf.json").read_text())
    assert record["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert place.gets()[0].path == (
        "/some/repo/resolve/0123456789abcdef0123456789abcdef01234567/tiny.gguf"
    )


def test_folder_and_files_are_the_owners_alone(folder: Path, hub: Hub) -> None:
    hub(CONTENT)
    before = os.umask(0)
    try:
        fetch(card(CONTENT), folder)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_nothing_is_asked_once_the_file_is_there(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    fetch(card(CONTENT), folder)
    again = fetch(card(CONTENT), folder)
    assert again.already
    assert len(place.seen) == 1


def test_a_file_somebody_put_there_is_hashed_before_it_counts(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT)
    assert fetch(card(CONTENT), folder).already
    (folder / "tiny.gguf.json").unlink()
    (folder / "tiny.gguf").write_bytes(bytes(SIZE))
    with pytest.raises(HashMismatch, match=r"tiny\.gguf"):
        fetch(card(CONTENT), folder)
    assert place.seen == []


@pytest.mark.parametrize("byte", [1, 1000, SIZE * 2 // 5, SIZE - 1])
def test_a_cut_pull_keeps_its_part_and_goes_on_there(
    folder: Path, hub: Hub, byte: int, pauses: list[float]
) -> None:
    place = hub(CONTENT, server.cut_at(byte))
    with pytest.raises(FetchError, match="The part is kept; run the same command to go on") as e:
        fetch(card(CONTENT), folder, pause=pauses.append)
    assert e.value.began
    assert (folder / "tiny.gguf.part").read_bytes() == CONTENT[:byte]
    note = json.loads((folder / "tiny.gguf.part.json").read_text())
    assert note["etag"] == place.etag
    assert note["sizeBytes"] == SIZE
    place.replies[:] = [server.honest]
    place.seen.clear()
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT
    assert place.ranges() == [f"bytes={byte}-"]
    assert place.gets()[0].headers["if-range"] == place.etag
    assert place.sent_bytes <= 1.05 * SIZE


def test_a_short_cut_is_mended_within_one_pull(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    place = hub(CONTENT, server.cut_at(50_000), server.cut_at(200_000), server.honest)
    fetch(card(CONTENT), folder, pause=pauses.append)
    assert place.ranges() == [None, "bytes=50000-", "bytes=200000-"]
    assert place.sent_bytes == SIZE
    assert pauses == [0.5, 1.0]


def test_a_file_that_changed_on_the_server_is_begun_anew(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    place = hub(CONTENT, server.cut_at(1000))
    with pytest.raises(FetchError):
        fetch(card(CONTENT), folder, pause=pauses.append)
    note = folder / "tiny.gguf.part.json"
    note.write_text(note.read_text().replace(place.etag.strip('"'), "0" * 64))
    place.replies[:] = [server.honest]
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start_and_the_part_skipped(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    place = hub(CONTENT, server.cut_at(100_000), server.ignores_range)
    assert fetch(card(CONTENT), folder, pause=pauses.append).path.read_bytes() == CONTENT
    assert len(place.gets()) == 2


def test_a_server_that_answers_with_another_range_is_asked_for_all(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    place = hub(CONTENT, server.cut_at(100_000), server.another_range, server.honest)
    assert fetch(card(CONTENT), folder, pause=pauses.append).path.read_bytes() == CONTENT
    assert place.ranges() == [None, "bytes=100000-", None]


def test_a_range_with_the_wrong_bytes_is_found_by_the_hash(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    notes: list[Any] = []
    place = hub(CONTENT, server.cut_at(100_000), server.right_range_wrong_bytes, server.honest)
    fetched = fetch(card(CONTENT), folder, pause=pauses.append, report=notes.append)
    assert fetched.path.read_bytes() == CONTENT
    assert any(isinstance(note, Restarted) for note in notes)
    assert place.ranges() == [None, "bytes=100000-", None]


def test_a_refused_range_begins_at_zero(folder: Path, hub: Hub, pauses: list[float]) -> None:
    hub(CONTENT, server.cut_at(100_000), server.status(416), server.honest)
    assert fetch(card(CONTENT), folder, pause=pauses.append).path.read_bytes() == CONTENT


def test_a_flipped_byte_is_fetched_once_more_and_then_refused(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT, server.flipped(12_345))
    with pytest.raises(HashMismatch) as caught:
        fetch(card(CONTENT), folder)
    wrong = bytearray(CONTENT)
    wrong[12_345] ^= 1
    assert caught.value.actual == hashlib.sha256(wrong).hexdigest()
    assert caught.value.actual in str(caught.value)
    assert caught.value.expected in str(caught.value)
    assert "It was not installed. Often a proxy or a full disk." in str(caught.value)
    assert left_behind(folder) == set()
    assert place.ranges() == [None, None]


def test_a_byte_that_flips_only_once_is_no_trouble(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.flipped(SIZE - 1), server.honest)
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT


def test_a_web_page_is_called_one_and_not_kept(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.page)
    with pytest.raises(BadModelFile, match='starts with "<html": a web page, not a model'):
        fetch(card(CONTENT), folder)
    assert left_behind(folder) == set()


def test_an_empty_reply_is_called_an_empty_file(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.empty)
    with pytest.raises(BadModelFile, match="empty file"):
        fetch(card(CONTENT), folder)
    assert left_behind(folder) == set()


def test_another_size_is_refused_before_a_byte_is_taken(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.says_smaller)
    with pytest.raises(FetchError, match=f"offers {SIZE - 7:,} bytes .* says {SIZE:,}"):
        fetch(card(CONTENT), folder)
    assert left_behind(folder) == set()


def test_more_than_the_file_is_refused(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.longer)
    with pytest.raises(FetchError, match="sends more than"):
        fetch(card(CONTENT), folder)
    assert left_behind(folder) == set()


def test_a_reply_without_length_that_ends_early_is_a_break(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    hub(CONTENT, server.shorter, server.honest)
    assert fetch(card(CONTENT), folder, pause=pauses.append).path.read_bytes() == CONTENT


def test_a_re_encoded_reply_is_refused(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.zipped)
    with pytest.raises(FetchError, match="re-encoded"):
        fetch(card(CONTENT), folder)


def test_a_tired_server_is_asked_again(folder: Path, hub: Hub, pauses: list[float]) -> None:
    hub(CONTENT, server.status(500), server.status(503), server.honest)
    fetch(card(CONTENT), folder, pause=pauses.append)
    assert pauses == [0.5, 1.0]


def test_a_server_that_stays_down_is_given_up(folder: Path, hub: Hub, pauses: list[float]) -> None:
    place = hub(CONTENT, server.status(500))
    with pytest.raises(FetchError, match="it answered 500") as caught:
        fetch(card(CONTENT), folder, pause=pauses.append)
    assert len(place.gets()) == 4
    assert not caught.value.began


def test_too_many_requests_waits_as_long_as_asked(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    hub(CONTENT, server.status(429, Retry_After="7"), server.honest)
    fetch(card(CONTENT), folder, pause=pauses.append)
    assert pauses == [7.0]


def test_too_many_requests_for_an_hour_is_told(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    hub(CONTENT, server.status(429, Retry_After="3600"))
    with pytest.raises(FetchError, match=r"429.*3,600 s"):
        fetch(card(CONTENT), folder, pause=pauses.append)
    assert pauses == []


@pytest.mark.parametrize("code", [401, 403])
def test_a_gated_model_says_where_to_ask_and_how_to_give_the_token(
    folder: Path, hub: Hub, code: int
) -> None:
    place = hub(CONTENT, server.status(code, X_Error_Code="GatedRepo"))
    with pytest.raises(FetchError) as caught:
        fetch(card(CONTENT), folder)
    lines = str(caught.value).splitlines()
    assert lines == [
        f"127.0.0.1 does not give some/repo to everyone ({code}, GatedRepo).",
        f"Sign in and accept its terms at {place.url}/some/repo",
        f"Then make a token at {place.url}/settings/tokens and run: "
        "HF_TOKEN=... goliath-local models pull tiny",
    ]


def test_a_token_is_sent_to_the_hub_and_never_shown(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret123")
    place = hub(CONTENT, server.status(403, X_Error_Code="GatedRepo"))
    with pytest.raises(FetchError) as caught:
        fetch(card(CONTENT), folder)
    assert place.gets()[0].headers["authorization"] == "Bearer hf_secret123"
    assert "hf_secret123" not in str(caught.value)
    assert "check that the token in HF_TOKEN may read it" in str(caught.value)


def test_a_token_does_not_follow_a_redirect(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret123")
    with serving(CONTENT) as elsewhere:
        first = hub(CONTENT, server.redirect(f"{elsewhere.url}/blob?signature=abc"))
        fetch(card(CONTENT), folder)
        assert first.gets()[0].headers["authorization"] == "Bearer hf_secret123"
        assert "authorization" not in elsewhere.gets()[0].headers
    for path in folder.iterdir():
        assert b"hf_secret123" not in path.read_bytes()
        assert b"signature" not in path.read_bytes()


def test_a_pull_says_who_we_are_and_nothing_else(folder: Path, hub: Hub) -> None:
    from goliath_local import __version__

    place = hub(CONTENT)
    fetch(card(CONTENT), folder)
    assert place.seen[0].headers == {
        "host": f"127.0.0.1:{place.port}",
        "user-agent": f"goliath-local/{__version__}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "keep-alive",
    }


def test_no_password_of_the_users_is_sent(
    folder: Path, hub: Hub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = home / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    place = hub(CONTENT)
    fetch(card(CONTENT), folder)
    assert "authorization" not in place.seen[0].headers


def test_a_resumed_pull_follows_redirects_with_its_range(
    folder: Path, hub: Hub, pauses: list[float]
) -> None:
    with serving(CONTENT, server.cut_at(5000), server.honest) as elsewhere:
        hub(CONTENT, server.redirect(f"{elsewhere.url}/blob"))
        fetch(card(CONTENT), folder, pause=pauses.append)
        assert elsewhere.ranges() == [None, "bytes=5000-"]


def test_redirects_without_end_are_not_followed(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.redirect("/again"))
    with pytest.raises(FetchError, match="redirects more than 5 times"):
        fetch(card(CONTENT), folder)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://a.invalid/x", "http://u:p@a/x"])
def test_a_redirect_to_something_else_is_not_followed(folder: Path, hub: Hub, target: str) -> None:
    hub(CONTENT, server.redirect(target))
    with pytest.raises(FetchError, match="redirects to an address that is not"):
        fetch(card(CONTENT), folder)


def test_a_file_the_hub_does_not_have_is_named(folder: Path, hub: Hub) -> None:
    hub(CONTENT, server.status(404, X_Error_Code="EntryNotFound"))
    with pytest.raises(FetchError, match=r"no tiny\.gguf in some/repo at 0123456789ab"):
        fetch(card(CONTENT), folder)


def test_a_hub_that_cannot_be_reached_is_asked_twice(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(FetchError, match="does not answer"):
        fetch(card(CONTENT), folder, pause=pauses.append)
    assert pauses == [0.5]
    assert left_behind(folder) == set()


def test_offline_asks_nothing(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    with pytest.raises(FetchError, match="without --offline"):
        fetch(card(CONTENT), folder, offline=True)
    assert place.seen == []


def test_hub_offline_asks_the_hub_nothing(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = hub(CONTENT)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FetchError, match="HF_HUB_OFFLINE is set"):
        fetch(card(CONTENT), folder)
    assert place.seen == []


def test_a_full_disk_is_refused_before_the_first_byte(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = hub(CONTENT)
    free = SIZE + SIZE // 20 + (64 << 20) - 1
    monkeypatch.setattr(part_module.shutil, "disk_usage", lambda _: usage(free))
    with pytest.raises(FetchError, match=r"needs .* on the disk of .*, and .* is free") as caught:
        fetch(card(CONTENT), folder)
    assert str(folder) in str(caught.value)
    assert place.seen == []
    monkeypatch.setattr(part_module.shutil, "disk_usage", lambda _: usage(free + 1))
    fetch(card(CONTENT), folder)


def usage(free: int) -> Any:
    return shutil._ntuple_diskusage(free * 2, free, free)  # type: ignore[attr-defined]


def test_a_disk_that_fills_up_keeps_the_part_and_the_pull_goes_on_later(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = hub(CONTENT)
    write = os.write

    def full(descriptor: int, data: Any) -> int:
        have = os.lseek(descriptor, 0, os.SEEK_CUR)
        if have >= 200_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: 200_000 - have])

    with monkeypatch.context() as patched:
        patched.setattr(part_module.os, "write", full)
        with pytest.raises(FetchError, match=r"is full, at 200\.00 of 633\.42 kB"):
            fetch(card(CONTENT), folder)
    assert (folder / "tiny.gguf.part").read_bytes() == CONTENT[:200_000]
    place.seen.clear()
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT
    assert place.ranges() == ["bytes=200000-"]


def test_cancelling_stops_and_keeps_the_part(folder: Path, hub: Hub) -> None:
    hub(CONTENT)
    token = CancelToken()

    def report(note: Any) -> None:
        if isinstance(note, Moved):
            token.cancel("enough")

    with pytest.raises(RunCancelled):
        fetch(card(CONTENT), folder, report=report, cancel=token)
    assert 0 < (folder / "tiny.gguf.part").stat().st_size < SIZE


def test_a_part_of_another_version_of_the_card_is_not_taken_up(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf.part").write_bytes(b"x" * 1000)
    (folder / "tiny.gguf.part.json").write_text(json.dumps({"sha256": "0" * 64}))
    fetch(card(CONTENT), folder)
    assert place.ranges() == [None]


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"\x00" * 100, b"[" * 100_000, b'{"etag": 5}'])
def test_a_damaged_sidecar_costs_nothing(folder: Path, hub: Hub, note: bytes) -> None:
    place = hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf.part").write_bytes(CONTENT[:1000])
    (folder / "tiny.gguf.part.json").write_bytes(note)
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT
    assert place.ranges() == ["bytes=1000-"]


def test_a_part_longer_than_the_file_is_begun_anew(folder: Path, hub: Hub) -> None:
    hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf.part").write_bytes(CONTENT + b"more")
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT


def test_a_complete_part_needs_no_network(folder: Path, hub: Hub) -> None:
    place = hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf.part").write_bytes(CONTENT)
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT
    assert place.seen == []


def test_a_file_of_the_wrong_size_is_replaced(folder: Path, hub: Hub) -> None:
    hub(CONTENT)
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(CONTENT[:1000])
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT


def test_what_is_not_a_model_is_not_installed_though_its_hash_is_right(
    folder: Path, home: Path
) -> None:
    content = b"no model at all" * 1000
    digest = hashlib.sha256(content).hexdigest()
    with serving(content) as place:
        pin = Pin(
            name="odd",
            file="odd.gguf",
            size_bytes=len(content),
            sha256=digest,
            sources=(UrlSource(url=f"{place.url}/odd.gguf"),),
        )
        with pytest.raises(BadModelFile, match='where a model starts with "GGUF"'):
            fetch(pin, folder)
    assert left_behind(folder) == set()


def _cut_and_go_on(folder: Path, hub: Hub, at: int) -> None:
    place = hub(CONTENT, server.cut_at(at))
    with pytest.raises(FetchError):
        fetch(card(CONTENT), folder, pause=lambda _: None)
    assert "tiny.gguf" not in left_behind(folder)
    place.replies[:] = [server.honest]
    assert fetch(card(CONTENT), folder).path.read_bytes() == CONTENT
    assert place.sent_bytes <= 1.05 * SIZE


@pytest.mark.slow
@pytest.mark.parametrize("share", range(1, 12))
def test_any_cut_point_ends_in_the_right_file(folder: Path, hub: Hub, share: int) -> None:
    _cut_and_go_on(folder, hub, SIZE * share // 12 + share)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(many(12)))
def test_any_cut_point_that_is_drawn_ends_in_the_right_file(
    folder: Path, hub: Hub, number: int
) -> None:
    chance = random.Random(f"{first_seed(0)} {number}")
    _cut_and_go_on(folder, hub, chance.randrange(SIZE))
