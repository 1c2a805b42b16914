"""A tool's output that is too much for the model: what is shown, told and kept."""

from pathlib import Path

import pytest

from goliath_local.cli.problems import ExitCode
from goliath_local.cli.shortened import KEPT_CHARACTERS, outputs_json, shortened_results
from goliath_local.records import StepRecord

LONG = "first line\n" + "a line of the log\n" * 12_000 + "last line"

TOOLS = """
from goliath_local import tool

LONG = "first line\\n" + "a line of the log\\n" * 12_000 + "last line"

@tool
def read_log() -> str:
    \"\"\"Read the log.\"\"\"
    return LONG

@tool(output_mode="content")
def read_page() -> str:
    \"\"\"Read the page.\"\"\"
    return LONG
"""


def step(result: str, output: object, **more: object) -> StepRecord:
    return StepRecord(
        index=0,
        kind="tool",
        brief="",
        tool="t",
        result=result,
        output=output,
        has_output=True,
        **more,
    )


@pytest.mark.parametrize(
    ("result", "output", "whole"),
    [
        ("QQQ…", "Q" * 700, 700),
        ("a\n… 90 omitted\nz", "a\n" * 99 + "z", 199),
        ("1. x\n… 2 omitted\n9. y", ["x" * 9] * 9, 117),
        ("all of it", "all of it", None),
        ("wait…", "wait…", None),
        ("3 lines", ["a", "b", "c"], None),
        ("a much longer text of one's own…", "short", None),
    ],
)
def test_what_was_cut_is_told_from_what_merely_has_an_ellipsis(result, output, whole) -> None:
    found = shortened_results([step(result, output)])
    told = [(len(one.output), one.shown_characters) for one in found]
    assert told == ([] if whole is None else [(whole, len(result))])


def test_a_result_taken_from_before_is_not_told_twice() -> None:
    assert shortened_results([step("Q…", "Q" * 700, cached=True)]) == ()


def test_a_trace_keeps_no_more_of_the_outputs_than_its_share() -> None:
    steps = [step("Q…", "Q" * (KEPT_CHARACTERS - 10)), step("R…", "R" * 700)]
    rows = outputs_json(shortened_results(steps))
    assert [len(row["output"]) for row in rows] == [KEPT_CHARACTERS - 10, 10]
    assert rows[1]["characters"] == 700


@pytest.mark.parametrize("name", ["read_log", "read_page"])
def test_a_result_of_200_kilobytes_shows_both_ends_and_is_kept_whole(
    goliath, script, home, name
) -> None:
    Path("big.py").write_text(TOOLS)
    replies = (
        {"json": {"kind": "tool", "tool": name, "brief": "read it"}},
        {"json": {"kind": "answer", "brief": "tell"}},
        {"text": "It is long."},
    )
    ran = goliath("run", "-T", "big.py", "--engine", script(*replies), "read it")
    assert (ran.code, ran.out) == (0, "It is long.\n")
    assert f"{name} gave {len(LONG):,} characters; the model was shown " in ran.err
    trace = goliath("trace", "export", "last").json
    asked = trace["calls"][-1]["user"]
    seen = next(part["text"] for part in asked if "a line of the log" in part["text"])
    assert "first line" in seen
    assert "last line" in seen
    assert "omitted" in seen or "tokens left out" in seen
    assert trace["result"]["outputs"][0]["output"] == LONG
    assert f"cut      {name}: the model was shown " in goliath("trace", "show", "last").out
    strict = goliath("run", "-T", "big.py", "--engine", script(*replies), "--strict", "read it")
    assert strict.code == ExitCode.DID_NOT_FIT
    assert f"result of {name}" in strict.err
