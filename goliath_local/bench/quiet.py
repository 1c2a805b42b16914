"""How much of the machine was somebody else's while we measured.

Edge: reads the system's clocks through psutil. A figure that was taken beside a busy neighbour is
no figure, so everything that measures says whether it had the machine to itself.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SHARE: Final = 0.05
"""Share of the processors that others may use: below it, repeated runs differ by 1-2 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """A stretch of time."""

    seconds: float
    others_share: float
    """Part of all processors that other programs used, 0 to 1."""

    stolen_share: float
    """Part that the host of a virtual machine took away."""

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why nothing should be concluded from this time; none when it was quiet."""
        found = []
        if self.others_share > MOST_SHARE:
            share = f"{self.others_share:.0%}"
            found.append(f"other programs used {share} of the processors; see which: top")
        if self.stolen_share > MOST_SHARE:
            share = f"{self.stolen_share:.0%}"
            found.append(f"the host of this virtual machine took {share} of the processors")
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Seconds of processor time up to a moment, over all processors."""

    at: float
    busy: float
    """Used by anybody."""

    stolen: float
    own: float
    """Used by this process and its children."""


class Watch:
    """Counts from when it is made.

    Args:
        read: reads the clocks; a test may hand in its own.
        processors: how many there are; None: ask the system.
    """

    def __init__(
        self, read: Callable[[], Clocks] | None = None, *, processors: int | None = None
    ) -> None:
        self._read = read or read_clocks
        self._processors = processors or os.cpu_count() or 1
        self._started = self._read()

    def spell(self) -> Spell:
        """Return what became of the time so far; children that ended count as our own."""
        before, now = self._started, self._read()
        seconds = now.at - before.at
        whole = max(seconds * self._processors, 1e-9)
        others = (now.busy - before.busy) - (now.own - before.own)
        return Spell(
            seconds=seconds,
            others_share=min(max(others / whole, 0.0), 1.0),
            stolen_share=min(max((now.stolen - before.stolen) / whole, 0.0), 1.0),
        )


def read_clocks() -> Clocks:
    """Return the clocks as they stand; children that live and those that ended both count."""
    system = psutil.cpu_times()
    return Clocks(
        at=time.perf_counter(),
        busy=system.user + system.system + getattr(system, "irq", 0.0),
        stolen=getattr(system, "steal", 0.0),
        own=sum(os.times()[:4]) + _living_children(),
    )


def _living_children() -> float:
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total
