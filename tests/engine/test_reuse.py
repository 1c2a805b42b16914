"""Which parts of a prompt need not be evaluated again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.prompt import PromptPart
from goliath_local.engine.reuse import Reuse, boundaries, head_end, is_worth_saving, plan_reuse
from goliath_local.engine.snapshots import Snapshot, Snapshots


def part(*ids: int, head: bool = False) -> PromptPart:
    return PromptPart(name="p", ids=ids, template_tokens=0, is_head=head)


def test_a_shared_prefix_is_not_evaluated_twice():
    held = boundaries([part(1), part(2, 3), part(4)])
    wanted = boundaries([part(1), part(2, 3), part(5)])
    assert plan_reuse(held, wanted, saved=()) == Reuse(parts=2, is_held=True)


def test_the_last_part_is_always_evaluated_again():
    places = boundaries([part(1), part(2)])
    saved = {place.key for place in places}
    assert plan_reuse(places, places, saved=saved).parts == 1
    assert plan_reuse((), boundaries([part(1)]), saved=saved).parts == 0


def test_a_longer_saved_state_wins_over_what_is_held():
    wanted = boundaries([part(1), part(2), part(3)])
    held = boundaries([part(1), part(9)])
    assert plan_reuse(held, wanted, saved={wanted[1].key}) == Reuse(parts=2, is_held=False)
    assert plan_reuse(held, wanted, saved={wanted[0].key}) == Reuse(parts=1, is_held=True)


def test_the_same_ids_in_other_parts_are_another_prompt():
    assert boundaries([part(1, 2, 3)])[-1].key != boundaries([part(1), part(2, 3)])[-1].key
    assert boundaries([part(1, 2), part(3)])[-1].key != boundaries([part(1), part(2, 3)])[-1].key


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), min_size=1, max_size=5))
def test_a_key_names_the_whole_chain(chains: list[list[int]]):
    parts = [part(*ids) for ids in chains]
    places = boundaries(parts)
    assert [place.length for place in places] == [
        sum(len(p.ids) for p in parts[: i + 1]) for i in range(len(parts))
    ]
    assert boundaries(parts[:-1]) == places[:-1]


def test_the_end_of_the_head_is_saved_and_the_last_part_never():
    parts = [part(1, head=True), part(2, head=True), part(3), part(4)]
    assert head_end(parts) == 1
    assert head_end(parts[2:]) is None
    assert [is_worth_saving(i, parts, tokens_since_saved=1) for i in range(4)] == [
        False,
        True,
        False,
        False,
    ]
    assert is_worth_saving(2, parts, tokens_since_saved=500)
    assert not is_worth_saving(0, parts, tokens_since_saved=500)
    assert not is_worth_saving(3, parts, tokens_since_saved=500)


def snapshot(key: str, size: int) -> Snapshot:
    return Snapshot(key=key, length=1, state=np.zeros(size, dtype=np.uint8))


def test_the_least_recently_used_state_goes_first():
    snapshots = Snapshots(limit_bytes=30)
    for key in "abc":
        snapshots.keep(snapshot(key, 10))
    assert snapshots.find("a") is not None
    snapshots.keep(snapshot("d", 10))
    assert "b" not in snapshots
    assert all(key in snapshots for key in "acd")
    assert snapshots.size_bytes == 30


def head(key: str, size: int, length: int = 1) -> Snapshot:
    return Snapshot(key=key, length=length, state=np.zeros(size, dtype=np.uint8), is_head=True)


def test_a_state_within_a_prompt_takes_the_place_of_no_head():
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep(head("a", 20))
    snapshots.keep(snapshot("b", 10))
    snapshots.keep(snapshot("c", 10))
    assert "a" in snapshots
    assert ("b" in snapshots, "c" in snapshots) == (False, True)
    snapshots.keep(head("d", 10))
    assert ("c" in snapshots, "d" in snapshots) == (False, True)


def test_heads_used_in_turn_that_do_not_all_fit_do_not_cost_the_longest():
    snapshots = Snapshots(limit_bytes=40)
    stages = {"plan": 22, "arguments": 8, "answer": 9, "memory": 2}
    missed = []
    for _ in range(10):
        for key, size in stages.items():
            if snapshots.find(key) is None:
                missed.append(key)
                snapshots.keep(head(key, size, length=size))
    assert missed[:4] == list(stages)
    assert set(missed[4:]) == {"memory"}


def test_the_head_of_other_tools_takes_the_place_of_the_one_before():
    snapshots = Snapshots(limit_bytes=40)
    for key, size in (("plan", 22), ("arguments", 8), ("answer", 9), ("other plan", 21)):
        snapshots.keep(head(key, size, length=size))
    assert "other plan" in snapshots
    assert "plan" not in snapshots


def test_a_head_that_is_no_longer_in_use_goes_before_one_that_is():
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep(head("old", 20, length=20))
    for _ in range(12):
        snapshots.keep(head("new", 10, length=10))
    snapshots.keep(head("third", 15, length=15))
    assert "old" not in snapshots
    assert "new" in snapshots
    assert "third" in snapshots


def test_a_state_larger_than_the_room_is_not_kept():
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep(snapshot("a", 10))
    snapshots.keep(snapshot("b", 31))
    assert "b" not in snapshots
    assert "a" in snapshots


@pytest.mark.parametrize("size", [5, 25])
def test_keeping_a_key_again_replaces_its_state(size: int):
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep(snapshot("a", 20))
    snapshots.keep(snapshot("a", size))
    assert (len(snapshots), snapshots.size_bytes) == (1, size)
