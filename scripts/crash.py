"""Kills, disk errors and power cuts at every system call of a save, for every store.

    python scripts/crash.py                        # all stores, all ways, every call
    python scripts/crash.py --store tasks --way kill --stride 5
    python scripts/crash.py --way random --count 1000 --seed 3

The ways: `kill` (SIGKILL before a call), `error` (ENOSPC, EIO, EDQUOT, EROFS, EACCES at a call,
once and from then on), `compound` (an error, and a kill while the next save mends it), `power`
(pictures of the disk after a cut behind each call), `random` (SIGKILL after 0 to 50 ms). After
each trial the store must be in the state before or after, go on from there, leave no temporary
file that the next start does not sweep, and every error must be one of ours. Exit code 1 if not.
All but `random` need Linux and strace.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.trials.crashes import Trials
from scripts.trials.stores import STORES

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> int:
    """Run what is asked for and print what came out."""
    options = _options()
    is_sound = True
    for name in options.store or STORES:
        with a_room() as room:
            trials = Trials(STORES[name], room, stride=options.stride)
            for way in options.way:
                started = time.monotonic()
                chance = random.Random(f"{options.seed} {name} {way}")
                if way in ("random", "compound"):
                    getattr(trials, way)(options.count, chance)
                else:
                    getattr(trials, way)()
                seconds = time.monotonic() - started
                print(f"{name:<14} {way:<9} {trials.counts[way]:>6} trials {seconds:7.1f} s")
        for fault in trials.faults[: options.show]:
            print(f"  FAULT {fault}")
        if trials.faults:
            print(f"  {len(trials.faults)} faults")
        is_sound &= not trials.faults
        sys.stdout.flush()
    return 0 if is_sound else 1


@contextmanager
def a_room() -> Iterator[Path]:
    """Make a folder for trials, in memory where that is possible: syncs cost nothing there."""
    shared = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None)).resolve()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    ways = ["kill", "error", "compound", "power", "random"]
    parser.add_argument("--store", action="append", choices=list(STORES))
    parser.add_argument("--way", action="append", choices=ways)
    parser.add_argument("--count", type=int, default=200, help="of random and compound trials")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stride", type=int, default=1, help="try every so many calls only")
    parser.add_argument("--show", type=int, default=5, help="faults that are shown of each store")
    options = parser.parse_args()
    options.way = options.way or ways
    return options


if __name__ == "__main__":
    sys.exit(main())
