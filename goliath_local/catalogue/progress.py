"""What a fetch reports while it runs, and how it puts amounts into words.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """A source is asked next."""

    source: str
    """In words, `the hub (huggingface.co)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A source gave nothing, so the next is asked."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """So many bytes are here."""

    done_bytes: int
    total_bytes: int
    checking: bool = False
    """True while bytes that were already here are hashed, not fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Another process is fetching the same file; this one waits for it."""

    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """What was here could not be used; the fetch begins at zero, once."""

    reason: str


Note: TypeAlias = Trying | PassedOver | Moved | Waiting | Restarted
Report: TypeAlias = Callable[[Note], None]


def ignore(_: Note) -> None:
    """Report to nobody."""


def amount(size_bytes: int) -> str:
    """Return a size in the unit that suits it, `2.10 GB`."""
    unit, name = _unit(size_bytes)
    return f"{size_bytes / unit:.2f} {name}"


def amount_of(done_bytes: int, total_bytes: int) -> str:
    """Return how much of how much, in one unit, `0.83 of 2.10 GB`."""
    unit, name = _unit(total_bytes)
    return f"{done_bytes / unit:.2f} of {total_bytes / unit:.2f} {name}"


def _unit(size_bytes: int) -> tuple[float, str]:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit:
            return unit, name
    return 1.0, "bytes"
