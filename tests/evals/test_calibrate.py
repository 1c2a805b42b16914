"""The score of a turn: figures against values made by hand, and fits on made-up turns."""

from __future__ import annotations

import json
import random
from math import log

import pytest

from goliath_local.confidence import SIGNALS, read_score, score_json
from goliath_local.errors import ConfigError
from goliath_local.evals.calibrate import (
    SeenTurn,
    calibrate,
    fit_score,
    format_calibration,
    halves,
    seen_turns,
)
from goliath_local.evals.reliability import (
    area_under_roc,
    brier_score,
    format_reliability,
    reliability,
    risk_at_coverage,
    risk_coverage_area,
    roc_error,
)
from goliath_local.evals.results import read_record

T, F = True, False


@pytest.mark.parametrize(
    ("risks", "is_wrong", "area"),
    [
        ([0.1, 0.4, 0.35, 0.8], [F, F, T, T], 0.75),  # 3 of 4 pairs in order
        ([0.9, 0.8, 0.2, 0.1], [T, T, F, F], 1.0),
        ([0.1, 0.2, 0.8, 0.9], [T, T, F, F], 0.0),
        ([0.5, 0.5, 0.5, 0.5], [T, F, T, F], 0.5),  # ties count half
        ([0.5, 0.5, 0.9], [T, F, T], 0.75),  # one tie, one win
        ([0.3, 0.7], [F, F], 0.5),
        ([], [], 0.5),
    ],
)
def test_the_area_under_roc_is_that_of_the_pairs(risks, is_wrong, area):
    assert area_under_roc(risks, is_wrong) == pytest.approx(area)


def test_the_area_does_not_change_when_risks_are_bent_or_turns_are_mixed():
    rng = random.Random(7)
    rows = [(rng.random(), rng.random() < 0.4) for _ in range(60)]
    area = area_under_roc([r for r, _ in rows], [w for _, w in rows])
    rng.shuffle(rows)
    assert area_under_roc([r**3 for r, _ in rows], [w for _, w in rows]) == pytest.approx(area)


def test_the_error_of_the_area_shrinks_with_the_turns():
    # Hanley and McNeil's own example: area 0.893, 51 abnormal and 58 normal, error 0.032.
    assert roc_error(0.893, wrong=51, right=58) == pytest.approx(0.032, abs=0.0015)
    assert roc_error(0.8, wrong=20, right=20) > roc_error(0.8, wrong=200, right=200)


def test_brier_is_the_mean_squared_distance():
    assert brier_score([1.0, 0.0], [T, F]) == 0.0
    assert brier_score([0.5, 0.5], [T, F]) == 0.25
    assert brier_score([0.8, 0.3], [T, T]) == pytest.approx((0.04 + 0.49) / 2)


def test_risk_at_coverage_keeps_the_least_risky():
    risks, is_wrong = [0.1, 0.2, 0.3, 0.4, 0.9], [F, F, T, F, T]
    assert risk_at_coverage(risks, is_wrong, coverage=0.8) == 0.25
    assert risk_at_coverage(risks, is_wrong, coverage=0.4) == 0.0
    assert risk_at_coverage(risks, is_wrong, coverage=1.0) == 0.4


def test_the_risk_coverage_area_is_the_mean_over_all_coverages():
    # least risk first: right, wrong, right, wrong → 0/1, 1/2, 1/3, 2/4
    found = risk_coverage_area([0.1, 0.2, 0.3, 0.4], [F, T, F, T])
    assert found == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    best = risk_coverage_area(list(range(1000)), [n >= 700 for n in range(1000)])
    assert best == pytest.approx(0.3 + 0.7 * log(0.7), abs=0.002)


def test_reliability_puts_turns_of_about_the_same_risk_together():
    bins = reliability([0.05, 0.15, 0.95, 1.0], [F, F, T, F], bins=5)
    assert [(one.turns, one.wrong) for one in bins] == [(2, 0.0), (2, 0.5)]
    assert bins[0].risk == pytest.approx(0.1)
    assert len(format_reliability(bins).splitlines()) == 4


def turn(n: int, *, share: float, is_wrong: bool, kind: str = "k") -> SeenTurn:
    signals = dict.fromkeys(SIGNALS, 0.0) | {"min_share": share}
    return SeenTurn(fixture=f"f{n}", kind=kind, signals=signals, is_wrong=is_wrong)


def test_a_fit_finds_the_signal_that_matters_and_gives_nothing_to_the_others():
    rng = random.Random(3)
    turns = []
    for n in range(200):
        share = rng.random()
        turns.append(turn(n, share=share, is_wrong=rng.random() > share))
    score = fit_score(turns)
    weights = dict(zip(score.names, score.weights, strict=True))
    assert weights["min_share"] < -1
    assert all(abs(weight) < 1e-6 for name, weight in weights.items() if name != "min_share")
    said = [score.risk(one.signals) for one in turns]
    share = sum(one.is_wrong for one in turns) / len(turns)
    assert sum(said) / len(said) == pytest.approx(share, abs=1e-6)


def test_turns_that_can_be_told_apart_wholly_still_get_finite_weights():
    turns = [turn(n, share=float(n % 2), is_wrong=n % 2 == 0) for n in range(20)]
    score = fit_score(turns, ridge=3.0)
    assert all(abs(weight) < 50 for weight in score.weights)
    assert score.risk(turns[0].signals) > 0.7


def test_halves_take_every_other_fixture_of_each_kind_and_keep_turns_together():
    turns = [
        turn(n, share=0.5, is_wrong=F, kind=kind)
        for kind, names in (("a", range(10)), ("b", range(10, 16)))
        for n in names
        for _ in range(2)
    ]
    fit, check = halves(turns)
    assert not {one.fixture for one in fit} & {one.fixture for one in check}
    for kind, size in (("a", 10), ("b", 6)):
        assert sum(one.kind == kind for one in fit) == size
        assert sum(one.kind == kind for one in check) == size
    flipped = [turn(int(t.fixture[1:]), share=0.1, is_wrong=T, kind=t.kind) for t in turns]
    assert {t.fixture for t in halves(flipped)[0]} == {t.fixture for t in fit}


def attempt(n: int, *, wrong: tuple[int, ...] = (), places=("device",), share=0.5) -> str:
    return json.dumps(
        {
            "id": f"f{n}",
            "kind": f"k{n % 3}",
            "run": 1,
            "passed": not wrong,
            "verdict": "right on device",
            "ms": 1.0,
            "problems": [
                {"fault": "answer", "text": "x", **({"turn": t} if t else {})} for t in wrong
            ],
            "turns": [{"handledBy": place, "signals": {"min_share": share}} for place in places],
            "about": {"model": {"name": "m", "sha256": "a" * 64}, "prompts": "b" * 64},
        }
    )


def test_only_turns_on_the_device_count_each_with_its_own_outcome():
    lines = [
        attempt(0, wrong=(1,), places=("device", "device", "cloud")),
        json.dumps(json.loads(attempt(1)) | {"verdict": "error"}),
    ]
    turns = seen_turns(read_record(lines, source="r"))
    assert [one.is_wrong for one in turns] == [False, True]


def test_a_record_gives_a_score_that_can_be_kept():
    rng = random.Random(1)
    lines = []
    for n in range(120):
        share = rng.random()
        lines.append(attempt(n, share=share, wrong=(0,) if rng.random() > share else ()))
    found = calibrate(read_record(lines, source="r"))
    assert found.score.model_sha256 == "a" * 64
    assert found.score.prompts_sha256 == "b" * 64
    assert found.checked.turns == 60
    assert found.checked.auc > 0.7
    assert found.checked.brier < found.checked.brier_of_share
    text = json.dumps(score_json(found.score, auc=found.checked.auc))
    kept = read_score(text, where="m.json")
    assert kept.risk({"min_share": 0.3}) == pytest.approx(
        found.score.risk({"min_share": 0.3}), abs=1e-4
    )
    assert "area under ROC" in format_calibration(found)


def test_a_score_can_be_checked_on_a_record_of_its_own():
    rng = random.Random(2)

    def lines(first: int) -> list[str]:
        shares = [rng.random() for _ in range(40)]
        return [
            attempt(first + n, share=share, wrong=(0,) if rng.random() > share else ())
            for n, share in enumerate(shares)
        ]

    record, others = (read_record(lines(first), source="r") for first in (0, 100))
    found = calibrate(record, others=others)
    assert (found.fitted.turns, found.checked.turns) == (40, 40)
    assert found.score == calibrate(record, others=others[:30]).score


def test_too_few_wrong_turns_say_nothing_and_that_is_told():
    lines = [attempt(n) for n in range(30)]
    with pytest.raises(ConfigError, match="0 wrong turns"):
        calibrate(read_record(lines, source="r"))
