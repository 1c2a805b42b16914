"""Trials of one store: a fault, then a look at what is there, then the next save.

Edge: disk, forks, strace.
"""

from __future__ import annotations

import errno
import itertools
import mmap
import os
import shutil
import signal
import sqlite3
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from goliath_local.errors import GoliathError
from scripts.trials.power import CALLS, Disk, laid_out, whole_lines
from scripts.trials.stores import Store, Torn, verify
from scripts.trials.tracer import BROKEN, DONE, Ended, run_traced

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

KILLED_AT = (
    *("openat", "write", "pwrite64", "fsync", "fdatasync", "?rename", "renameat", "?unlink"),
    *("unlinkat", "ftruncate"),
)
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.EACCES)
BEFORE = 3
"""The state that a trial starts from, besides a fresh folder."""


class Trials:
    """Runs trials of one store and counts what came out."""

    def __init__(self, store: Store, room: Path, *, stride: int) -> None:
        self.store, self.stride = store, stride
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._room, self._number = room, 0
        self._before: dict[int, Path] = {}
        for number in {0, min(BEFORE, store.most - 1)}:
            folder = room / f"before-{number}"
            folder.mkdir(mode=0o700)
            for step in range(1, number + 1):
                store.change(folder, step)
            store.read(folder)
            self._before[number] = folder
        self._warm_up()

    def kill(self) -> None:
        """SIGKILL before each call."""
        for number, call in itertools.product(self._before, KILLED_AT):
            self._each_call("kill", number, lambda n, c=call: f"{c}:signal=SIGKILL:when={n}")

    def error(self) -> None:
        """Each error at each call, once and from then on."""
        for number, call, code, more in itertools.product(
            self._before, KILLED_AT, ERRORS, ("", "+")
        ):
            name = errno.errorcode[code]
            self._each_call(
                "error",
                number,
                lambda n, c=call, e=name, m=more: f"{c}:error={e}:when={n}{m}",
            )

    def compound(self, count: int, chance: random.Random) -> None:
        """An error at some call, and a kill at some call of the save that comes next."""
        for _ in range(count):
            number = chance.choice(list(self._before))
            folder = self._fresh(number)
            code = errno.errorcode[chance.choice(ERRORS)]
            first = f"{chance.choice(KILLED_AT)}:error={code}:when={chance.randint(1, 6)}+"
            second = f"{chance.choice(KILLED_AT)}:signal=SIGKILL:when={chance.randint(1, 6)}"
            for inject in (first, second):
                self._injected(folder, number + 1, inject)
            self._judge("compound", folder, {number, number + 1}, f"{first}, {second}")

    def power(self) -> None:
        """Every picture of the disk after a cut behind each call."""
        for number in self._before:
            folder = self._fresh(number)
            disk = Disk(folder)
            options = ["-e", "trace=" + ",".join(f"?{c}" for c in CALLS), "-xx", "-s", "16777216"]
            ended = self._traced(folder, number + 1, options)
            if ended.code != DONE:
                raise RuntimeError(ended.said)
            for place, line in enumerate(whole_lines(ended.log)):
                if disk.play(line) and place % self.stride == 0:
                    self._judge_pictures(disk, folder, {number, number + 1}, line[:90])
            # The change is over: from now on only the state after will do.
            allowed = {number + 1} if self.store.is_synced else {number, number + 1}
            self._judge_pictures(disk, folder, allowed, "the end")

    def random(self, count: int, chance: random.Random) -> None:
        """SIGKILL at random moments of saves that follow each other."""
        done = 0
        folder = self._fresh(0)
        for _ in range(count):
            began = mmap.mmap(-1, 16)
            child = os.fork()
            if child == 0:
                self._save_on(folder, done, began)
            time.sleep(chance.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            begun, ended = (int.from_bytes(began[at : at + 8], "little") for at in (0, 8))
            allowed = {max(done, ended), max(done, begun)}
            done = self._judge("random", folder, allowed, "a kill", goes_on=False)
            if done >= self.store.most or done >= 60:
                folder, done = self._fresh(0), 0

    def _judge_pictures(self, disk: Disk, folder: Path, allowed: set[int], where: str) -> None:
        for name, files in disk.images():
            again = self._room / f"trial-{self._count()}"
            again.mkdir(mode=0o700)
            laid_out(files, source=folder, target=again)
            self._judge("power", again, allowed, f"{name}, behind {where}")

    def _save_on(self, folder: Path, done: int, began: mmap.mmap) -> None:
        try:
            for number in range(done + 1, self.store.most + 1):
                began[:8] = number.to_bytes(8, "little")
                self.store.change(folder, number)
                began[8:] = number.to_bytes(8, "little")
        finally:
            os._exit(0)

    def _each_call(self, way: str, number: int, inject: Callable[[int], str]) -> None:
        for when in itertools.count(1, self.stride):
            folder = self._fresh(number)
            ended = self._injected(folder, number + 1, inject(when))
            if not ended.was_hit:
                return
            allowed = {number + 1} if ended.code == DONE else {number, number + 1}
            where = f"{inject(when)} from {number}"
            if ended.code == BROKEN:
                self.faults.append(f"{self.store.name}, {where}: {ended.said.strip()[-400:]}")
            self._judge(way, folder, allowed, where)

    def _injected(self, folder: Path, number: int, inject: str) -> Ended:
        call = inject.partition(":")[0]
        return self._traced(folder, number, ["-e", f"trace={call}", "-e", f"inject={inject}"])

    def _traced(self, folder: Path, number: int, options: list[str]) -> Ended:
        return run_traced(
            lambda: self.store.change(folder, number), self._room / "strace.log", options
        )

    def _judge(
        self, way: str, folder: Path, allowed: set[int], where: str, *, goes_on: bool = True
    ) -> int:
        """Look at the store after a trial; return the state it is in."""
        self.counts[way] += 1
        number = -1
        try:
            number = self.store.read(folder)
            verify(number in allowed, f"it is in state {number}, allowed are {sorted(allowed)}")
            if goes_on:
                self._goes_on(folder, number)
        except (Torn, GoliathError, OSError, ValueError, LookupError, sqlite3.Error) as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            self.faults.append(
                f"{self.store.name}, {way}, {where}: {type(error).__name__}: {error} "
                f"({Path(last.filename).name}:{last.lineno}); {_listed(folder)}"
            )
        if goes_on:
            shutil.rmtree(folder)
        return max(number, 0)

    def _goes_on(self, folder: Path, number: int) -> None:
        """Verify that the next change works, and that it sweeps what was left behind."""
        left = _temporary(folder)
        verify(len(left) <= 1, f"{len(left)} temporary files: {left}")
        for path in left:
            os.utime(path, (time.time() - 7200,) * 2)
        if number < self.store.most:
            self.store.change(folder, number + 1)
            found = self.store.read(folder)
            verify(found == number + 1, f"the next save led to state {found}, not {number + 1}")
            left = _temporary(folder)
            verify(not left, f"the next start does not sweep {left}")

    def _fresh(self, number: int) -> Path:
        folder = self._room / f"trial-{self._count()}"
        shutil.copytree(self._before[number], folder)
        return folder

    def _count(self) -> int:
        self._number += 1
        return self._number

    def _warm_up(self) -> None:
        """Import what a change needs, so that no fault hits an import."""
        for number in self._before:
            folder = self._fresh(number)
            self.store.change(folder, number + 1)
            shutil.rmtree(folder)


def _temporary(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.glob(".*.tmp"))


def _listed(folder: Path) -> str:
    return ", ".join(f"{p.name} {p.stat().st_size}" for p in sorted(folder.iterdir()))
