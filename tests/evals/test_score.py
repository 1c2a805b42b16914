"""Each rule of the scoring, by a turn that breaks it and one that does not."""

from __future__ import annotations

import pytest

from goliath_local.evals.fixture import ExpectedCall, ExpectedTurn
from goliath_local.evals.score import Fault, TurnOutcome, Verdict, turn_problems, verdict
from goliath_local.records import StepRecord


def step(tool, *, index=0, **fields):
    return StepRecord(index=index, kind="tool", brief="", tool=tool, **fields)


def faults(expected, got):
    return [problem.fault for problem in turn_problems(expected, got)]


READ = ExpectedTurn(ask="?", sequences=(("list",),), mentions=(("milk",),))
GOOD = TurnOutcome(text="There is MILK.", handled_by="device", steps=(step("list"),))


def test_a_good_turn_has_no_problem():
    assert turn_problems(READ, GOOD) == ()


def test_finishing_in_the_cloud_where_that_is_forbidden_is_wrong():
    got = TurnOutcome(text="milk", handled_by="cloud", steps=(step("list"),), reasons=("x",))
    assert faults(READ, got) == [Fault.PLACE]


def test_finishing_on_device_where_a_hand_over_is_expected_is_wrong():
    expected = ExpectedTurn(ask="?", sequences=((),), handled_by="cloud", escalation="expected")
    assert faults(expected, TurnOutcome(text="ok", handled_by="device")) == [Fault.PLACE]
    assert faults(expected, TurnOutcome(text="ok", handled_by="cloud")) == []


def test_cached_skipped_and_failed_steps_count_in_the_sequence():
    got = TurnOutcome(
        text="milk", handled_by="device", steps=(step("list"), step("list", index=1, cached=True))
    )
    assert faults(READ, got) == [Fault.WRONG_CALL]


def test_calling_a_tool_where_none_is_needed_is_its_own_fault():
    expected = ExpectedTurn(ask="hi", sequences=((),))
    assert faults(expected, GOOD) == [Fault.NEEDLESS_CALL]


def test_an_alternative_sequence_is_as_good():
    expected = ExpectedTurn(ask="?", sequences=(("find",), ("list",)))
    assert faults(expected, GOOD) == []


def test_mentions_ignore_case_quotes_and_width():
    got = TurnOutcome(
        text="Tom\u2019s \uff2d\uff29\uff2c\uff2b", handled_by="device", steps=(step("list"),)
    )
    expected = ExpectedTurn(ask="?", sequences=(("list",),), mentions=(("milk",), ("TOM'S",)))
    assert faults(expected, got) == []


def test_a_missing_mention_and_a_forbidden_text_are_answer_faults():
    expected = ExpectedTurn(
        ask="?", sequences=(("list",),), mentions=(("tea", "coffee"),), forbids=("milk",)
    )
    assert faults(expected, GOOD) == [Fault.ANSWER, Fault.ANSWER]


def test_an_empty_answer_fails_unless_an_expected_reason_is_met():
    silent = TurnOutcome(text=" ", handled_by="device", reasons=("guardrail",))
    free = ExpectedTurn(ask="?", sequences=((),))
    asked = ExpectedTurn(ask="?", sequences=((),), expected_reason="guardrail")
    other = ExpectedTurn(ask="?", sequences=((),), expected_reason="tool-error")
    assert faults(free, silent) == [Fault.ANSWER]
    assert faults(asked, silent) == []
    assert faults(other, silent) == [Fault.REASON]


def test_the_nth_call_of_a_tool_is_held_against_its_nth_entry():
    expected = ExpectedTurn(
        ask="?",
        sequences=(("add", "add"),),
        args=(
            ExpectedCall(tool="add", match={"x": {"mode": "equals", "any_of": [1]}}),
            ExpectedCall(tool="add", match={"x": {"mode": "equals", "any_of": [2]}}),
        ),
    )
    steps = (step("add", input={"x": 1}), step("add", index=1, input={"x": 1}))
    got = TurnOutcome(text="ok", handled_by="device", steps=steps)
    assert [p.text for p in turn_problems(expected, got)] == ["add.x is 1"]


def test_a_step_expected_as_missing_has_to_be_skipped_for_that():
    expected = ExpectedTurn(
        ask="?", sequences=(("add",),), args=(ExpectedCall(tool="add", missing=("time",)),)
    )
    ran = TurnOutcome(text="ok", handled_by="device", steps=(step("add", input={}),))
    skipped = TurnOutcome(
        text="when?",
        handled_by="device",
        steps=(step("add", skipped=True, skip_reason="missing"),),
    )
    assert faults(expected, ran) == [Fault.ARGUMENT]
    assert faults(expected, skipped) == []


def test_a_turn_expected_in_the_cloud_is_not_judged_by_its_words():
    expected = ExpectedTurn(
        ask="?",
        sequences=((),),
        handled_by="cloud",
        escalation="expected",
        mentions=(("never said",),),
        state_after={"unchanged": True},
    )
    got = TurnOutcome(text="ok", handled_by="cloud", state_before=[1], state_after=[1])
    assert faults(expected, got) == []


@pytest.mark.parametrize(
    ("after", "found"),
    [({"tasks": ["a"]}, 0), ({"tasks": ["a", "b"]}, 1)],
)
def test_a_store_that_should_be_unchanged_is_compared(after, found):
    expected = ExpectedTurn(ask="?", sequences=((),), state_after={"unchanged": True})
    got = TurnOutcome(
        text="ok", handled_by="device", state_before={"tasks": ["a"]}, state_after=after
    )
    assert faults(expected, got) == [Fault.STORE] * found


@pytest.mark.parametrize(
    ("expected", "got", "ended"),
    [
        (READ, GOOD, Verdict.RIGHT_ON_DEVICE),
        (READ, TurnOutcome(text="no", handled_by="device"), Verdict.WRONG_BUT_CONFIDENT),
        (READ, TurnOutcome(text="ok", handled_by="cloud"), Verdict.GAVE_UP),
        (READ, TurnOutcome(text="no", handled_by="device", best_effort=True), Verdict.GAVE_UP),
        (READ, TurnOutcome(text="no", handled_by="device", is_cut=True), Verdict.CUT),
        (
            ExpectedTurn(ask="?", sequences=((),), handled_by="cloud", escalation="expected"),
            TurnOutcome(text="ok", handled_by="cloud"),
            Verdict.RIGHT_HAND_OVER,
        ),
    ],
)
def test_an_attempt_has_exactly_one_verdict(expected, got, ended):
    assert verdict([expected], [got], turn_problems(expected, got)) is ended
