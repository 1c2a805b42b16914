from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import clip, clip_tokens, clip_words, estimate_tokens

TEXT = st.text(st.characters(codec=None), max_size=300)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 4),
        ("a" * 400, 115),
        ("é", 2),
        ("漢", 3),
        ("😀", 4),
        ("…", 3),
        ("x" * 12_000, 3450),
        ("x" * 30_000, 8625),
    ],
)
def test_the_estimate_has_the_figures_of_the_specification(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(TEXT)
def test_the_estimate_is_its_formula_for_any_text_lone_surrogates_included(text: str) -> None:
    ascii_characters = sum(ord(letter) < 128 for letter in text)
    others = sum(
        len(letter.encode("utf-8", "surrogatepass")) for letter in text if ord(letter) > 127
    )
    assert estimate_tokens(text) == math.ceil(ascii_characters / 4 * 1.15) + others


@pytest.mark.parametrize("budget", [0, 1, 4, 128, 512])
@pytest.mark.parametrize("text", ["plain English words " * 200, "漢字かな交じり文" * 200])
def test_clipping_never_exceeds_its_budget(text: str, budget: int) -> None:
    clipped = clip_tokens(text, budget)
    assert estimate_tokens(clipped) <= budget
    assert clipped == "" or clipped.endswith("…")
    assert (clipped == "") == (budget < 3)


@given(TEXT, st.integers(0, 120))
def test_a_clipped_text_is_the_longest_beginning_that_fits(text: str, budget: int) -> None:
    clipped = clip_tokens(text, budget)
    assert estimate_tokens(clipped) <= budget or clipped == text == ""
    if clipped == text:
        return
    if budget < 3:
        assert clipped == ""
        return
    length = len(clipped) - 1
    assert clipped == text[:length] + "…"
    assert estimate_tokens(text[: length + 1] + "…") > budget


@given(TEXT, st.integers(0, 60), st.integers(1, 7))
def test_clipping_stays_within_its_budget_by_any_counter(
    text: str, budget: int, width: int
) -> None:
    def count(text: str) -> int:
        # Like a tokenizer: not additive, and not even growing with every character.
        return len(text) // width + (len(text) % 3 == 0)

    clipped = clip_tokens(text, budget, count=count)
    assert clipped == "" or count(clipped) <= budget


def test_counting_does_not_try_a_huge_text_whole_again_and_again() -> None:
    seen: list[int] = []

    def count(text: str) -> int:
        seen.append(len(text))
        return len(text) // 4

    assert count(clip_tokens("word " * 400_000, 100, count=count)) <= 100
    assert sum(length > 10_000 for length in seen) == 1


@given(TEXT, st.integers(-1, 90))
def test_a_text_clipped_by_characters_is_never_longer(text: str, most: int) -> None:
    clipped = clip(text, most)
    assert len(clipped) <= max(0, most)
    assert clipped == text or clipped == "" or clipped.endswith("…")


def test_blank_ends_go_before_the_ellipsis_of_a_clipped_text() -> None:
    assert clip("one   two", 6) == "one…"


def test_a_brief_loses_words_from_the_end_of_its_longest_line() -> None:
    brief = "Goal: tidy up\nDone: " + " ".join(f"d{n}" for n in range(70)) + "\nNext: ask"
    clipped = clip_words(brief, 60)
    assert len(clipped.split()) == 60
    assert clipped.startswith("Goal: tidy up\nDone: d0 ")
    assert clipped.endswith("\nNext: ask")


def test_a_brief_of_sixty_words_keeps_its_spelling() -> None:
    brief = "Goal:  a\n" + "w " * 58
    assert clip_words(brief, 60) == brief


@given(st.text("ab \n", max_size=200), st.integers(0, 20))
def test_a_clipped_brief_has_at_most_its_words(brief: str, most: int) -> None:
    assert len(clip_words(brief, most).split()) <= most
