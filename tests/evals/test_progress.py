"""The line for every attempt of a long run."""

from __future__ import annotations

from goliath_local.evals.progress import Progress
from goliath_local.evals.report import Attempt
from goliath_local.evals.score import Fault, Problem, Verdict


def attempt(*problems: str) -> Attempt:
    return Attempt(
        run=1,
        outcomes=(),
        problems=tuple(Problem(fault=Fault.ANSWER, text=text) for text in problems),
        verdict=Verdict.WRONG_BUT_CONFIDENT,
        ms=1500.0,
    )


def test_a_line_says_how_far_it_is_what_was_wrong_and_how_long_the_rest_takes():
    now = iter([0.0, 10.0, 20.0])
    progress = Progress(total=4, clock=lambda: next(now))
    assert progress.line("a", attempt()).split() == (
        ["1/4", "pass", "a", "1.5s", "[1", "right,", "30", "s", "left]"]
    )
    assert progress.line("b", attempt("no milk")).endswith("[1 right, 20 s left] no milk")


def test_a_long_rest_is_told_in_minutes():
    now = iter([0.0, 60.0])
    progress = Progress(total=11, clock=lambda: next(now))
    assert "10 min left" in progress.line("a", attempt())


def test_nothing_done_says_nothing_of_the_rest():
    assert Progress(total=4, clock=lambda: 0.0).left == "just begun"
