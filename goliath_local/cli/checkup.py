"""The checks of `doctor`, one function each.

Edge: looks at this machine; the native library is touched only in a child process, so that a
wheel built for another processor ends the child and not the doctor.
"""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.catalogue import cards, largest_that_fits, needed_bytes, read_machine
from goliath_local.catalogue import read_gguf_header as read_header
from goliath_local.cli.load_probe import Probed, library_command, model_command, run_probe
from goliath_local.cli.problems import ExitCode, read_problem
from goliath_local.cli.ready import find_model
from goliath_local.errors import GoliathError, NoModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.cli.ready import Found
    from goliath_local.cli.settings import Settings

State: TypeAlias = Literal["ok", "warn", "bad"]

_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found."""

    name: str
    state: State
    found: str
    cure: str = ""
    """What to do; empty when nothing is to be done."""

    code: ExitCode = ExitCode.NOT_READY


def check_up(settings: Settings, *, quick: bool) -> Iterator[Check]:
    """Yield what each check found, in an order in which later ones lean on earlier ones."""
    yield python_check()
    library = library_check(run_probe(library_command()))
    yield library
    yield cores_check(settings.threads)
    yield load_check(os.getloadavg()[0], os.cpu_count() or 1)
    yield heat_check(Path("/sys"))
    yield data_check(settings)
    try:
        found = find_model(settings)
    except GoliathError as error:
        yield _no_model(error)
        return
    yield Check(name="model", state="ok", found=_described(found))
    memory = memory_check(found)
    yield memory
    if not quick and library.state == "ok" and memory.state != "bad":
        yield generation_check(run_probe(model_command(settings), timeout_s=180))


def python_check() -> Check:
    """Say which Python this is."""
    version = f"{platform.python_version()} ({platform.machine()}, {platform.system()})"
    return Check(name="python", state="ok", found=version)


def library_check(probed: Probed) -> Check:
    """Say whether llama-cpp-python can be loaded here."""
    if probed.ok:
        return Check(name="llama.cpp", state="ok", found=str(probed.facts.get("build", "")))
    if probed.signal is not None:
        return Check(name="llama.cpp", state="bad", found=probed.why, cure=_REBUILD)
    why = _short(probed.why).partition(" Install it")[0]
    return Check(name="llama.cpp", state="bad", found=why, cure=install_cure())


_REBUILD = (
    "This wheel of llama-cpp-python needs CPU features your CPU lacks; rebuild it here:\n"
    "pip install --force-reinstall --no-cache-dir --no-binary llama-cpp-python llama-cpp-python"
)


def install_cure(system: str | None = None) -> str:
    """Return how llama-cpp-python gets installed on this system, copyable."""
    compiler = {
        "Darwin": "xcode-select --install",
        "Linux": "sudo apt install build-essential cmake   # or your system's compiler package",
    }.get(system or platform.system(), "install a C++ compiler and cmake")
    return (
        "llama-cpp-python is missing or broken. A compiler is needed to build it:\n"
        f"{compiler}\n"
        "pip install --force-reinstall --no-cache-dir llama-cpp-python\n"
        "Without a compiler, take a ready wheel; its project has an index of CPU wheels:\n"
        "pip install --prefer-binary llama-cpp-python --extra-index-url THE-CPU-WHEEL-INDEX"
    )


def cores_check(wanted: int | None) -> Check:
    """Say how many processors this process may use, and how many threads follow from it."""
    from goliath_local.engine import default_threads

    logical, best = os.cpu_count() or 1, default_threads()
    may = f"{read_machine().cores} of {logical} logical processors may be used"
    found = f"{may} → {_threads(best)}"
    if wanted is None or wanted <= best:
        told = f"{found}; set: {wanted}" if wanted else found
        return Check(name="cores", state="ok", found=told)
    cure = f"Threads beyond the physical cores slow it down. Leave threads out, or use -t {best}."
    return Check(name="cores", state="warn", found=f"{found}; set: {wanted}", cure=cure)


def load_check(load: float, cpus: int) -> Check:
    """Say whether other programs are busy."""
    found = f"load {load:.1f} on {cpus} processors"
    if load <= cpus * 0.75:
        return Check(name="load", state="ok", found=found)
    cure = "Other programs are busy, so replies take longer. See which: top"
    return Check(name="load", state="warn", found=found, cure=cure)


def heat_check(root: Path) -> Check:
    """Say whether the processor is held back by heat or power."""
    cpu = root / "devices/system/cpu/cpu0/cpufreq"
    allowed, possible = _number(cpu / "scaling_max_freq"), _number(cpu / "cpuinfo_max_freq")
    hottest = max((_number(p) or 0 for p in root.glob("class/thermal/*/temp")), default=0) / 1000
    warm = f"{hottest:.0f} °C" if hottest > 0 else "no thermometer"
    if allowed and possible and allowed < possible * 0.95:
        found = f"clock limited to {allowed / 1e6:.1f} of {possible / 1e6:.1f} GHz, {warm}"
        cure = "Cool it, or look at the power supply and the power profile."
        return Check(name="heat", state="warn", found=found, cure=cure)
    if hottest >= 80:
        return Check(name="heat", state="warn", found=warm, cure="It is hot and will slow down.")
    return Check(name="heat", state="ok", found=f"not held back, {warm}")


def data_check(settings: Settings) -> Check:
    """Say where things are kept and whether there is room."""
    folder = settings.places.data
    there = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    free = shutil.disk_usage(there).free
    found = f"{folder}, {free / 1e9:.1f} GB free"
    if not os.access(there, os.W_OK):
        cure = f"You may not write there. Look at: ls -ld {there}"
        return Check(
            name="data", state="bad", found=found, cure=cure, code=ExitCode.NETWORK_OR_DISK
        )
    if free < 1e9:
        return Check(name="data", state="warn", found=found, cure="Free some space.")
    return Check(name="data", state="ok", found=found)


def memory_check(found: Found) -> Check:
    """Compare the free memory with what the model needs."""
    if found.path is None:
        return Check(name="memory", state="ok", found="nothing is loaded")
    header, machine = read_header(found.path), read_machine()
    need = needed_bytes(header.file_bytes, header.kv_bytes_per_token or 0)
    have = machine.available_bytes
    told = f"needs about {need / _GIB:.1f} GiB, {have / _GIB:.1f} GiB is free"
    if have >= need:
        return Check(name="memory", state="ok", found=told)
    smaller = largest_that_fits(cards(), available_bytes=have)
    cure = "Close programs" + (f", or use -m {smaller.name}." if smaller else ".")
    return Check(name="memory", state="bad", found=told, cure=cure)


def generation_check(probed: Probed) -> Check:
    """Say how a short generation went."""
    if probed.ok:
        facts = probed.facts
        found = (
            f"{facts.get('tokens', 0)} tokens at {facts.get('tokensPerS', 0):.1f} tok/s with "
            f"{_threads(facts.get('threads', 0))}, loaded in {facts.get('loadS', 0):.1f} s"
        )
        return Check(name="generation", state="ok", found=found)
    cure = _REBUILD if probed.signal is not None else "Run it again with -vv, and try another -m."
    return Check(name="generation", state="bad", found=_short(probed.why), cure=cure)


def _no_model(error: GoliathError) -> Check:
    problem = read_problem(error)
    told = problem.message.replace("\n", " ")
    if isinstance(error, NoModel):
        cure = "Get the default: goliath-local models pull default"
    else:
        cure = "Get it anew: goliath-local models rm NAME; goliath-local models pull NAME"
    return Check(name="model", state="bad", found=told, cure=cure, code=problem.code)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _described(found: Found) -> str:
    where = f", {found.path}" if found.path else ""
    pinned = "pinned by its card" if found.sha256 else "of no card"
    return f"{found.label}, {pinned}, window {found.window:,}{where}"


def _short(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "it ended without a word"


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None
