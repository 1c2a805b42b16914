from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goliath_local.budget import Block, estimate_tokens, select_recent

HEADING = "Earlier (for reference only):\n"
LINES = st.text("abc déf漢\n", max_size=200)
BLOCKS = st.lists(
    st.lists(LINES, min_size=2, max_size=3).map(lambda lines: Block(lines=tuple(lines))),
    max_size=4,
)


def exchange(number: int, length: int = 40) -> Block:
    return Block(lines=(f"User: ask {number} " + "x" * length, f"Assistant: answer {number}"))


def test_everything_is_shown_oldest_first_when_it_fits() -> None:
    shown = select_recent(HEADING, [exchange(1), exchange(2)], 200)
    assert shown.text == HEADING + exchange(1).text + "\n\n" + exchange(2).text
    assert (shown.kept, shown.dropped, shown.clipped) == (2, 0, False)


def test_the_newest_exchanges_are_kept_first() -> None:
    shown = select_recent(HEADING, [exchange(n, 200) for n in range(3)], 120)
    assert "ask 2" in shown.text
    assert "ask 0" not in shown.text
    assert (shown.kept, shown.dropped) == (1, 2)


def test_the_first_exchange_that_does_not_fit_ends_the_walk_though_an_older_one_would_fit() -> (
    None
):
    shown = select_recent(HEADING, [exchange(0, 4), exchange(1, 2000), exchange(2, 4)], 120)
    assert "ask 2" in shown.text
    assert "ask 0" not in shown.text
    assert (shown.kept, shown.dropped) == (1, 2)


def test_a_huge_newest_ask_still_leaves_its_answer_visible() -> None:
    shown = select_recent(HEADING, [exchange(0), exchange(1, 20_000)], 200)
    assert "Assistant: answer 1" in shown.text
    assert shown.text.startswith(HEADING + "User: ask 1 xxx")
    assert (shown.kept, shown.dropped, shown.clipped) == (1, 1, True)


def test_a_call_and_its_result_are_never_separated() -> None:
    block = Block(lines=("User: a", "Assistant: b", "Actions:\n1. f() → ok"))
    for budget in range(120):
        text = select_recent(HEADING, [block], budget).text
        assert ("1. f()" in text) == ("→ ok" in text) or text.endswith("…")


def test_nothing_is_shown_when_the_heading_does_not_fit() -> None:
    shown = select_recent(HEADING, [exchange(1)], estimate_tokens(HEADING) - 1)
    assert (shown.text, shown.kept, shown.dropped) == ("", 0, 1)


def test_no_heading_stands_alone() -> None:
    assert select_recent(HEADING, [], 100).text == ""
    assert select_recent(HEADING, [exchange(1)], estimate_tokens(HEADING) + 1).text == ""


@given(BLOCKS, st.integers(0, 300))
def test_what_is_shown_never_exceeds_its_budget(blocks: list[Block], budget: int) -> None:
    assert estimate_tokens(select_recent(HEADING, blocks, budget).text) <= budget


@given(BLOCKS, st.integers(0, 300))
def test_what_is_kept_is_the_newest_without_a_gap(blocks: list[Block], budget: int) -> None:
    shown = select_recent(HEADING, blocks, budget)
    assert shown.kept + shown.dropped == len(blocks)
    if shown.kept and not shown.clipped:
        kept = blocks[len(blocks) - shown.kept :]
        assert shown.text == HEADING + "\n\n".join(block.text for block in kept)
