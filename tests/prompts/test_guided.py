"""The worked examples of every stage, and the comparisons that plain code makes."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from goliath_local.budget import estimate_tokens
from goliath_local.harness.plans import opening_schema, planning_schema, read_plan, read_want
from goliath_local.prompts import answer_turns, argument_turns, comparisons, plan_turns
from goliath_local.records import Plan

PLANS = plan_turns(5, most_tokens=4096, count=estimate_tokens)


def names_in(turn):
    return re.findall(r"^Tools in this example: (.*)\.$", turn.user, re.MULTILINE)[0].split(", ")


def test_every_plan_of_an_example_is_one_that_the_model_could_have_decoded():
    for turn in PLANS:
        names = names_in(turn)
        plan = json.loads(turn.assistant)
        is_first = "This is step 1 of 5." in turn.user
        schema = opening_schema(names, names) if is_first else planning_schema(names)
        jsonschema.validate(plan, schema)
        assert isinstance(read_plan(turn.assistant, names), Plan)
        assert (read_want(turn.assistant) is not None) is is_first


def test_all_that_can_be_wanted_is_shown():
    shown = {json.loads(turn.assistant).get("want") for turn in PLANS}
    assert shown >= {"question", "change", "change-if", "talk", "impossible"}


def test_the_examples_leave_half_of_the_window_to_the_turn():
    for turns in (PLANS, argument_turns(), answer_turns()):
        cost = sum(estimate_tokens(turn.user) + estimate_tokens(turn.assistant) for turn in turns)
        assert 0 < cost < 4096 / 2


def test_a_small_window_gets_the_first_examples_whole():
    few = plan_turns(5, most_tokens=600, count=estimate_tokens)
    assert few == PLANS[: len(few)]
    assert 0 < len(few) < len(PLANS)
    assert plan_turns(5, most_tokens=10, count=estimate_tokens) == ()


def test_the_usual_window_has_room_for_every_example():
    assert plan_turns(5, most_tokens=2048, count=estimate_tokens) == PLANS


def test_examples_speak_of_nothing_that_the_evals_ask():
    turns = (*PLANS, *argument_turns(), *answer_turns())
    text = " ".join(turn.user + turn.assistant for turn in turns).lower()
    for word in ("milk", "eggs", "dentist", "mom", "task", "alarm", "battery", "umbrella"):
        assert not re.search(rf"\b{word}s?\b", text)


def test_argument_examples_name_what_is_missing_first():
    replies = [json.loads(turn.assistant) for turn in argument_turns()]
    assert all(next(iter(reply)) == "missing" for reply in replies)
    assert {reply["missing"] for reply in replies} == {"", "book"}


@pytest.mark.parametrize(
    ("ask", "result", "told"),
    [
        (
            "only if it's below 10 percent",
            "battery_percent: 17\ncharging: false",
            "Compared with 10: battery_percent 17 is more.",
        ),
        (
            "if it's colder than 20 in the bath",
            "1. room: hall, temperature: 18\n2. room: bath, temperature: 22.5",
            "Compared with 20: bath temperature 22.5 is more.",
        ),
        ("over 5?", "n: 5", "Compared with 5: n 5 is equal."),
        ("over 5?", "n: -3", "Compared with 5: n -3 is less."),
        ("on Thursday at 17:00", "n: 5", ""),
        ("on 2026-04-14", "n: 5", ""),
        ("if it is full", "n: 5", ""),
        ("over 5?", "done", ""),
    ],
)
def test_numbers_of_a_result_are_compared_with_those_of_the_ask(ask, result, told):
    assert comparisons(ask, [result]) == told


def test_a_long_result_is_compared_with_nothing():
    assert comparisons("over 5?", ["\n".join(f"n{i}: {i}" for i in range(40))]) == ""
