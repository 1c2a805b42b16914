"""A long life: many turns one after another in one process, and what that leaves behind.

    python scripts/lasting.py --model fake --turns 10000
    python scripts/lasting.py --model smollm2-135m --turns 2000

Memory is read every few turns after a collection, and its growth a turn is the slope of a line
through what was read after the first quarter, 500 turns at most. Handles and threads must be the
same at the end as after that, the stored conversations within their bounds. How fast the last
tenth is beside the first is told, not judged: other programs decide that too. Exit code 1 when
anything grows.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.trials.turns import Plan, open_agent, open_model  # noqa: E402 - after the path to it

if TYPE_CHECKING:
    from goliath_local.agent import Agent

GROWTH_BYTES = {"fake": 1024, "real": 4096}
"""A turn may leave so many bytes behind, by kind of model."""

CONVERSATION_BYTES = 64 * 1024
"""Most that a conversation of a few short exchanges may take on disk."""

READINGS = 200
SETTLING = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the process holds after some turns."""

    turn: int
    rss_bytes: int
    handles: int
    threads: int


def read(turn: int) -> Reading:
    """Return what this process holds now."""
    import psutil

    gc.collect()
    process = psutil.Process()
    return Reading(
        turn=turn,
        rss_bytes=int(process.memory_info().rss),
        handles=process.num_fds(),
        threads=process.num_threads(),
    )


async def live(plan: Plan, agent: Agent) -> tuple[list[Reading], list[float]]:
    """Run the turns; return what was held every few turns, and the seconds of each turn."""
    every = max(1, plan.turns // READINGS)
    readings, seconds = [], []
    for number in range(plan.turns):
        conversation, _ = plan.turn(number)
        started = time.perf_counter()
        await agent.run(f"turn {number}: what is the mood?", conversation_id=conversation)
        seconds.append(time.perf_counter() - started)
        if (number + 1) % every == 0:
            readings.append(read(number + 1))
    return readings, seconds


def settled(readings: list[Reading], turns: int) -> list[Reading]:
    """Return the readings after the first quarter, 500 turns at most."""
    return [one for one in readings if one.turn > min(SETTLING, turns // 4)]


def slope(readings: list[Reading]) -> float:
    """Return the bytes that memory grows by a turn: least squares."""
    turns = [one.turn for one in readings]
    return float(np.polyfit(turns, [one.rss_bytes for one in readings], 1)[0])


def faults_of(plan: Plan, readings: list[Reading]) -> list[str]:
    """Return what grew."""
    first, last = readings[0], readings[-1]
    most = GROWTH_BYTES["fake" if plan.model == "fake" else "real"]
    faults = []
    if slope(readings) > most:
        faults.append(f"memory grows by {slope(readings):.0f} bytes a turn, {most} allowed")
    faults += [
        f"{name}: {before} at first, {after} at the end"
        for name, before, after in (
            ("handles", first.handles, last.handles),
            ("threads", first.threads, last.threads),
        )
        if after > before
    ]
    size = plan.database.stat().st_size
    if size > plan.conversations * CONVERSATION_BYTES:
        faults.append(f"{plan.conversations} conversations take {size} bytes on disk")
    return faults


def main() -> int:
    """Run the turns and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="smollm2-135m", help="an installed model, or fake")
    parser.add_argument("--turns", "--count", type=int, default=2000)
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="goliath-lasting-") as folder:
        plan = Plan(
            folder=Path(folder),
            model=options.model,
            seed=options.seed,
            turns=options.turns,
            conversations=options.conversations,
        )
        readings, seconds = asyncio.run(live(plan, open_agent(plan, open_model(plan))))
        readings = settled(readings, plan.turns)
        faults = faults_of(plan, readings)
        tenth = max(1, len(seconds) // 10)
        print(
            f"{plan.turns} turns: {slope(readings):.0f} bytes a turn from turn "
            f"{readings[0].turn} on, {readings[-1].rss_bytes / 2**20:.0f} MiB at the end, "
            f"{readings[-1].handles} handles, {readings[-1].threads} threads, "
            f"{plan.database.stat().st_size / 1024:.0f} KiB stored; "
            f"median of the last tenth over the first: "
            f"{median(seconds[-tenth:]) / median(seconds[:tenth]):.2f}"
        )
    for fault in faults:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
