"""A turn that was under way when its process ended.

Edge, thinly: looks at which processes run. A memory on disk can note a turn before a tool runs.
As long as the noting process lives, nobody else sees the note; once it is gone, the turn loads
as an exchange whose last step is interrupted.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goliath_local.records import to_json

if TYPE_CHECKING:
    from goliath_local.memory.read import Reading
    from goliath_local.records import Exchange, Json, MemoryState

_SAME_START_S = 1.0
"""Two readings of when a process started may differ by this much."""


def unfinished_json(exchange: Exchange | None) -> Json:
    """Return the note of a turn that is under way in this process; None for none."""
    if exchange is None:
        return None
    pid = os.getpid()
    return {**to_json(exchange), "process": {"pid": pid, "started": _started(pid)}}


def recalled(reading: Reading) -> MemoryState:
    """Return the memory, with the turn that was under way in a process that is gone."""
    if reading.unfinished is None or _is_running(reading.process):
        return reading.state
    return replace(reading.state, recent=(*reading.state.recent, reading.unfinished))


def _is_running(process: Any) -> bool:
    if not isinstance(process, dict) or not isinstance(process.get("pid"), int):
        return False
    now, noted = _started(process["pid"]), process.get("started")
    if now is None or not isinstance(noted, int | float):
        return False
    return abs(now - noted) < _SAME_START_S


def _started(pid: int) -> float | None:
    """Return when the process started, epoch seconds; None when there is none."""
    import psutil  # Only a turn with tools pays for it.

    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, ValueError, OverflowError):
        return None
