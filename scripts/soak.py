"""Many turns in many conversations, with cancellations and kills; then a look at what is stored.

    python scripts/soak.py --model smollm2-135m             # 500 turns in 50 conversations
    python scripts/soak.py --model fake --turns 20000
    python scripts/soak.py --model smollm2-135m --folder F --minutes 3     # and again, to go on

The turns run in a child process, four at once, over one SQLite memory. One in seven is cancelled
at a random moment, and the child is killed (SIGKILL) at random moments and started anew. After
each kill and at the end: every turn that came to its end is stored exactly once, in the order in
which they ended, whole; what was cut off is whole, an interrupted turn, or absent; the database
is sound. Exit code 1 if not; 3 when the time was over before the turns were.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from goliath_local.budget import EXCHANGES_KEPT  # noqa: E402 - after the path to it
from goliath_local.memory import sqlite_memory  # noqa: E402
from scripts.trials.turns import Plan, words_of  # noqa: E402

if TYPE_CHECKING:
    from goliath_local.records import Exchange


def faults_of(plan: Plan) -> list[str]:
    """Return what is wrong with what is stored; nothing when the child was whole and true."""
    ended: dict[str, list[int]] = defaultdict(list)
    faults = []
    for what, number, conversation in words_of(plan.journal):
        if what == "ended":
            ended[conversation].append(number)
        if what == "unsaved":
            faults.append(f"turn {number} could not be saved")
    if plan.database.exists():
        with closing(sqlite3.connect(plan.database)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()
        if sound != ("ok",):
            faults.append(f"the database: {sound}")
    for number in range(plan.conversations):
        name = f"c{number}"
        faults += [f"{name}: {fault}" for fault in _faults_in(plan, name, ended[name])]
    return faults


def _faults_in(plan: Plan, name: str, ended: list[int]) -> list[str]:
    memory = sqlite_memory(plan.database)(name)
    state = asyncio.run(memory.load())
    faults = [memory.warning] if memory.warning else []
    stored = [_number(exchange) for exchange in state.recent]
    if len(set(stored)) != len(stored):
        faults.append(f"stored twice: {stored}")
    wanted = ended[-EXCHANGES_KEPT:]
    # A turn may have been saved when the kill came before the journal heard of it: then it
    # stands behind the last that ended, and may have pushed the oldest into the brief.
    extra = [number for number in stored if number not in ended]
    kept = wanted[max(0, len(wanted) + len(extra) - EXCHANGES_KEPT) :]
    if [number for number in stored if number in ended][-len(kept) :] != kept and kept:
        faults.append(f"ended {wanted}, stored {stored}")
    faults += [f"half a turn {_number(one)}" for one in state.recent if not _is_whole(one)]
    return faults


def _number(exchange: Exchange) -> int:
    return int(exchange.ask.removeprefix("turn ").partition(":")[0])


def _is_whole(exchange: Exchange) -> bool:
    if exchange.best_effort and exchange.steps and exchange.steps[-1].status == "interrupted":
        return True
    return bool(exchange.answer.strip())


def soak(plan: Plan, *, until: float, kill_s: tuple[float, float]) -> tuple[int, list[str]]:
    """Run the turns, killing the child at random moments; return kills and faults."""
    chance = random.Random(f"{plan.seed} kills {time.time()}")
    told = json.dumps({**dataclasses.asdict(plan), "folder": str(plan.folder)})
    command = [sys.executable, "-m", "scripts.trials.turns", told]
    kills, faults = 0, []
    while not faults:
        child = subprocess.Popen(command, cwd=ROOT)
        _wait_for_turns(child, plan.journal)
        try:
            left = max(0.5, until - time.monotonic())
            child.wait(timeout=min(left, chance.uniform(*kill_s)))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
        faults = faults_of(plan)
        if child.returncode not in (0, -9):
            faults.append(f"the child ended with {child.returncode}")
        if child.returncode == 0 or time.monotonic() >= until:
            break
    return kills, faults


def _wait_for_turns(child: subprocess.Popen[bytes], journal: Path) -> None:
    """Wait until the child has begun with its turns: on a busy machine a start takes its time."""
    before = journal.stat().st_size if journal.exists() else 0
    while child.poll() is None and (not journal.exists() or journal.stat().st_size == before):
        time.sleep(0.05)


def main() -> int:
    """Run what is asked for and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="smollm2-135m", help="an installed model, or fake")
    parser.add_argument("--turns", "--count", type=int, default=500)
    parser.add_argument("--conversations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="kept, so that a later run goes on")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--kill-after", type=float, nargs=2, default=(2, 30), metavar="SECONDS")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="goliath-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(
        folder=folder,
        model=options.model,
        seed=options.seed,
        turns=options.turns,
        conversations=options.conversations,
    )
    until = time.monotonic() + options.minutes * 60
    kills, faults = soak(plan, until=until, kill_s=tuple(options.kill_after))
    said = Counter(what for what, _, _ in words_of(plan.journal))
    cut = said["began"] - sum(count for what, count in said.items() if what != "began")
    print(
        f"{said['began']} turns begun, {said['ended']} ended, {said['cancelled']} cancelled, "
        f"{said['silent']} without an answer, {cut} cut off; {kills} kills in this run"
    )
    for fault in faults:
        print(f"  FAULT {fault}")
    if faults:
        return 1
    return 0 if said["began"] == plan.turns else 3


if __name__ == "__main__":
    sys.exit(main())
