"""The runner: attempts, errors, pass^k and the report's lines."""

from __future__ import annotations

import math

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.evals import (
    Verdict,
    fixtures,
    format_report,
    perfect_model,
    run_evals,
    sample_tools,
)
from goliath_local.testing import fake_model

LIST, ADD, CHECK, GREET, WEEK = fixtures


async def test_228_the_scripted_perfect_model_passes_all_five_fixtures():
    report = await run_evals(perfect_model, fixtures)
    assert (report.passed, report.total) == (5, 5)
    assert (report.on_device, report.escalated, report.errors) == (4, 1, 0)


@pytest.mark.parametrize("runs", [0, -1, 1.5, math.nan, True])
async def test_229_a_number_of_runs_that_is_no_positive_integer_is_an_error(runs):
    with pytest.raises(ConfigError, match="runs"):
        await run_evals(perfect_model, fixtures, runs=runs)


async def test_230_one_failing_run_of_two_fails_the_fixture_and_names_the_run():
    models = iter(
        [perfect_model(GREET), fake_model([{"json": {"kind": "escalate", "brief": ""}}] * 2)]
    )

    report = await run_evals(lambda _fixture: next(models), [GREET], runs=2)

    (result,) = report.fixtures
    assert not result.passed
    assert result.passes == 1
    assert all(reason.startswith("run 2: ") for reason in result.reasons)


async def test_231_an_attempt_that_raises_counts_as_error_and_the_rest_go_on():
    def model(fixture):
        return fake_model([]) if fixture is LIST else perfect_model(fixture)

    report = await run_evals(model, fixtures)
    assert report.errors == 1
    assert report.passed == 4
    broken = report.fixtures[0]
    assert broken.last.verdict is Verdict.ERROR
    assert (broken.last.place, broken.last.tools, broken.last.steps) == ("error", (), 0)
    assert len(broken.reasons) == 1
    assert "ScriptExhausted" in broken.reasons[0]


async def test_231_a_cancelled_eval_rejects():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(RunCancelled):
        await run_evals(perfect_model, fixtures, cancel=cancel)


async def test_232_an_empty_answer_fails():
    script = [{"json": {"kind": "answer", "brief": ""}}, *[{"text": ""}] * 3]
    report = await run_evals(lambda _f: fake_model(script), [GREET], fallback=None)
    assert "empty answer" in report.fixtures[0].reasons


async def test_233_the_last_line_of_a_single_run_is_the_split():
    report = await run_evals(perfect_model, fixtures)
    lines = format_report(report).splitlines()
    assert lines[-1] == "5/5 passed · 4 on device · 1 escalated"
    assert lines[-2] == ""
    assert lines[0].startswith("PASS  list-today         device  ")
    assert lines[0].endswith("ms  1/1")


async def test_several_runs_add_the_pass_k_figures_to_the_last_line():
    report = await run_evals(perfect_model, [LIST], runs=3)
    assert format_report(report).endswith(
        "1/1 passed · 3 on device · 0 escalated · pass^3 · 3 attempts · 2.0 steps/attempt"
    )


async def test_every_attempt_gets_its_own_list_of_tasks():
    report = await run_evals(perfect_model, [ADD], runs=2)
    states = [attempt.outcomes[0].state_after for attempt in report.attempts]
    assert all(len(state["tasks"]) == 3 for state in states)


async def test_a_model_factory_is_asked_for_a_model_at_every_generation():
    made = []

    def factory_for(fixture):
        script = perfect_model(fixture)

        def make():
            made.append(fixture.id)
            return script

        return make

    report = await run_evals(factory_for, [LIST])
    assert report.passed == 1
    assert made == ["list-today"] * 3


async def test_metadata_is_copied_into_the_report():
    metadata = {"model": {"name": "m"}}
    report = await run_evals(perfect_model, [LIST], metadata=metadata)
    metadata["model"]["name"] = "other"
    assert report.metadata == {"model": {"name": "m"}}


def test_the_sample_tools_are_a_read_without_parameters_and_a_write():
    read, write = sample_tools()
    assert (read.name, read.writes, dict(read.parameters.properties)) == ("list_tasks", False, {})
    assert (write.name, write.writes, list(write.parameters.properties)) == (
        "create_task",
        True,
        ["title"],
    )
