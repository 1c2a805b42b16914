"""Memory, where a container's limit counts when it is below the machine's."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from goliath_local.catalogue import read_machine

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20


def tree(root: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return root


def test_without_control_groups_the_machines_memory_counts(tmp_path: Path) -> None:
    machine = read_machine(tmp_path)
    assert machine.total_bytes == psutil.virtual_memory().total
    assert 0 < machine.available_bytes <= machine.total_bytes
    assert machine.cores >= 1


VERSION_2 = {
    "proc/self/cgroup": "0::/box/inner",
    "sys/fs/cgroup/box/memory.max": 100 * MIB,
    "sys/fs/cgroup/box/memory.current": 60 * MIB,
    "sys/fs/cgroup/box/memory.stat": f"anon 1\ninactive_file {20 * MIB}",
    "sys/fs/cgroup/box/inner/memory.max": "max",
}
VERSION_1 = {
    "proc/self/cgroup": "4:cpu:/box\n3:memory:/box",
    "sys/fs/cgroup/memory/box/memory.limit_in_bytes": 100 * MIB,
    "sys/fs/cgroup/memory/box/memory.usage_in_bytes": 60 * MIB,
    "sys/fs/cgroup/memory/box/memory.stat": f"total_inactive_file {20 * MIB}",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": 2**63 - 4096,
}
CONTAINER = {
    "proc/self/cgroup": "0::/",
    "sys/fs/cgroup/memory.max": 100 * MIB,
    "sys/fs/cgroup/memory.current": 40 * MIB,
}


@pytest.mark.parametrize("files", [VERSION_2, VERSION_1, CONTAINER])
def test_a_groups_limit_counts_less_what_it_uses_beyond_caches(
    tmp_path: Path, files: dict[str, object]
) -> None:
    machine = read_machine(tree(tmp_path, files))
    assert machine.total_bytes == 100 * MIB
    assert machine.available_bytes == 60 * MIB


def test_a_group_over_its_limit_has_nothing_left(tmp_path: Path) -> None:
    files = CONTAINER | {"sys/fs/cgroup/memory.current": 500 * MIB}
    assert read_machine(tree(tmp_path, files)).available_bytes == 0


def test_what_is_not_a_number_is_no_limit(tmp_path: Path) -> None:
    files = CONTAINER | {"sys/fs/cgroup/memory.max": "12 apples"}
    assert read_machine(tree(tmp_path, files)).total_bytes == psutil.virtual_memory().total


def test_a_limit_on_the_address_space_counts() -> None:
    code = (
        "import resource, psutil; from goliath_local.catalogue import read_machine; "
        "used = psutil.Process().memory_info().vms; limit = used + (300 << 20); "
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit)); "
        "print(read_machine().available_bytes)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(said.stdout) <= 300 * MIB
