"""Function-calling cases with one plain prompt, judged as through the stages."""

from __future__ import annotations

import json

import pytest

from goliath_local.evals.bfcl import first_accepted, read_cases
from goliath_local.evals.bfcl_plain import run_bfcl_plain
from goliath_local.evals.bfcl_run import run_bfcl
from goliath_local.evals.score import Fault, Verdict
from goliath_local.testing import fake_model

TOOL = {
    "name": "book.table",
    "description": "Book a table.",
    "parameters": {
        "type": "dict",
        "properties": {"seats": {"type": "integer"}},
        "required": ["seats"],
    },
}


def case(answer):
    line = {"id": "simple_1", "ask": "a table for two", "tools": [TOOL], "answer": answer}
    return read_cases([json.dumps(line)])[0]


ONE, NONE = case([{"book.table": {"seats": [2]}}]), case([])
CALL = {"json": {"tool": "book_table", "arguments": {"seats": 2}}}


@pytest.mark.parametrize(
    ("asked", "reply", "fault", "ended"),
    [
        (ONE, CALL, None, Verdict.RIGHT_ON_DEVICE),
        (NONE, {"json": {"answer": "No."}}, None, Verdict.RIGHT_ON_DEVICE),
        (NONE, {"json": {"escalate": "No."}}, None, Verdict.RIGHT_ON_DEVICE),
        (NONE, CALL, Fault.NEEDLESS_CALL, Verdict.WRONG_BUT_CONFIDENT),
        (ONE, {"json": {"answer": "2"}}, Fault.WRONG_CALL, Verdict.WRONG_BUT_CONFIDENT),
        (ONE, {"json": {"escalate": "?"}}, Fault.WRONG_CALL, Verdict.GAVE_UP),
        (
            ONE,
            {"json": {"tool": "book_table", "arguments": {"seats": 3}}},
            Fault.ARGUMENT,
            Verdict.WRONG_BUT_CONFIDENT,
        ),
    ],
)
async def test_one_prompt_is_judged_by_the_call_it_makes(asked, reply, fault, ended):
    attempt = (await run_bfcl_plain(fake_model([reply]), asked)).last
    assert attempt.verdict is ended
    assert {problem.fault for problem in attempt.problems} == ({fault} if fault else set())


async def test_a_model_that_cannot_reply_is_an_error_of_that_case():
    from goliath_local.errors import ModelUnavailable

    attempt = (await run_bfcl_plain(fake_model([{"error": ModelUnavailable("x")}]), ONE)).last
    assert attempt.verdict is Verdict.ERROR


async def test_arguments_that_do_not_fit_are_counted_in_the_plain_prompt():
    reply = {"json": {"tool": "book_table", "arguments": {"seats": "two"}}}
    attempt = (await run_bfcl_plain(fake_model([reply]), ONE)).last
    assert attempt.invalid_calls == ("book_table.seats: 'two' is not of type 'integer'",)


async def test_the_stages_give_the_accepted_call_and_nothing_invalid():
    ((name, arguments),) = first_accepted(ONE)
    script = [
        {"json": {"kind": "tool", "tool": name, "brief": "book"}},
        {"json": arguments},
    ]
    report = await run_bfcl(fake_model(script), ONE)
    assert report.passed
    assert report.kind == "simple"
    assert report.last.invalid_calls == ()
