"""How many threads a machine gets, on pretended machines (user reports 3, F12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goliath_local.engine.threads import default_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def machine(root: Path, siblings: Sequence[str], files: Mapping[str, str] | None = None) -> Path:
    """Write a `/sys` tree: one entry a processor, naming the processors of its core."""
    for cpu, names in enumerate(siblings):
        topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(names + "\n")
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def capacities(values: Sequence[int]) -> dict[str, str]:
    return {f"sys/devices/system/cpu/cpu{i}/cpu_capacity": f"{v}\n" for i, v in enumerate(values)}


def alone(count: int) -> list[str]:
    return [str(cpu) for cpu in range(count)]


def test_a_pi_with_four_cores_gets_four(tmp_path: Path):
    assert default_threads(root=machine(tmp_path, alone(4)), affinity=range(4)) == 4


def test_sixteen_threads_on_eight_cores_get_eight(tmp_path: Path):
    siblings = [f"{cpu % 8},{cpu % 8 + 8}" for cpu in range(16)]
    assert default_threads(root=machine(tmp_path, siblings), affinity=range(16)) == 8


def test_only_the_big_cores_of_a_mixed_board_count(tmp_path: Path):
    root = machine(tmp_path, alone(8), capacities([530] * 4 + [1007, 1007, 1024, 1024]))
    assert default_threads(root=root, affinity=range(8)) == 4


def test_only_the_performance_cores_of_a_hybrid_processor_count(tmp_path: Path):
    siblings = ["0-1", "0-1", "2-3", "2-3", "4-5", "4-5", "6-7", "6-7", "8", "9", "10", "11"]
    root = machine(tmp_path, siblings, {"sys/devices/cpu_core/cpus": "0-7\n"})
    assert default_threads(root=root, affinity=range(12)) == 4


def test_small_cores_are_used_when_the_affinity_leaves_nothing_else(tmp_path: Path):
    root = machine(tmp_path, alone(8), capacities([530] * 4 + [1024] * 4))
    assert default_threads(root=root, affinity=range(4)) == 4


@pytest.mark.parametrize(
    ("text", "threads"),
    [("200000 100000", 2), ("150000 100000", 1), ("50000 100000", 1), ("max 100000", 64)],
)
def test_a_control_group_quota_is_rounded_down_to_at_least_one(
    tmp_path: Path, text: str, threads: int
):
    files = {
        "proc/self/cgroup": "0::/user.slice/job\n",
        "sys/fs/cgroup/user.slice/job/cpu.max": text + "\n",
    }
    root = machine(tmp_path, alone(64), files)
    assert default_threads(root=root, affinity=range(64)) == threads


def test_the_tightest_quota_on_the_way_up_counts(tmp_path: Path):
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
        "sys/fs/cgroup/a/cpu.max": "300000 100000\n",
    }
    assert default_threads(root=machine(tmp_path, alone(16), files), affinity=range(16)) == 3


def test_a_quota_of_the_old_kind_counts(tmp_path: Path):
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n",
        "sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us": "200000\n",
        "sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us": "100000\n",
    }
    assert default_threads(root=machine(tmp_path, alone(8), files), affinity=range(8)) == 2


def test_an_affinity_of_one_processor_gets_one(tmp_path: Path):
    assert default_threads(root=machine(tmp_path, alone(8)), affinity=[3]) == 1


def test_cores_are_read_from_cpuinfo_where_there_is_no_topology(tmp_path: Path):
    blocks = (f"processor\t: {i}\nphysical id\t: 0\ncore id\t\t: {i % 2}\n" for i in range(4))
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("\n".join(blocks))
    assert default_threads(root=tmp_path, affinity=range(4)) == 2


def test_a_machine_that_tells_nothing_gets_its_processors(tmp_path: Path):
    assert default_threads(root=tmp_path, affinity=range(3)) == 3


def test_this_machine_gets_at_least_one_thread():
    assert default_threads() >= 1
