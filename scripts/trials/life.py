"""A dozen things done to models in any order, and a watch that tells a hang from a slow machine.

Edge: loads models, measures time. Used by `scripts/native.py` in a child process. A step that
takes longer than its limit ends the child: it says which step, where each thread stands, and for
how long it computed, waited for a core, or slept. A hang sleeps; a starved process waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.errors import GoliathError, ModelUnavailable, RunCancelled

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from goliath_local.engine import LocalModel
    from goliath_local.model import Request

STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Where the time of a step went, in seconds."""

    wall_s: float
    computed_s: float
    """Of all threads together."""

    waited_s: float
    """Ready to run, but another process had the core; of all threads together."""

    def __str__(self) -> str:
        slept_s = max(0.0, self.wall_s - self.computed_s - self.waited_s)
        return (
            f"{self.wall_s:.1f} s: {self.computed_s:.1f} s computed, "
            f"{self.waited_s:.1f} s waited for a core, {slept_s:.1f} s slept"
        )


class Watch:
    """Prints each step and its cost on a line, and ends the process when one is too long."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._slowest_s = 0.0
        self.slowest = ""
        """The longest step, with where its time went."""

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Watch the block."""
        print(f"{name} ...", flush=True)
        before = _spent()
        over = threading.Timer(self._limit_s, self._give_up, (name, before))
        over.daemon = True
        over.start()
        try:
            yield
        finally:
            over.cancel()
            over.join()
            cost = _since(before)
            print(f"{name}: {cost}", flush=True)
            if cost.wall_s >= self._slowest_s:
                self._slowest_s, self.slowest = cost.wall_s, f"{name}: {cost}"

    def _give_up(self, name: str, before: Cost) -> None:
        print(f"{name} is not over after {_since(before)}", file=sys.stderr, flush=True)
        faulthandler.dump_traceback(all_threads=True)
        os._exit(1)


def _spent() -> Cost:
    """Return what this process has spent since it began; waiting is known on Linux alone."""
    waited_ns = 0
    for file in Path("/proc/self/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            waited_ns += int(file.read_text().split()[1])
    return Cost(wall_s=time.monotonic(), computed_s=time.process_time(), waited_s=waited_ns / 1e9)


def _since(before: Cost) -> Cost:
    now = _spent()
    return Cost(
        wall_s=now.wall_s - before.wall_s,
        computed_s=now.computed_s - before.computed_s,
        # Threads that have ended take their waiting with them.
        waited_s=max(0.0, now.waited_s - before.waited_s),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What may be done to a model, drawn from one seed."""

    chance: random.Random
    load: Callable[[], LocalModel]
    ask: Callable[..., Request]
    """Draws a request; options replace what it draws."""

    def live(self, watch: Watch) -> list[str]:
        """Do a dozen things; every outcome is the normal result or a typed error."""
        models: list[LocalModel] = []
        done: list[str] = []
        for number in range(STEPS):
            what = self._choose(models)
            done.append(what)
            with watch.step(f"step {number} {what}"), contextlib.suppress(GoliathError):
                self._do(what, models)
        with watch.step("the end"):
            models.clear()
        return done

    def _choose(self, models: list[LocalModel]) -> str:
        if not models or (len(models) < 2 and self.chance.random() < 0.2):
            return "load"
        if self.chance.random() < 0.15:
            return "drop"
        return self.chance.choice(
            ["ask", "count", "cancel", "close", "close while busy", "out of range"]
        )

    def _do(self, what: str, models: list[LocalModel]) -> None:
        if what == "load":
            models.append(self.load())
            return
        index = self.chance.randrange(len(models))
        steps: dict[str, Callable[[LocalModel], Any]] = {
            "ask": lambda model: asyncio.run(model.generate(self.ask())),
            "count": lambda model: model.count_text("some words"),
            "cancel": lambda model: asyncio.run(self._cancelled(model)),
            "close": lambda model: model.close(),
            "close while busy": lambda model: asyncio.run(self._closed_while_busy(model)),
            "out of range": lambda model: asyncio.run(model.generate(self._impossible())),
        }
        if what == "drop":
            models.pop(index)
        else:
            steps[what](models[index])

    async def _cancelled(self, model: LocalModel) -> None:
        task = asyncio.create_task(model.generate(self.ask(max_tokens=200)))
        await asyncio.sleep(self.chance.uniform(0, 0.3))
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, ModelUnavailable, RunCancelled):
            await task

    async def _closed_while_busy(self, model: LocalModel) -> None:
        task = asyncio.create_task(model.generate(self.ask(max_tokens=200)))
        await asyncio.sleep(self.chance.uniform(0, 0.2))
        await asyncio.to_thread(model.close)
        with contextlib.suppress(ModelUnavailable, RunCancelled):
            await task

    def _impossible(self) -> Request:
        return self.ask(max_tokens=self.chance.choice([0, -1, 2**40, 5000]))
