"""When a model file is mapped into memory, and when it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from goliath_local.engine import EngineSettings, load
from goliath_local.engine.mapping import may_map

MODEL = Path("/media/models/small.gguf")


def machine(root: Path, *, kind: str = "ext4", removable: str = "0") -> Path:
    """Lay out what a machine says of its mounts: the model's disk is the eighth, first part."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text(
        "21 1 254:0 / / rw - ext4 /dev/vda rw\n"
        f"42 21 8:1 / {MODEL.parent} rw,nosuid shared:3 - {kind} /dev/sda1 rw\n"
    )
    part = root / "sys/devices/sda/sda1"
    part.mkdir(parents=True)
    (part.parent / "removable").write_text(f"{removable}\n")
    (root / "sys/dev/block").mkdir(parents=True)
    (root / "sys/dev/block/8:1").symlink_to(part)
    return root


def test_a_file_on_a_disk_that_stays_may_be_mapped(tmp_path: Path) -> None:
    assert may_map(MODEL, root=machine(tmp_path))


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "fuseblk", "exfat"])
def test_a_file_on_a_file_system_that_may_go_away_is_read(tmp_path: Path, kind: str) -> None:
    assert not may_map(MODEL, root=machine(tmp_path, kind=kind))


def test_a_file_on_a_removable_disk_is_read(tmp_path: Path) -> None:
    assert not may_map(MODEL, root=machine(tmp_path, removable="1"))


def test_a_machine_that_tells_nothing_of_its_mounts_maps(tmp_path: Path) -> None:
    assert may_map(MODEL, root=tmp_path)


@pytest.mark.parametrize("lays_out_anew", [True, False])
@pytest.mark.parametrize("stays", [True, False])
def test_weights_are_mapped_where_the_build_uses_them_as_they_lie_and_the_disk_stays(
    monkeypatch: pytest.MonkeyPatch, *, lays_out_anew: bool, stays: bool
) -> None:
    monkeypatch.setattr(load, "lays_out_anew", lambda: lays_out_anew)
    monkeypatch.setattr(load, "may_map", lambda _path: stays)
    assert load.uses_mmap(MODEL, EngineSettings()) == (stays and not lays_out_anew)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_setting_for_mapping_wins(monkeypatch: pytest.MonkeyPatch, *, wanted: bool) -> None:
    monkeypatch.setattr(load, "lays_out_anew", lambda: wanted)
    monkeypatch.setattr(load, "may_map", lambda _path: not wanted)
    assert load.uses_mmap(MODEL, EngineSettings(use_mmap=wanted)) == wanted
