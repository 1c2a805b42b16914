"""What Python itself reports while tests run: paths that are touched, pickles diskcache reads.

A hook of `sys.addaudithook` cannot be taken off again. There is one for the whole session; it
does nothing but look at the name of the event where nobody watches.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

PATHS = {
    "open": 1, "os.scandir": 1, "os.listdir": 1, "os.mkdir": 1, "os.rmdir": 1, "os.remove": 1,
    "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.chmod": 1, "os.truncate": 1,
    "shutil.rmtree": 1, "shutil.move": 2, "shutil.copyfile": 2, "sqlite3.connect": 1,
}  # fmt: skip
"""Events with how many of their first arguments are paths."""

READS = {"os.scandir", "os.listdir"}
_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

unpickled: list[str] = []
"""Classes that a pickle named to diskcache; has to stay empty."""

seen: list[tuple[str, Any, bool]] = []
"""Event, path and whether it may change something, since somebody began to watch."""

_watchers: list[None] = []


def hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "pickle.find_class" and _is_diskcache():
        unpickled.append(".".join(map(str, arguments)))
        raise RuntimeError("diskcache unpickles. Its hole is accepted as long as it does not.")
    if _watchers and event in PATHS:
        changes = event not in READS
        if event == "open":
            mode, flags = (*arguments, None, 0)[1:3]
            changes = bool((flags or 0) & _TO_WRITE or set(mode or "") & set("wax+"))
        seen.extend((event, path, changes) for path in arguments[: PATHS[event]])


def _is_diskcache() -> bool:
    frame = sys._getframe(2)
    while frame is not None:
        if "diskcache" in Path(frame.f_code.co_filename).parts:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def watch(*, on: bool) -> None:
    """Begin to note paths, or stop; may be nested."""
    if on:
        _watchers.append(None)
    else:
        _watchers.pop()
    seen.clear()


def take() -> list[tuple[str, Any, bool]]:
    """Return what was noted since the last time."""
    taken = list(seen)
    seen.clear()
    return taken


_OWN = tuple(
    {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, Path(__file__).parents[1])}
)
_SYSTEM = tuple(map(Path, ("/usr", "/lib", "/lib64", "/proc", "/sys", "/dev", "/etc")))


def is_pythons(path: str) -> bool:
    """True for a file of Python itself, which is read when something is imported late."""
    return any(Path(path).is_relative_to(place) for place in _OWN)


def strays(taken: list[tuple[str, Any, bool]], *allowed: Path) -> list[tuple[str, str]]:
    """Return what lies outside the folders, or is one of the system's that is of no concern.

    Reading Python's own files, this package's and what libraries ask of the system is no stray;
    the list of users is.
    """
    found = []
    for event, given, changes in taken:
        if isinstance(given, int) or given is None:
            continue
        path = Path(os.path.abspath(os.fsdecode(given)))  # noqa: PTH100 - links stay unresolved
        inside = any(path == place or path.is_relative_to(place) for place in allowed)
        known = not changes and path != Path("/etc/passwd")
        known = known and any(path.is_relative_to(place) for place in (*_OWN, *_SYSTEM))
        is_bytecode = path.suffix == ".pyc" or ".pyc." in path.name or path.name == "__pycache__"
        known = known or (is_bytecode and any(path.is_relative_to(place) for place in _OWN))
        if not inside and not known and path != Path(os.devnull):
            found.append((event, str(path)))
    return found
