from __future__ import annotations

import asyncio
import threading
from typing import NoReturn

import pytest

from goliath_local.cancel import CancelToken, abortable
from goliath_local.errors import RunCancelled


async def _done() -> str:
    await asyncio.sleep(0)
    return "done"


async def test_work_that_is_done_gives_its_value() -> None:
    assert await abortable(_done(), CancelToken()) == "done"
    assert await abortable(_done(), None) == "done"


async def test_what_the_work_raises_passes_untouched() -> None:
    async def fails() -> NoReturn:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        await abortable(fails(), CancelToken())


async def test_cancelling_from_another_thread_ends_the_work_and_says_so() -> None:
    token, ended = CancelToken(), asyncio.Event()

    async def work() -> None:
        try:
            threading.Thread(target=token.cancel, args=("enough",)).start()
            await asyncio.sleep(300)
        finally:
            ended.set()

    with pytest.raises(RunCancelled, match="enough"):
        await asyncio.wait_for(abortable(work(), token), 60)  # a hang, not a speed
    assert ended.is_set()


async def test_work_under_a_cancelled_token_does_not_begin() -> None:
    token, began = CancelToken(), False
    token.cancel()

    async def work() -> None:
        nonlocal began
        began = True

    with pytest.raises(RunCancelled):
        await abortable(work(), token)
    assert not began


async def test_a_task_that_is_cancelled_itself_is_not_the_tokens_doing() -> None:
    token, ended = CancelToken(), asyncio.Event()

    began = asyncio.Event()

    async def work() -> None:
        try:
            began.set()
            await asyncio.sleep(300)
        finally:
            ended.set()

    waiting = asyncio.create_task(abortable(work(), token))
    await began.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(ended.wait(), 60)
    # A token that lives on holds on to nothing of the finished work.
    assert token._on_cancel == []
