"""Waiting that can be told to stop."""

import gc

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.cli.waiting import until
from goliath_local.errors import RunCancelled


async def test_work_that_is_cancelled_before_it_begins_leaves_no_warning() -> None:
    cancel = CancelToken()
    cancel.cancel("the time was over before the turn began")
    begun = []

    async def work() -> None:
        begun.append(True)

    with pytest.raises(RunCancelled, match="the time was over"):
        await until(work(), cancel)
    gc.collect()  # "coroutine was never awaited" would be an error here
    assert begun == []
