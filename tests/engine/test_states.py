"""Prompt states on disk: damaged and foreign ones change no reply (F13)."""

from __future__ import annotations

import json
import os
import random
import stat
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goliath_local.catalogue import find_card
from goliath_local.engine import EngineSettings, load_model
from goliath_local.engine.native.snapshot import DiskShelf, read_state, write_state
from goliath_local.engine.snapshots import Snapshot
from tests.engine.asks import conductor, worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.engine import LocalModel

FLIPS = int(os.environ.get("GOLIATH_TEST_FLIPS", "300"))
"""States damaged at random; the Night lever."""

HEADER = {"model": "m", "window": 4096, "key": "k", "tokens": 3}


def snapshot(size: int = 1000, key: str = "k") -> Snapshot:
    state = np.random.default_rng(0).integers(0, 255, size).astype(np.uint8)
    return Snapshot(key=key, length=3, state=state)


def state_file(kept: Snapshot | None = None, header: dict[str, str | int] = HEADER) -> bytes:
    return b"".join(write_state(kept or snapshot(), header))


def damaged(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    return {
        "nothing": b"",
        "7 bytes": data[:7],
        "half": data[:middle],
        "99 %": data[: len(data) * 99 // 100],
        "all but one byte": data[:-1],
        "64 zeroed bytes": data[:middle] + bytes(64) + data[middle + 64 :],
        "4 KiB appended": data + bytes(4096),
        "a web page": b"<html>" + data,
        "a huge header": data[:8] + b"\xff\xff\xff\xff" + data[12:],
        "a deep header": data[:8] + (9000).to_bytes(4, "little") + b"[" * 9000,
    }


def test_a_state_reads_back_as_it_was():
    read = read_state(state_file(), HEADER)
    assert read is not None
    assert np.array_equal(read, snapshot().state)


@pytest.mark.parametrize("damage", damaged(state_file()))
def test_a_damaged_state_is_refused(damage: str):
    assert read_state(damaged(state_file())[damage], HEADER) is None


@pytest.mark.parametrize("fact", HEADER)
def test_a_state_of_something_else_is_refused(fact: str):
    data = state_file()
    assert read_state(data, {**HEADER, fact: "other"}) is None


def of_another_prompt(header: bytes, payload: bytes) -> bytes:
    """The header of one state over the payload of another."""
    ends = [12 + int.from_bytes(data[8:12], "little") for data in (header, payload)]
    return header[: ends[0]] + payload[ends[1] :]


def test_a_right_header_over_the_payload_of_another_prompt_is_refused():
    mine = state_file()
    state = snapshot().state[::-1].copy()  # as long, and other bytes
    other = state_file(Snapshot(key="other", length=3, state=state), HEADER | {"key": "other"})
    swapped = of_another_prompt(mine, other)
    assert len(swapped) == len(mine)
    assert read_state(swapped, HEADER) is None
    assert read_state(of_another_prompt(mine, mine), HEADER) is not None


def test_random_damage_is_refused():
    data, chance = state_file(), random.Random(1)
    for _ in range(FLIPS):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        if changed != data:
            assert read_state(bytes(changed), HEADER) is None


def test_states_are_for_their_owner_and_the_oldest_go_when_room_is_short(tmp_path: Path):
    shelf = DiskShelf(tmp_path / "states", {"model": "m"}, limit_bytes=3500)
    for age, key in enumerate("abcd"):
        shelf.keep(snapshot(key=key))
        os.utime(shelf.path_of(key), (age, age))
    assert shelf.find("a", length=3) is None
    assert shelf.find("d", length=3) is not None
    assert stat.S_IMODE(shelf.path_of("d").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "states").stat().st_mode) == 0o700


def test_a_damaged_file_is_deleted_when_it_is_found(tmp_path: Path):
    shelf = DiskShelf(tmp_path, {"model": "m"})
    shelf.keep(snapshot())
    shelf.path_of("k").write_bytes(b"GLSTATE1 nothing")
    assert shelf.find("k", length=3) is None
    assert not shelf.path_of("k").exists()


def test_what_a_killed_write_left_is_swept_with_the_next_state(tmp_path: Path):
    left = tmp_path / ".k.state.1.ab.tmp"
    left.write_bytes(bytes(1000))
    os.utime(left, (1, 1))
    DiskShelf(tmp_path, {"model": "m"}).keep(snapshot())
    assert not left.exists()


def test_a_folder_that_cannot_be_written_costs_only_the_state(tmp_path: Path, caplog: Any):
    (tmp_path / "file").write_text("not a folder")
    DiskShelf(tmp_path / "file", {"model": "m"}).keep(snapshot())
    assert "could not be saved" in caplog.text


def with_facts(data: bytes, **facts: Any) -> bytes:
    """The state with other words in its header, as another card or window would write them."""
    end = 12 + int.from_bytes(data[8:12], "little")
    header = json.loads(data[12:end])
    assert set(facts) <= set(header)
    text = json.dumps(header | facts).encode()
    return data[:8] + len(text).to_bytes(4, "little") + text + data[end:]


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


@pytest.mark.model
@pytest.mark.slow
async def test_no_foreign_state_and_no_flipped_bit_changes_a_reply(
    weights: Callable[[str], Path], tmp_path: Path
):
    card, request = find_card("smollm2-135m"), conductor("Put eggs on my list.", max_tokens=8)
    states = tmp_path / "states"

    def load(folder: Path = states) -> LocalModel:
        settings = EngineSettings(deterministic=True, snapshot_dir=folder)
        return load_model(weights(card.name), sha256=card.sha256, settings=settings)

    with load() as model:
        expected = (await model.generate(request)).text
    (path,) = states.glob("*.state")
    sound, chance = path.read_bytes(), random.Random(2)
    with load(tmp_path / "other") as model:
        await model.prewarm([worker("Put eggs on my list.")])
    (other,) = (tmp_path / "other").glob("*.state")
    foreign = {
        "another card": with_facts(sound, model="0" * 64),
        "another window": with_facts(sound, window=2048),
        "another prompt": of_another_prompt(sound, other.read_bytes()),
        **{f"flip {number}": flipped(sound, chance) for number in range(2)},
    }
    for name, data in foreign.items():
        assert data != sound, name
        path.write_bytes(data)
        with load() as model:
            reply = await model.generate(request)
        assert reply.text == expected, name
        assert reply.usage.evaluated_tokens == reply.usage.prompt_tokens, name
    path.write_bytes(sound)
    with load() as model:
        reply = await model.generate(request)
    assert reply.text == expected
    assert reply.usage.evaluated_tokens < reply.usage.prompt_tokens


@pytest.mark.model
@pytest.mark.slow
async def test_no_damage_to_a_state_changes_a_reply(
    weights: Callable[[str], Path], tmp_path: Path
):
    card = find_card("smollm2-135m")
    request, other = conductor("Put eggs on my list."), conductor("x", max_tokens=25)
    changed_head = conductor("Put eggs on my list.")
    states = tmp_path / "states"

    def load() -> LocalModel:
        settings = EngineSettings(deterministic=True, snapshot_dir=states)
        return load_model(weights(card.name), sha256=card.sha256, settings=settings)

    with load() as model:
        expected = (await model.generate(request)).text
        await model.prewarm([other, changed_head])
    (path,) = states.glob("*.state")
    sound = path.read_bytes()
    for name, data in damaged(sound).items():
        path.write_bytes(data)
        with load() as model:
            reply = await model.generate(request)
        assert reply.text == expected, name
        assert reply.usage.evaluated_tokens == reply.usage.prompt_tokens, name
        assert path.read_bytes() == sound  # deleted, and written anew


def test_a_folder_that_cannot_be_looked_at_costs_a_slower_start_only(tmp_path: Path):
    shelf = DiskShelf(tmp_path / ("x" * 300), {"model": "m"})
    shelf.keep(snapshot())
    shelf.keep_behind("head", snapshot())
    assert shelf.find("k", length=3) is None
    assert shelf.find_behind("head", "k", length=3) is None


# What stands behind a head


def behind(tmp_path: Path) -> tuple[DiskShelf, Snapshot]:
    shelf = DiskShelf(tmp_path / "states", {"model": "m", "window": 4096})
    shelf.keep_behind("head", snapshot(key="today"))
    return shelf, snapshot(key="tomorrow")


def test_what_stands_behind_a_head_is_found_by_its_own_key(tmp_path: Path):
    shelf, _ = behind(tmp_path)
    found = shelf.find_behind("head", "today", length=3)
    assert found is not None
    assert (found.state == snapshot().state).all()
    assert shelf.find_behind("head", "tomorrow", length=3) is None
    assert shelf.find_behind("other", "today", length=3) is None
    assert shelf.find_behind("head", "today", length=4) is None


def test_what_stands_behind_a_head_is_written_anew_once_an_hour_at_most(tmp_path: Path):
    shelf, other = behind(tmp_path)
    shelf.keep_behind("head", other)
    assert shelf.find_behind("head", "today", length=3) is not None
    (path,) = (tmp_path / "states").iterdir()
    os.utime(path, (0, 0))
    shelf.keep_behind("head", other)
    assert shelf.find_behind("head", "today", length=3) is None
    assert shelf.find_behind("head", "tomorrow", length=3) is not None
    assert len(list((tmp_path / "states").iterdir())) == 1


@pytest.mark.parametrize("damage", damaged(state_file()))
def test_a_damaged_state_behind_a_head_is_none(tmp_path: Path, damage: str):
    shelf, _ = behind(tmp_path)
    (path,) = (tmp_path / "states").iterdir()
    path.write_bytes(damaged(path.read_bytes())[damage])
    assert shelf.find_behind("head", "today", length=3) is None
