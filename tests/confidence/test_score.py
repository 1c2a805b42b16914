"""A score as numbers: what it says, how it is kept, what is refused."""

from __future__ import annotations

import json

import pytest

from goliath_local.confidence import TurnScore, read_score, score_json, score_of
from goliath_local.errors import ConfigError

SCORE = TurnScore(
    names=("a", "b"),
    means=(1.0, 0.0),
    scales=(2.0, 1.0),
    weights=(3.0, -1.0),
    intercept=0.5,
    model_sha256="f" * 64,
)


def test_the_score_is_the_logistic_of_the_weighted_signals() -> None:
    # 0.5 + 3 * (2 - 1) / 2 - 1 * 2 = 0, so both chances are one half.
    assert SCORE.risk({"a": 2.0, "b": 2.0}) == pytest.approx(0.5)
    assert SCORE.turn_score({"a": 2.0, "b": 2.0}) == pytest.approx(0.5)


def test_risk_and_score_add_up_to_one_and_never_overflow() -> None:
    for value in (-1e9, -3.0, 0.0, 1e9):
        signals = {"a": value}
        assert SCORE.risk(signals) + SCORE.turn_score(signals) == pytest.approx(1.0)


def test_a_signal_that_is_not_there_counts_as_an_ordinary_one() -> None:
    assert SCORE.risk({"b": 0.0}) == SCORE.risk({"a": 1.0, "b": 0.0})


def test_a_score_survives_being_written_and_read() -> None:
    text = json.dumps(score_json(SCORE, auc=0.8))
    assert read_score(text, where="x.json") == SCORE
    assert json.loads(text)["figures"] == {"auc": 0.8}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.pop("weights"),
        lambda raw: raw["means"].append(1.0),
        lambda raw: raw.update(scales=[0.0, 1.0]),
        lambda raw: raw.update(intercept="much"),
        lambda raw: raw.update(means=[float("nan"), 1.0]),
    ],
)
def test_a_damaged_score_is_refused_with_its_file(spoil) -> None:
    raw = score_json(SCORE)
    spoil(raw)
    with pytest.raises(ConfigError, match=r"x\.json .*evals\.calibrate"):
        read_score(json.dumps(raw), where="x.json")


def test_a_model_that_nobody_fitted_has_no_score() -> None:
    assert score_of(None) is None
    assert score_of("0" * 64) is None
