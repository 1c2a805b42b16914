"""The engine gate: one thread for one model, open or closed, in the process that loaded it.

Edge. Every use of native memory passes it, since llama.cpp itself checks nothing: use after close
is a segmentation fault, two threads in one context are a failed assertion, a forked child hangs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from goliath_local.engine.native import StopFlag
from goliath_local.errors import EngineBusy, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

T = TypeVar("T")


class Worker:
    """One thread that runs jobs in the order they come.

    Args:
        free: gives the native memory back; called once, when no job runs any more.
    """

    def __init__(self, free: Callable[[], None]) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="goliath-local-model")
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._flags: set[StopFlag] = set()
        self._is_closed = False
        # Also runs when the owner is dropped, and at exit; never in a forked child.
        self._free = weakref.finalize(self, _free_in, self._process, free)

    @property
    def is_closed(self) -> bool:
        """True once `close` was called."""
        return self._is_closed

    def verify_usable(self) -> None:
        """Raise `ModelUnavailable` when the model is closed or belongs to another process."""
        if os.getpid() != self._process:
            message = (
                f"The model was loaded in process {self._process} and this is a fork of it. "
                "Load it in the child, or start children with the spawn method."
            )
            raise ModelUnavailable(message)
        if self._is_closed:
            raise ModelUnavailable("The model is closed. Load it again.")

    async def run(self, job: Callable[[StopFlag], T], *, wait: bool) -> T:
        """Return what the job returns; cancelling the task stops the job first.

        Args:
            job: is given a flag that it must obey.
            wait: queue behind other jobs; otherwise raise `EngineBusy` when there are any.
        """
        flag = StopFlag()
        future = self.submit(job, flag, wait=wait)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            flag.stop()
            # The thread is ours until the native call has ended; then the model is usable.
            await asyncio.shield(_ended(future))
            raise

    def submit(
        self, job: Callable[[StopFlag], T], flag: StopFlag, *, wait: bool = True
    ) -> Future[T]:
        """Queue a job and return its future."""
        self.verify_usable()
        with self._lock:
            if self._flags and not wait:
                raise EngineBusy("Another reply is being made on this model. Try again later.")
            self._flags.add(flag)
            try:
                future = self._pool.submit(job, flag)
            except RuntimeError as error:
                self._flags.discard(flag)
                raise ModelUnavailable("The model is closed. Load it again.") from error
        future.add_done_callback(lambda _: self._forget(flag))
        return future

    def submit_quietly(self, job: Callable[[], None]) -> None:
        """Queue work that nobody waits for; nothing happens when the model is closed."""
        with contextlib.suppress(ModelUnavailable):
            self.submit(lambda _: job(), StopFlag())

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the model open while its constant parts (the vocabulary) are read."""
        self.verify_usable()
        with self._reading:
            self.verify_usable()
            yield

    def close(self) -> None:
        """Stop all replies, wait for what must end, and free the memory.

        Once; more calls do nothing. Queued replies end at their first evaluation, and states that
        are yet to be written are.
        """
        if os.getpid() != self._process or self._is_closed:
            return
        self._is_closed = True
        with self._lock:
            for flag in self._flags:
                flag.stop()
        is_own_thread = threading.current_thread().name.startswith("goliath-local-model")
        self._pool.shutdown(wait=not is_own_thread)
        if not is_own_thread:
            with self._reading:
                self._free()

    def _forget(self, flag: StopFlag) -> None:
        with self._lock:
            self._flags.discard(flag)


def _free_in(process: int, free: Callable[[], None]) -> None:
    if os.getpid() == process:
        free()


async def _ended(future: Future[T]) -> None:
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await asyncio.wrap_future(future)
