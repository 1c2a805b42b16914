from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import compact_result, estimate_tokens, excerpt, omitted_excerpts
from goliath_local.errors import ConfigError

MARKER = re.compile(r"\[… (\d+) tokens left out …\]")
TEXT = st.text("ab c\né漢😀", max_size=600)
PAGE = "\n".join(f"line {n} of a long page" for n in range(400))


def test_a_text_within_its_budget_is_shown_literally() -> None:
    assert excerpt("  as it is \n", 20) == "  as it is \n"


def test_a_long_text_keeps_head_and_tail_around_a_marker_on_its_own_line() -> None:
    shown = excerpt(PAGE, 200)
    head, marker, tail = re.split(r"\n(?=\[…)|(?<=…\])\n", shown)
    assert PAGE.startswith(head)
    assert PAGE.endswith(tail)
    assert MARKER.fullmatch(marker)
    assert len(head) > 2 * len(tail) > 0


def test_the_marker_says_how_many_tokens_were_left_out() -> None:
    shown = excerpt(PAGE, 200)
    found = MARKER.search(shown)
    assert found is not None
    head, tail = shown[: found.start() - 1], shown[found.end() + 1 :]
    left_out = estimate_tokens(PAGE) - estimate_tokens(head) - estimate_tokens(tail)
    assert abs(int(found[1]) - left_out) <= 1


def test_the_tail_starts_with_a_whole_line() -> None:
    assert re.search(r"…\]\nline \d+ of", excerpt(PAGE, 200))


def test_a_small_budget_goes_to_the_head_alone() -> None:
    shown = excerpt(PAGE, 40)
    assert MARKER.search(shown.splitlines()[-1])


def test_a_budget_that_does_not_hold_the_marker_is_an_error() -> None:
    with pytest.raises(ConfigError, match="tool_result_tokens"):
        excerpt(PAGE, 5)


@given(TEXT, st.integers(14, 300))
def test_an_excerpt_never_exceeds_its_budget(text: str, budget: int) -> None:
    shown = excerpt(text, budget)
    assert estimate_tokens(shown) <= budget
    assert (shown == text) == (estimate_tokens(text) <= budget)


@given(TEXT, st.integers(0, 12), st.integers(14, 300))
def test_an_excerpt_never_exceeds_its_budget_by_any_counter(
    text: str, noise: int, budget: int
) -> None:
    def count(text: str) -> int:
        return len(text) // 3 + (len(text) * 7 % 5) + (noise if "c" in text else 0)

    try:
        shown = excerpt(text, budget, count=count)
    except ConfigError:
        return
    assert count(shown) <= budget


def test_older_excerpts_are_left_out_once_the_allowance_is_used() -> None:
    texts = ["a" * 400, "b" * 400, "c" * 400]
    assert omitted_excerpts(texts, 250) == {0}
    assert omitted_excerpts(texts, 100) == {0, 1, 2}


def test_a_smaller_older_excerpt_may_still_be_shown() -> None:
    assert omitted_excerpts(["a" * 40, "b" * 4000, "c" * 40], 40) == {1}


def test_steps_in_summary_mode_cost_nothing_of_the_allowance() -> None:
    assert omitted_excerpts([None, "b" * 40, None], 12) == frozenset()


@given(st.lists(st.none() | TEXT, max_size=6), st.integers(0, 400))
def test_the_excerpts_that_stay_fit_the_allowance(texts: list[str | None], budget: int) -> None:
    left_out = omitted_excerpts(texts, budget)
    kept = [text for at, text in enumerate(texts) if text is not None and at not in left_out]
    assert sum(map(estimate_tokens, kept)) <= budget


def test_a_compact_result_is_the_first_line_of_at_most_100_characters() -> None:
    assert compact_result("one\ntwo") == "one"
    assert compact_result("\n\n") == ""
    assert len(compact_result("x" * 300)) == 100
