"""Records: what is kept of an attempt, and that it can be read back."""

from __future__ import annotations

import inspect
import json

import pytest

from goliath_local.errors import ConfigError
from goliath_local.evals import fixtures, perfect_model, run_evals
from goliath_local.evals.about import about_run, prompts_sha256
from goliath_local.evals.record import RecordingModel
from goliath_local.evals.results import attempt_json, passes, read_record
from goliath_local.model import CountingModel, ScoringModel
from tests.harness.counting import Counting

LIST = fixtures[0]


async def lines_of(*, runs: int = 1) -> list[str]:
    recorders = []

    def model(fixture):
        recorders.append(RecordingModel(perfect_model(fixture)))
        return recorders[-1]

    found: list[str] = []

    def note(fixture, attempt):
        about = about_run(set_name="builtin", model="m", sha256="a" * 64, seed=7)
        kept = attempt_json(fixture, attempt, recorders[-1].calls, about=about)
        found.append(json.dumps(kept))

    await run_evals(model, [LIST], runs=runs, on_attempt=note)
    return found


async def test_an_attempt_is_kept_with_everything_that_made_it():
    (kept,) = read_record(await lines_of(), source="r.jsonl")
    assert (kept.id, kept.kind, kept.run, kept.passed) == ("list-today", "sample", 1, True)
    assert kept.about["model"] == {"name": "m", "sha256": "a" * 64}
    assert kept.about["seed"] == 7
    assert kept.about["prompts"] == prompts_sha256()
    assert [call["stage"] for call in kept.raw["calls"]] == ["conductor", "conductor", "answer"]
    assert all(call["user"] and call["text"] for call in kept.raw["calls"])
    assert kept.raw["turns"][0]["ask"] == LIST.turns[0].ask
    assert kept.raw["turns"][0]["signals"]["steps"] == 2.0
    assert kept.raw["invalidCalls"] == []


async def test_of_an_attempt_made_twice_the_later_line_counts():
    (line,) = await lines_of()
    later = json.dumps(json.loads(line) | {"passed": False})
    (kept,) = read_record([line, "", later], source="r.jsonl")
    assert not kept.passed


async def test_a_fixture_passes_when_all_its_runs_do():
    first, second = await lines_of(runs=2)
    second = json.dumps(json.loads(second) | {"passed": False})
    assert passes(read_record([first], source="r")) == {"list-today": True}
    assert passes(read_record([first, second], source="r")) == {"list-today": False}


@pytest.mark.parametrize("line", ["{", "[]", '{"id": "x"}'])
def test_a_line_that_is_no_attempt_is_named(line):
    with pytest.raises(ConfigError, match=r"r\.jsonl:2 is no attempt"):
        read_record(["", line], source="r.jsonl")


def test_an_empty_record_says_how_to_make_one():
    with pytest.raises(ConfigError, match="eval run"):
        read_record([], source="r.jsonl")


def test_the_prompts_have_one_hash():
    assert len(prompts_sha256()) == 64


def test_a_recorded_model_has_what_the_model_has_where_protocols_look():
    counting, plain = RecordingModel(Counting([])), RecordingModel(perfect_model(fixtures[0]))
    assert inspect.getattr_static(counting, "count_request", None) is not None
    assert isinstance(counting, CountingModel)
    assert not isinstance(counting, ScoringModel)
    assert not isinstance(plain, CountingModel)
