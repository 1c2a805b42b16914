"""The tool set `system`: facts about the machine it runs on.

Edge: asks the operating system, changes nothing. Linux and macOS; what a system does not tell
is left out. Sources: psutil, the standard library.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from goliath_local.catalogue import read_machine
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.tools import Tool

_GIB = 1 << 30
_SAMPLE_S = 0.3
_SHOWN = 5


def system_tools() -> tuple[Tool, ...]:
    """Return `system_info`, `cpu_load`, `memory_use`, `disk_space` and `top_processes`."""
    return (
        _tool("system_info", "Tell this computer's system, processor and uptime.", system_info),
        _tool("cpu_load", "Tell how busy and how hot the processor is.", cpu_load),
        _tool("memory_use", "Tell how much memory there is and how much is free.", memory_use),
        _tool("disk_space", "Tell how full the disks are.", disk_space),
        _tool("top_processes", "List the programs that use most memory.", top_processes),
    )


def _tool(name: str, description: str, read: Callable[[], str]) -> Tool:
    return define_tool(
        name=name,
        description=description,
        execute=lambda _given, _context: read(),
        # Asked again, the machine may answer otherwise.
        idempotent=False,
    )


def system_info() -> str:
    """Return the system, the processor, and since when it runs."""
    hours, seconds = divmod(max(0, int(time.time() - psutil.boot_time())), 3600)
    days, hours = divmod(hours, 24)
    name = platform.mac_ver()[0] and f"macOS {platform.mac_ver()[0]}"
    return "\n".join(
        (
            f"system: {name or _distribution()}, kernel {platform.release()}",
            f"computer: {platform.node()}, {platform.machine()}",
            f"processor: {_processor()}, {os.cpu_count()} threads",
            f"running since: {days} days, {hours} hours, {seconds // 60} minutes",
        )
    )


def cpu_load() -> str:
    """Return the load now and of the last minutes, and the temperature where it is known."""
    busy = psutil.cpu_percent(interval=_SAMPLE_S)
    lines = [f"busy now: {busy:.0f} % of {os.cpu_count()} threads"]
    one, five, fifteen = psutil.getloadavg()
    lines.append(f"load, 1, 5 and 15 minutes: {one:.2f}, {five:.2f}, {fifteen:.2f}")
    heat = _temperature()
    if heat is not None:
        lines.append(f"temperature: {heat:.0f} °C")
    return "\n".join(lines)


def memory_use() -> str:
    """Return memory and swap; a container's limit counts."""
    machine, swap = read_machine(), psutil.swap_memory()
    return (
        f"memory: {_size(machine.available_bytes)} free of {_size(machine.total_bytes)}\n"
        f"swap: {_size(swap.free)} free of {_size(swap.total)}"
    )


def disk_space() -> str:
    """Return free and whole size of each disk, the fullest first."""
    seen: dict[tuple[int, int], str] = {}
    for place in ("/", str(Path.home()), *(part.mountpoint for part in psutil.disk_partitions())):
        try:
            usage = shutil.disk_usage(place)
        except OSError:
            continue
        if usage.total:
            line = f"{place}: {_size(usage.free)} free of {_size(usage.total)}"
            # Some of a disk is kept for the system: what can be used counts, as df counts it.
            line += f", {100 * usage.used / max(1, usage.used + usage.free):.0f} % used"
            # The same disk mounted twice has the same figures.
            seen.setdefault((usage.total, usage.free), line)
    by_use = sorted(seen, key=lambda sizes: sizes[1] / sizes[0])
    return "\n".join(seen[sizes] for sizes in by_use[:_SHOWN])


def top_processes() -> str:
    """Return the programs that hold most memory, those of one name together."""
    held: dict[str, int] = {}
    for process in psutil.process_iter():
        try:
            name, size = process.name(), process.memory_info().rss
        except (psutil.Error, OSError):
            continue
        held[name] = held.get(name, 0) + size
    most = sorted(held, key=lambda name: held[name], reverse=True)[:_SHOWN]
    return "\n".join(f"{name}: {_size(held[name])}" for name in most)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / _GIB:.1f} GiB" if size_bytes >= _GIB else f"{size_bytes >> 20} MiB"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _processor() -> str:
    """Return the processor's name, or the board's on machines that name none."""
    for path, key in (("/proc/cpuinfo", "model name"), ("/proc/device-tree/model", "")):
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = [line for line in text.replace("\0", "\n").splitlines() if line.startswith(key)]
        if found:
            return found[0].rpartition(":")[2].strip()
    return platform.processor() or platform.machine()


def _temperature() -> float | None:
    """Return the hottest core, as far as the system tells."""
    read = getattr(psutil, "sensors_temperatures", None)
    found = read() if read is not None else {}
    heats = [one.current for sensors in found.values() for one in sensors if one.current > 0]
    return max(heats, default=None)
