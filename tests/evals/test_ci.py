"""The gates of CI, by hand-made runs, and the arrangements that make every event happen."""

from __future__ import annotations

from collections import Counter

import pytest

from goliath_local.evals import Report
from goliath_local.evals.ci import (
    Played,
    accepted_of,
    judge_machinery,
    judge_quality,
    judge_sound,
)
from goliath_local.evals.machinery import EVENTS, Machinery, run_machinery
from goliath_local.evals.report import Attempt, FixtureReport
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict
from goliath_local.model import Reply, Stage
from goliath_local.records import StepRecord

ALL = Machinery(events=Counter(EVENTS))
NONE = Report(fixtures=())


def fixture(name: str, *, passed=True, called=False, invalid=(), error=False) -> FixtureReport:
    step = StepRecord(index=0, kind="tool", brief="", tool="t")
    outcome = TurnOutcome(text="", handled_by="device", steps=(step,) if called else ())
    fault = Fault.ERROR if error else Fault.ANSWER
    attempt = Attempt(
        run=1,
        outcomes=() if error else (outcome,),
        problems=() if passed else (Problem(fault=fault, text="OSError: gone"),),
        verdict=Verdict.ERROR if error else Verdict.RIGHT_ON_DEVICE,
        ms=1.0,
        invalid_calls=tuple(invalid),
    )
    return FixtureReport(id=name, kind="own", attempts=(attempt,))


def run(*, broken: int = 0, called: int = 0, sha256: str = "a") -> Played:
    return Played(
        dev=Report(fixtures=tuple(fixture(f"d{n}", passed=n >= broken) for n in range(24))),
        no_call=Report(fixtures=tuple(fixture(f"n{n}", called=n < called) for n in range(20))),
        about={"model": {"name": "m", "sha256": sha256}},
    )


def met(gates) -> list[bool]:
    return [gate.is_met for gate in gates]


@pytest.mark.parametrize(
    ("broken", "called", "expected"),
    [(0, 0, [True, True]), (4, 4, [True, True]), (5, 0, [False, True]), (0, 5, [True, False])],
)
def test_quality_and_not_calling_are_gates_by_themselves(broken, called, expected):
    accepted = accepted_of(run())
    assert met(judge_quality(run(broken=broken, called=called), accepted)) == expected


def test_without_a_record_the_gate_says_so_and_how_to_accept_one():
    for gate in judge_quality(run(), None):
        assert not gate.is_met
        assert gate.text == (
            "There is no accepted record yet. To accept what was just played: "
            "make eval-ci ACCEPT=1"
        )


def test_a_record_of_other_weights_is_not_compared_with():
    (gate, _) = judge_quality(run(sha256="b"), accepted_of(run(sha256="a")))
    assert not gate.is_met
    assert "other weights" in gate.text


def test_invalid_arguments_and_crashes_close_the_gate_and_are_named():
    bad = (fixture("x", invalid=["t.n: no"]), fixture("y", passed=False, error=True))
    played = Played(dev=Report(fixtures=bad), no_call=NONE, about={})
    crashes, invalid = judge_sound(played)
    assert not crashes.is_met
    assert "y: OSError: gone" in crashes.text
    assert not invalid.is_met
    assert "x: t.n: no" in invalid.text
    assert met(judge_sound(run())) == [True, True]


def test_an_event_that_never_happens_closes_the_gate():
    assert met(judge_machinery(ALL, NONE)) == [True, True, True]
    most = Machinery(events=Counter(name for name in EVENTS if name != "retry"))
    (events, *_) = judge_machinery(most, NONE)
    assert not events.is_met
    assert events.text == "missing: retry"


class Anything:
    """A model that says the same at every stage, whatever it is asked."""

    def __init__(self, arguments: str = '{"title":"eggs","when":"today","missing":""}') -> None:
        self.arguments = arguments
        self.stages: set[Stage] = set()

    async def generate(self, request) -> Reply:
        self.stages.add(request.stage)
        if request.stage is Stage.CONDUCTOR:
            return Reply(text='{"why":"w","kind":"answer","brief":"b"}')
        return Reply(text=self.arguments if request.stage is Stage.WORKER else "Some words.")


async def test_every_class_of_event_happens_whatever_a_model_plans():
    model = Anything()
    found = await run_machinery(model)
    assert found.crashes == []
    assert found.missing == ()
    assert found.invalid == []
    assert model.stages == set(Stage)


async def test_the_arrangements_do_not_depend_on_good_arguments():
    found = await run_machinery(Anything('{"title":"","when":"","missing":"title"}'))
    assert found.crashes == []
    assert found.missing == ()


async def test_a_model_that_raises_is_a_crash_of_nothing_but_an_event():
    class Dead:
        async def generate(self, request) -> Reply:
            raise OSError("gone")

    found = await run_machinery(Dead())
    assert found.crashes == []
    assert "escalate" in found.events
    assert "answer" not in found.missing


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(1200)  # some forty turns with heads that nobody has evaluated yet
async def test_every_class_of_event_happens_on_the_tiny_model(weights):
    from goliath_local.engine import EngineSettings, load_model

    path = weights("smollm2-135m")
    with load_model(path, settings=EngineSettings(deterministic=True)) as model:
        found = await run_machinery(model)
    assert (found.missing, found.crashes, found.invalid) == ((), [], [])
