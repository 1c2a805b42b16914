from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import (
    DEFAULT_MAX_STEPS,
    DEFAULT_WINDOW,
    OUTPUT_CAPS,
    conversation_tokens,
    limits,
    result_budgets,
)
from goliath_local.errors import ConfigError
from goliath_local.model import Stage

TABLE = {
    # window: reserve, conductor, worker, answer, scribe, one eighth, per result, in all
    512: (128, 128, 128, 128, 192, 64, 64, 128),
    1024: (128, 640, 384, 512, 704, 128, 128, 256),
    2048: (205, 1433, 1331, 1433, 1433, 256, 256, 512),
    4096: (410, 2867, 2867, 2867, 2867, 512, 512, 1024),
    8192: (820, 5734, 5734, 5734, 5734, 1024, 800, 2000),
    16384: (1639, 11468, 11468, 11468, 11468, 2048, 800, 2000),
    32768: (3277, 22937, 22937, 22937, 22937, 4096, 800, 2000),
}


@pytest.mark.parametrize("window", TABLE)
def test_the_limits_are_those_of_the_table(window: int) -> None:
    reserve, *by_stage, eighth, result, total = TABLE[window]
    found = [limits(stage, window) for stage in Stage]
    assert [limit.limit for limit in found] == by_stage
    assert {limit.reserve for limit in found} == {reserve}
    assert conversation_tokens(window) == eighth
    budgets = result_budgets(window)
    assert (budgets.tool_result_tokens, budgets.retrieved_context_tokens) == (result, total)


def test_the_defaults_are_a_window_of_4096_and_five_steps() -> None:
    assert (DEFAULT_WINDOW, DEFAULT_MAX_STEPS) == (4096, 5)


def test_the_output_caps_are_256_512_384_and_192() -> None:
    assert [OUTPUT_CAPS[stage] for stage in Stage] == [256, 512, 384, 192]
    assert [limits(stage, 4096).output_cap for stage in Stage] == [256, 512, 384, 192]


def test_at_window_512_a_worker_call_is_possible() -> None:
    worker = limits(Stage.WORKER, 512)
    assert (worker.requested_output, worker.output_cap, worker.limit) == (512, 256, 128)


@given(st.sampled_from(Stage), st.integers(1, 200_000))
def test_prompt_reply_and_reserve_never_exceed_the_window(stage: Stage, window: int) -> None:
    found = limits(stage, window)
    assert found.limit + found.output_cap + found.reserve <= window
    assert 10 * found.limit <= 7 * window
    assert 1 <= found.output_cap <= max(1, window // 2)


@pytest.mark.parametrize(
    "options",
    [
        {"tool_result_tokens": 0},
        {"tool_result_tokens": -1},
        {"tool_result_tokens": 1.5},
        {"tool_result_tokens": True},
        {"tool_result_tokens": "64"},
        {"retrieved_context_tokens": float("nan")},
        {"tool_result_tokens": 300, "retrieved_context_tokens": 200},
        {"tool_result_tokens": 2000},
        {"result_tokens": 5},
    ],
)
def test_an_impossible_budget_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="budgets: "):
        result_budgets(4096, options)


def test_given_budgets_replace_those_of_the_window() -> None:
    found = result_budgets(4096, {"tool_result_tokens": 40, "retrieved_context_tokens": 90})
    assert (found.tool_result_tokens, found.retrieved_context_tokens) == (40, 90)
