"""Memory and cores of this machine, as far as this process may use them.

Edge: reads `/proc`, `/sys` and psutil. A container's limit counts when it is below the machine's.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import psutil

_ROOT = Path("/")
_UNLIMITED_BYTES = 1 << 60
"""A cgroup limit above this is no limit: version 1 writes a huge number instead of `max`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a model can count on."""

    total_bytes: int
    available_bytes: int
    """Memory that is free now, or could be freed from caches."""

    cores: int
    """Logical processors this process may use, at least 1."""


def read_machine(root: Path = _ROOT) -> Machine:
    """Return memory and cores, with control groups and the affinity mask taken into account.

    Args:
        root: where `/sys` and `/proc` are looked for.
    """
    memory = psutil.virtual_memory()
    total, available = memory.total, memory.available
    for folder in _groups(root):
        limit = _number(folder / "memory.max") or _number(folder / "memory.limit_in_bytes")
        if limit is None or limit >= _UNLIMITED_BYTES:
            continue
        total, available = min(total, limit), min(available, limit - _used(folder, limit))
    available = min(available, _address_room_bytes())
    return Machine(
        total_bytes=total, available_bytes=max(available, 0), cores=_allowed_processors()
    )


def _address_room_bytes() -> int:
    """Return how far this process may still grow (`ulimit -v`), a huge number without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return _UNLIMITED_BYTES
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return _UNLIMITED_BYTES
    return max(0, limit - psutil.Process().memory_info().vms)


def _groups(root: Path) -> list[Path]:
    """Return the control groups this process is in, from its own up to the top, both versions."""
    found: list[Path] = []
    base = root / "sys/fs/cgroup"
    for line in _lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        top = base / "memory" if "memory" in controllers.split(",") else base
        own = top / path.lstrip("/")
        found += [own, *(above for above in own.parents if above.is_relative_to(top))]
    return found or [base, base / "memory"]


def _used(folder: Path, limit: int) -> int:
    """Return the memory a group uses beyond file caches that can be dropped."""
    current = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes")
    caches = 0
    for line in _lines(folder / "memory.stat"):
        name, _, value = line.partition(" ")
        if name in {"inactive_file", "total_inactive_file"} and value.strip().isdigit():
            caches = max(caches, int(value))
    return max(0, min((current or 0) - caches, limit))


def _allowed_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _number(path: Path) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].strip().isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
