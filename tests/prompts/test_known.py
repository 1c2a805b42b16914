"""What was said before and bears on the ask, and what code sees in a result."""

from __future__ import annotations

import pytest

from goliath_local.prompts import entry_count, known_already, seen_by_code
from goliath_local.prompts.compare import standouts
from goliath_local.records import Exchange, StepRecord

FACTS = {"home station": "Lindau", "height": "174 cm", "today": "Tuesday 2026-04-14"}


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        ("which station did I set as home?", "home station: Lindau"),
        ("what is my height?", "height: 174 cm"),
        ("trains from Lindau to Kempten", None),
        ("is anyone at home?", None),
        ("wake me at six", None),
    ],
)
def test_a_fact_is_said_again_when_the_ask_names_it(ask, line):
    found = known_already(ask, FACTS, [])
    assert found == ("" if line is None else f"Known already:\n{line}")


@pytest.mark.parametrize(
    ("ask", "is_known"),
    [
        ("what was it that Greta mustn't eat?", True),
        ("what does Anna eat?", False),
        ("is there an allergy test?", False),
        ("Text Greta that I'm late", False),
        ("Was darf Greta nicht essen, und was isst sie?", False),
    ],
)
def test_a_fact_is_said_again_when_both_have_a_proper_name(ask: str, is_known: bool):
    found = known_already(ask, {"Greta's allergy": "hazelnuts"}, [])
    assert ("hazelnuts" in found) is is_known


def exchange(ask, *, tool=False):
    step = StepRecord(index=0, kind="tool", brief="", tool="look", input={}, result="x")
    return Exchange(ask=ask, answer="Noted.", at=0, steps=(step,) if tool else ())


REMARK = "by the way, the plumber comes at half past nine"


def test_a_remark_is_said_again_when_the_ask_shares_its_words():
    assert REMARK in known_already(
        "when does the plumber come, or who comes?", {}, [exchange(REMARK)]
    )
    assert known_already("when does the train leave?", {}, [exchange(REMARK)]) == ""


def test_what_a_tool_told_and_what_was_asked_are_no_remarks():
    ask = "when does the plumber come, or who comes?"
    assert known_already(ask, {}, [exchange(REMARK, tool=True)]) == ""
    assert known_already(ask, {}, [exchange("when exactly comes the plumber?")]) == ""


@pytest.mark.parametrize(
    ("result", "count"),
    [
        ("none", 0),
        ("1. a: b", 1),
        ("1. a: b\n2. a: c", 2),
        ("1. a\n… 5 omitted\n7. b", 7),
        ("level: 8", None),
        ("2. July is a holiday", None),
    ],
)
def test_the_entries_of_a_result_are_counted(result, count):
    assert entry_count(result) == count


def test_code_shows_the_entry_that_is_named_and_says_what_unless_means():
    rows = "1. disk: photos, used: 67\n2. disk: music, used: 12\n3. disk: system, used: 40"
    step = StepRecord(index=0, kind="tool", brief="", tool="disks", input={}, result=rows)
    ask = "start it, unless the photos take more than 60"
    told = seen_by_code(ask, [step], is_conditional=True)
    named = "Named in the request:\ndisk: photos, used: 67"
    assert told.startswith(f"{named}\nCompared with 60: photos used 67 is more")
    assert told.endswith("nothing is done.")
    assert seen_by_code(ask, [step], is_conditional=False) == named
    most = "Of these, highest used: photos (67); lowest used: music (12)."
    assert seen_by_code("which is fullest?", [step], is_conditional=False) == most
    assert seen_by_code(ask, [], is_conditional=True) == ""


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (
            "1. door: a, locked: true\n2. door: back, locked: false\n3. door: c, locked: true",
            "Of these, the only one with locked false: back.",
        ),
        ("1. id: 1, name: a\n2. id: 2, name: b\n3. id: 3, name: c", ""),
        ("1. name: a, used: 1\n2. name: b, used: 2", ""),
        ("1. used: 1\n2. used: 2\n3. used: 3", ""),
        (
            "1. name: a, used: 5\n2. name: b, used: 5\n3. name: c, used: 1",
            "Of these, lowest used: c (1).",
        ),
        ("none", ""),
    ],
)
def test_an_entry_that_stands_out_is_told(result, told):
    assert standouts(result) == told
