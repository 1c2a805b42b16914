"""Each class of score, by a hand-made attempt that belongs to it and to no other."""

from __future__ import annotations

import pytest

from goliath_local.evals import Report, format_scores
from goliath_local.evals.fixture import ExpectedCall, ExpectedTurn
from goliath_local.evals.report import Attempt, FixtureReport
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict, turn_problems, verdict
from goliath_local.records import StepRecord


def step(tool: str, **fields) -> StepRecord:
    return StepRecord(index=0, kind="tool", brief="", tool=tool, **fields)


def ended(*steps: StepRecord, text: str = "Done.", place="device", **fields) -> TurnOutcome:
    return TurnOutcome(text=text, handled_by=place, steps=steps, **fields)


TO_READ = ExpectedTurn(ask="?", sequences=(("find",),), mentions=(("milk",),))
TO_WRITE = ExpectedTurn(
    ask="?",
    sequences=(("add",),),
    args=(ExpectedCall(tool="add", match={"title": {"mode": "equals_ci", "any_of": ["eggs"]}}),),
)
TO_ASK_BACK = ExpectedTurn(
    ask="?", sequences=(("add",),), args=(ExpectedCall(tool="add", missing=("time",)),)
)
TO_GREET = ExpectedTurn(ask="hi", sequences=((),))
TO_HAND_OVER = ExpectedTurn(ask="?", sequences=((),), handled_by="cloud", escalation="expected")
FREE = ExpectedTurn(ask="?", sequences=((),), escalation="allowed")

CASES = [
    ("right on device", TO_READ, ended(step("find"), text="Milk."), None),
    ("right hand-over", TO_HAND_OVER, ended(place="cloud"), None),
    ("right hand-over", FREE, ended(place="cloud"), None),
    ("right on device", FREE, ended(), None),
    ("wrong but confident", TO_READ, ended(step("find"), text="Tea."), Fault.ANSWER),
    ("wrong but confident", TO_READ, ended(step("list"), text="Milk."), Fault.WRONG_CALL),
    ("wrong but confident", TO_READ, ended(text="Milk."), Fault.WRONG_CALL),
    ("wrong but confident", TO_WRITE, ended(step("add", input={})), Fault.ARGUMENT),
    ("wrong but confident", TO_WRITE, ended(step("add", input={"title": "x"})), Fault.ARGUMENT),
    ("wrong but confident", TO_ASK_BACK, ended(step("add", input={"time": "9"})), Fault.ARGUMENT),
    ("wrong but confident", TO_GREET, ended(step("find")), Fault.NEEDLESS_CALL),
    ("wrong but confident", TO_HAND_OVER, ended(), Fault.PLACE),
    ("gave up needlessly", TO_GREET, ended(place="cloud"), Fault.PLACE),
    ("gave up needlessly", TO_READ, ended(step("list"), text="Milk?", best_effort=True),
     Fault.WRONG_CALL),
    ("wrong hand-over", TO_HAND_OVER, ended(step("find"), place="cloud"), Fault.NEEDLESS_CALL),
    ("cut", TO_READ, ended(step("find"), text="On the", is_cut=True), Fault.ANSWER),
]  # fmt: skip


@pytest.mark.parametrize(("expected_verdict", "turn", "got", "fault"), CASES)
def test_an_attempt_belongs_to_its_class(expected_verdict, turn, got, fault):
    problems = turn_problems(turn, got)
    assert verdict([turn], [got], problems).value == expected_verdict
    assert {problem.fault for problem in problems} == ({fault} if fault else set())


def test_an_attempt_that_raised_is_an_error_whatever_else_it_did():
    problems = [Problem(fault=Fault.ERROR, text="OSError: gone")]
    assert verdict([TO_READ], [], problems) is Verdict.ERROR


def test_every_verdict_and_fault_of_the_turns_is_tried_above():
    tried = {name for name, *_ in CASES} | {"error"}
    assert tried == {one.value for one in Verdict}
    faults = {fault for *_, fault in CASES if fault}
    assert set(Fault) - faults == {Fault.ERROR, Fault.REASON, Fault.STORE}


def test_the_scores_count_each_class_and_name_invalid_arguments():
    def fixture(name: str, turn: ExpectedTurn, got: TurnOutcome, *invalid: str) -> FixtureReport:
        problems = turn_problems(turn, got)
        attempt = Attempt(
            run=1,
            outcomes=(got,),
            problems=problems,
            verdict=verdict([turn], [got], problems),
            ms=1.0,
            invalid_calls=invalid,
        )
        return FixtureReport(id=name, kind=turn.ask, attempts=(attempt,))

    report = Report(
        fixtures=(
            fixture("a", TO_READ, ended(step("find"), text="Milk.")),
            fixture("b", TO_GREET, ended(step("find")), "find.word: 5 is not of type 'string'"),
            fixture("c", TO_GREET, ended(place="cloud")),
        )
    )
    lines = [" ".join(line.split()) for line in format_scores(report).splitlines()]
    assert "right on device 1" in lines
    assert "wrong but confident 1" in lines
    assert "gave up needlessly 1" in lines
    assert "fault: needless call 1" in lines
    assert "invalid arguments run 1" in lines
    assert "b: find.word: 5 is not of type 'string'" in lines
