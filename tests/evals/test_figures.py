"""Figures that gates ask about, and what a larger model would take."""

from __future__ import annotations

from goliath_local.catalogue import cards
from goliath_local.evals import Report
from goliath_local.evals.figures import figures, format_larger, larger_cards
from goliath_local.evals.report import Attempt, FixtureReport
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict


def fixture(name: str, verdict: Verdict, *, ms: float) -> FixtureReport:
    is_right = verdict in (Verdict.RIGHT_ON_DEVICE, Verdict.RIGHT_HAND_OVER)
    attempt = Attempt(
        run=1,
        outcomes=(TurnOutcome(text="", handled_by="device"),),
        problems=() if is_right else (Problem(fault=Fault.ANSWER, text="x"),),
        verdict=verdict,
        ms=ms,
        invalid_calls=() if is_right else ("t.x: no",),
    )
    return FixtureReport(id=name, kind="own", attempts=(attempt,))


def test_figures_are_shares_counts_and_the_median_of_seconds():
    report = Report(
        fixtures=(
            fixture("a", Verdict.RIGHT_ON_DEVICE, ms=1000),
            fixture("b", Verdict.WRONG_BUT_CONFIDENT, ms=2000),
            fixture("c", Verdict.CUT, ms=9000),
            fixture("d", Verdict.RIGHT_ON_DEVICE, ms=3000),
        )
    )
    found = figures(report)
    assert (found["pass"], found["confident"], found["cut"]) == (0.5, 0.25, 0.25)
    assert (found["invalid"], found["errors"], found["seconds"]) == (2.0, 0.0, 2.5)


def test_an_eval_of_nothing_has_figures_too():
    assert figures(Report(fixtures=()))["seconds"] == 0.0


def test_a_larger_model_takes_longer_as_its_file_is_larger():
    small = min(cards(), key=lambda card: card.size_bytes)
    found = larger_cards(
        cards(), size_bytes=small.size_bytes, seconds=2.0, available_bytes=small.needed_bytes
    )
    assert found
    assert all(one.size_bytes > small.size_bytes and not one.fits for one in found)
    for one in found:
        assert one.seconds == 2.0 * one.size_bytes / small.size_bytes
    text = format_larger(found)
    assert "estimated" in text.splitlines()[0]
    assert "not enough memory" in text


def test_the_largest_model_has_none_above_it():
    largest = max(card.size_bytes for card in cards())
    found = larger_cards(cards(), size_bytes=largest, seconds=1.0, available_bytes=0)
    assert format_larger(found) == ""
