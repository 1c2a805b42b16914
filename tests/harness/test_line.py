"""Waiting in line."""

from __future__ import annotations

import asyncio

import pytest

from goliath_local.harness.line import Line


async def test_an_empty_line_lets_in_at_once():
    line = Line()
    await asyncio.wait_for(line.enter(), 1)
    line.leave()
    await asyncio.wait_for(line.enter(), 1)


async def test_those_who_wait_are_let_in_in_order():
    line, order = Line(), []

    async def visit(name):
        await line.enter()
        order.append(name)
        await asyncio.sleep(0)
        line.leave()

    await line.enter()
    tasks = [asyncio.create_task(visit(name)) for name in "abc"]
    await asyncio.sleep(0)
    assert order == []
    line.leave()
    await asyncio.gather(*tasks)
    assert order == ["a", "b", "c"]


@pytest.mark.parametrize("called_first", [False, True])
async def test_who_gives_up_waiting_does_not_hold_up_the_next(called_first):
    line = Line()
    await line.enter()
    first, second = asyncio.create_task(line.enter()), asyncio.create_task(line.enter())
    await asyncio.sleep(0)
    if called_first:
        line.leave()
        first.cancel()
    else:
        first.cancel()
        await asyncio.sleep(0)
        line.leave()
    with pytest.raises(asyncio.CancelledError):
        await first
    await asyncio.wait_for(second, 1)


def test_a_waiter_whose_loop_is_gone_is_passed_over():
    line = Line()
    asyncio.run(line.enter())
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(line.enter())
    loop.run_until_complete(asyncio.sleep(0))
    # The program gives the loop up without ending the task, as a killed thread does.
    waiting.cancel = lambda *_: True  # type: ignore[method-assign]
    loop.close()

    async def next_one():
        task = asyncio.create_task(line.enter())
        await asyncio.sleep(0)
        line.leave()
        await asyncio.wait_for(task, 1)

    asyncio.run(next_one())
