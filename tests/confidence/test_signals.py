"""Signals of a turn, from hand-made events."""

from __future__ import annotations

from math import isfinite, log

import pytest

from goliath_local.confidence import SIGNALS, TELLING, turn_signals
from goliath_local.events import AnswerEvent, PlanEvent, RetryEvent
from goliath_local.model import Choice
from goliath_local.records import StepRecord


def choice(share: float, runner_up: float = 0.0) -> Choice:
    return Choice(path="/kind", value="tool", share=share, runner_up_share=runner_up)


def plan(*choices: Choice, why: str = "") -> PlanEvent:
    least = min((one.share for one in choices), default=None)
    return PlanEvent(
        index=0, kind="tool", brief="", why=why, confidence=least, choices=tuple(choices)
    )


def step(**fields) -> StepRecord:
    return StepRecord(index=0, kind="tool", brief="", tool="t", **fields)


def test_a_turn_without_events_has_every_signal_and_looks_sure() -> None:
    found = turn_signals("hello", trace=(), steps=())
    assert tuple(found) == SIGNALS
    assert found["min_share"] == found["min_gap"] == found["first_share"] == 1.0
    assert found["steps"] == found["ungrounded"] == 0.0


def test_shares_and_gaps_are_those_of_the_least_certain_choice() -> None:
    trace = [plan(choice(0.9, 0.05)), plan(choice(0.5, 0.4), choice(0.8, 0.1))]
    found = turn_signals("?", trace=trace, steps=())
    assert (found["min_share"], found["first_share"], found["last_share"]) == (0.5, 0.9, 0.5)
    assert found["min_gap"] == pytest.approx(0.1)
    assert found["mean_log_share"] == pytest.approx((log(0.9) + log(0.5) + log(0.8)) / 3)


def test_a_share_of_nothing_stays_finite() -> None:
    found = turn_signals("?", trace=[plan(choice(0.0))], steps=())
    assert all(isfinite(value) for value in found.values())


def test_retries_repeats_failures_and_writes_are_counted() -> None:
    trace = [RetryEvent(stage="worker", attempt=1, reason="blank"), plan(why="x" * 50)]
    steps = [step(cached=True), step(failed=True), step(skipped=True), step(writes=True)]
    found = turn_signals("?", trace=trace, steps=steps)
    names = ("retries", "repeated", "failed", "skipped", "writes", "steps", "why_length")
    assert [found[name] for name in names] == [1, 1, 1, 1, 1, 4, 0.5]


@pytest.mark.parametrize(
    ("result", "more", "empty"),
    [
        ("none", {}, 1.0),
        ("", {}, 1.0),
        ("1. name: a", {}, 0.0),
        ("none", {"writes": True}, 0.0),
        ("none", {"failed": True}, 0.0),
    ],
)
def test_a_lookup_that_found_nothing_is_a_signal(result, more, empty) -> None:
    assert turn_signals("?", trace=(), steps=[step(result=result, **more)])["empty"] == empty


def test_what_a_score_is_fitted_with_is_among_the_signals() -> None:
    assert set(TELLING) < set(SIGNALS)


def test_numbers_of_the_answer_that_nobody_said_are_ungrounded() -> None:
    trace = [AnswerEvent(text="At 18:30, for 2, costs 99.")]
    steps = [step(input={"people": 2}, result="starts 18:30")]
    assert turn_signals("?", trace=trace, steps=steps)["ungrounded"] == pytest.approx(1 / 3)
    assert turn_signals("at most 99", trace=trace, steps=steps)["ungrounded"] == 0.0
