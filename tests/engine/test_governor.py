"""Threads are given up on a busy machine, and taken back on a quiet one (F12)."""

from __future__ import annotations

import random

from goliath_local.engine.governor import QUIET_TOKENS, RECENT, Governor


def feed(governor: Governor, *seconds: float) -> int:
    for token in seconds:
        governor.observe(token)
    return governor.threads


def quiet(count: int, seconds: float = 0.02) -> list[float]:
    chance = random.Random(count)
    return [seconds * chance.uniform(0.9, 1.2) for _ in range(count)]


def test_a_quiet_machine_keeps_its_threads():
    governor = Governor(4)
    assert feed(governor, *quiet(2000)) == 4
    assert governor.steps_down == 0


def test_a_busy_machine_gives_up_a_thread_within_eight_tokens():
    governor = Governor(2)
    feed(governor, *quiet(50))
    assert feed(governor, *([0.2] * RECENT)) == 1
    assert governor.steps_down == 1


def test_a_load_on_a_busy_machine_is_seen_by_its_spikes():
    assert feed(Governor(2), 0.02, 0.3, 0.02, 0.25, 0.03, 0.02, 0.02, 0.4) == 1


def test_one_slow_token_is_no_reason():
    governor = Governor(2)
    assert feed(governor, *quiet(40), 0.3, *quiet(40)) == 2


def until_one(governor: Governor, seconds: float) -> Governor:
    """Feed slow tokens until the thread is given up, and not one more."""
    while governor.threads > 1:
        governor.observe(seconds)
    return governor


def test_the_thread_comes_back_after_quiet_and_stays_when_it_helps():
    governor = Governor(2)
    feed(governor, *quiet(20))
    until_one(governor, 0.2)
    assert feed(governor, *quiet(QUIET_TOKENS - 1, 0.035)) == 1
    assert feed(governor, 0.035) == 2
    assert feed(governor, *quiet(300)) == 2


def test_a_thread_that_does_not_help_is_given_up_again_and_tried_half_as_often():
    governor = Governor(2)
    feed(governor, *quiet(20))
    until_one(governor, 0.2)
    assert feed(governor, *quiet(QUIET_TOKENS, 0.035)) == 2
    until_one(governor, 0.09)
    assert feed(governor, *quiet(2 * QUIET_TOKENS - 1, 0.035)) == 1
    assert feed(governor, 0.035) == 2


def test_one_thread_is_the_least():
    governor = Governor(1)
    assert feed(governor, *quiet(20), *([1.0] * 50)) == 1
