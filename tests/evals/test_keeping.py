"""Records on disk, and the small one that was accepted."""

from __future__ import annotations

import json

import pytest

from goliath_local.errors import ConfigError
from goliath_local.evals.accepted import Accepted, accepted_json, is_accepted, read_accepted
from goliath_local.evals.keeping import append_attempt, begin_record, load_outcomes, load_record

ATTEMPT = {
    "id": "a",
    "kind": "own",
    "run": 1,
    "passed": True,
    "verdict": "right on device",
    "problems": [],
    "ms": 3.0,
    "about": {"seed": 0},
}
ACCEPTED = Accepted(
    about={"model": {"name": "m", "sha256": "f" * 64}, "seed": 0},
    passed={"a": True, "b": False},
    verdicts={"a": "right on device", "b": "cut"},
    dont_call={"b": True},
    figures={"pass": 0.5},
)


def test_what_is_appended_is_read_back(tmp_path):
    path = tmp_path / "r.jsonl"
    begin_record(path)
    append_attempt(path, ATTEMPT)
    append_attempt(path, ATTEMPT | {"id": "b", "passed": False})
    assert [kept.id for kept in load_record(path)] == ["a", "b"]
    outcomes = load_outcomes(path)
    assert outcomes.passed == {"a": True, "b": False}
    assert outcomes.about == {"seed": 0}
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_accepted_record_survives_being_written_and_read():
    text = accepted_json(ACCEPTED)
    assert is_accepted(text)
    assert json.loads(text)["accepted"] == 1
    assert read_accepted(text, source="x") == ACCEPTED
    assert '  "a": {"passed": true, "verdict": "right on device"},\n' in text


def test_an_accepted_record_gives_outcomes_too(tmp_path):
    path = tmp_path / "accepted.json"
    path.write_text(accepted_json(ACCEPTED))
    assert load_outcomes(path).passed == {"a": True, "b": False}
    assert not is_accepted(json.dumps(ATTEMPT))


@pytest.mark.parametrize("text", ['{"accepted": 2, "fixtures": {}}', '{"accepted": 1}', "{"])
def test_an_accepted_record_that_is_none_is_told_with_how_to_write_one(text):
    with pytest.raises(ConfigError, match=r"x\.json .*eval-ci"):
        read_accepted(text, source="x.json")
