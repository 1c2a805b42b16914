"""Open, ask, cancel, close, drop and reopen in any order (F8), with memory that is watched.

The worker is the real one; what it guards is a stand-in that knows whether it was freed.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from goliath_local.engine.native import StopFlag
from goliath_local.engine.worker import Worker
from goliath_local.errors import EngineBusy, ModelUnavailable

if TYPE_CHECKING:
    from concurrent.futures import Future

STEPS = 12
PATIENCE_S = 60.0


class Memory:
    """Stands for native memory: counts how often it was freed and misused."""

    def __init__(self) -> None:
        self.freed = 0
        self.misused = 0

    def use(self) -> None:
        self.misused += self.freed > 0

    def free(self) -> None:
        self.freed += 1


class Model:
    """Owns a worker as a local model does: a running job holds it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.worker = Worker(memory.free)

    def reply(self, flag: StopFlag) -> str:
        for _ in range(3):
            self.memory.use()
        return "stopped" if flag.is_raised else "said"

    def long_reply(self, flag: StopFlag, began: threading.Event) -> str:
        while not flag.is_raised:
            self.memory.use()
            began.set()
            time.sleep(0.0002)
        self.memory.use()
        return "stopped"

    def closing_reply(self, flag: StopFlag) -> str:
        self.worker.close()
        return self.reply(flag)


class Orders(RuleBasedStateMachine):
    """A process that does to models whatever comes to mind."""

    def __init__(self) -> None:
        super().__init__()
        self.models: list[Model] = []
        self.memories: list[Memory] = []
        self.running: list[tuple[Future[str], StopFlag]] = []

    @rule()
    def open(self) -> None:
        self.memories.append(Memory())
        self.models.append(Model(self.memories[-1]))

    @precondition(lambda self: self.models)
    @rule(data=st.data(), wait=st.booleans())
    def ask(self, data: st.DataObject, wait: bool) -> None:
        model = self._one_of(data)
        self._finish()
        closed = model.worker.is_closed
        try:
            said = asyncio.run(model.worker.run(model.reply, wait=wait))
            assert (said, closed) == ("said", False)
        except EngineBusy:
            assert not wait
        except ModelUnavailable:
            assert closed

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        model = self._one_of(data)
        closed = model.worker.is_closed
        try:
            with model.worker.reading():
                model.memory.use()
            assert not closed
        except ModelUnavailable:
            assert closed

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        model, flag, began = self._one_of(data), StopFlag(), threading.Event()
        with contextlib.suppress(ModelUnavailable):
            future = model.worker.submit(lambda flag: model.long_reply(flag, began), flag)
            self.running.append((future, flag))

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        model, began = self._one_of(data), threading.Event()
        self._finish()

        async def cancelled() -> None:
            job = model.worker.run(lambda flag: model.long_reply(flag, began), wait=True)
            task = asyncio.create_task(job)
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, ModelUnavailable):
                await task

        asyncio.run(cancelled())

    @precondition(lambda self: self.models)
    @rule(data=st.data(), times=st.integers(1, 2))
    def close(self, data: st.DataObject, times: int) -> None:
        model = self._one_of(data)
        for _ in range(times):
            model.worker.close()

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def close_within_a_reply(self, data: st.DataObject) -> None:
        model = self._one_of(data)
        self._finish()
        with contextlib.suppress(ModelUnavailable):
            model.worker.submit(model.closing_reply, StopFlag()).result(PATIENCE_S)

    @precondition(lambda self: self.models)
    @rule(data=st.data(), reopens=st.booleans())
    def drop(self, data: st.DataObject, reopens: bool) -> None:
        self.models.remove(self._one_of(data))
        if reopens:
            self.open()

    def teardown(self) -> None:
        self._finish()
        self.models.clear()
        until = time.monotonic() + PATIENCE_S
        while not all(memory.freed for memory in self.memories) and time.monotonic() < until:
            gc.collect()
            time.sleep(0.0005)  # a thread may just be letting go of its last job
        assert [memory.freed for memory in self.memories] == [1] * len(self.memories)
        assert [memory.misused for memory in self.memories] == [0] * len(self.memories)

    def _finish(self) -> None:
        """Stop what runs; each ends with its reply."""
        for _, flag in self.running:
            flag.stop()
        assert all(future.result(PATIENCE_S) == "stopped" for future, _ in self.running)
        self.running.clear()

    def _one_of(self, data: st.DataObject) -> Model:
        return self.models[data.draw(st.integers(0, len(self.models) - 1))]


def test_any_order_of_life_frees_the_memory_once_and_uses_it_before():
    run_state_machine_as_test(Orders, settings=settings(stateful_step_count=STEPS))


@pytest.mark.slow
def test_any_order_of_life_in_two_hundred_runs():
    runs = max(200, settings().max_examples)
    run_state_machine_as_test(
        Orders, settings=settings(max_examples=runs, stateful_step_count=STEPS)
    )
