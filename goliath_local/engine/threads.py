"""How many threads a model gets when nobody says: the cores that really help.

Edge: reads `/sys` and `/proc` below a given root, so that tests can hand in another machine. The
physical cores in the affinity mask count, only the big ones where there are two kinds, and never
more than the control group's quota allows.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ROOT: Final = Path("/")
_BIG_SHARE: Final = 0.75
"""A core this near to the fastest one counts as big; small ones have 0.3 to 0.55 of it."""


def default_threads(*, root: Path = _ROOT, affinity: Iterable[int] | None = None) -> int:
    """Return the thread count to use, at least 1.

    Args:
        root: where `/sys` and `/proc` are looked for.
        affinity: processors this process may run on; None: ask the system.
    """
    if sys.platform == "darwin" and root == _ROOT:
        return _performance_cores() or psutil.cpu_count(logical=False) or 1
    allowed = frozenset(affinity) if affinity is not None else _affinity(root)
    cores = _physical_cores(_big_processors(allowed, root), root)
    quota = _quota(root)
    return max(1, cores if quota is None else min(cores, quota))


def _affinity(root: Path) -> frozenset[int]:
    if root == _ROOT and hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    listed = _list(root / "sys/devices/system/cpu/online")
    return listed or frozenset(range(os.cpu_count() or 1))


def _performance_cores() -> int | None:
    asked = ["/usr/sbin/sysctl", "-n", "hw.perflevel0.physicalcpu"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return int(told.stdout) if told.stdout.strip().isdigit() else None


def _big_processors(allowed: frozenset[int], root: Path) -> frozenset[int]:
    """Return the processors of the fast kind; all of them where there is one kind."""
    named = _list(root / "sys/devices/cpu_core/cpus") & allowed  # Intel names its fast cores
    if named:
        return named
    for file in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        speeds = {cpu: _number(_cpu(root, cpu) / file) for cpu in allowed}
        known = {cpu: speed for cpu, speed in speeds.items() if speed is not None}
        if known and len(known) == len(allowed):
            return frozenset(
                cpu for cpu, speed in known.items() if speed >= _BIG_SHARE * max(known.values())
            )
    return allowed


def _physical_cores(processors: frozenset[int], root: Path) -> int:
    """Return how many cores the processors belong to: two siblings are one core."""
    names = {cpu: _siblings(root, cpu) for cpu in processors}
    if all(names.values()):
        return len(set(names.values()))
    listed = _cpuinfo_cores(root)
    return len({listed.get(cpu, (cpu,)) for cpu in processors})


def _siblings(root: Path, cpu: int) -> frozenset[int]:
    topology = _cpu(root, cpu) / "topology"
    return _list(topology / "core_cpus_list") or _list(topology / "thread_siblings_list")


def _cpuinfo_cores(root: Path) -> Mapping[int, tuple[int, ...]]:
    """Return (package, core) of each processor, as far as `/proc/cpuinfo` says."""
    found: dict[int, tuple[int, ...]] = {}
    fields: dict[str, int] = {}
    for line in (*_lines(root / "proc/cpuinfo"), ""):
        key, _, value = line.partition(":")
        if value.strip().isdigit():
            fields[key.strip()] = int(value)
        if not line.strip():
            if "processor" in fields and "core id" in fields:
                found[fields["processor"]] = (fields.get("physical id", 0), fields["core id"])
            fields = {}
    return found


def _quota(root: Path) -> int | None:
    """Return the processors the control group may use, rounded down; None without a limit."""
    base = root / "sys/fs/cgroup"
    limits = []
    for folder in (*_groups(root, base), base):
        limit = _quota_of(folder)
        if limit is not None:
            limits.append(limit)
    return int(min(limits)) if limits else None


def _groups(root: Path, base: Path) -> list[Path]:
    found = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        names = controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        top = base / "cpu" if "cpu" in names else base
        own = top / path.lstrip("/")
        found += [own, *(above for above in own.parents if above.is_relative_to(top))]
    return found


def _quota_of(folder: Path) -> float | None:
    new = _lines(folder / "cpu.max")
    words = new[0].split() if new else []
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
        return int(words[0]) / max(int(words[1]), 1)
    quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def _cpu(root: Path, cpu: int) -> Path:
    return root / f"sys/devices/system/cpu/cpu{cpu}"


def _list(path: Path) -> frozenset[int]:
    """Return the numbers of a kernel list such as `0-3,8`; none when there is no such file."""
    found: set[int] = set()
    for span in ",".join(_lines(path)).split(","):
        first, _, last = span.strip().partition("-")
        if first.isdigit():
            found.update(range(int(first), int(last if last.isdigit() else first) + 1))
    return frozenset(found)


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
