"""Which parts of a prompt need not be evaluated again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.prompt import PromptPart
from goliath_local.engine.reuse import (
    Boundary,
    Reuse,
    boundaries,
    head_end,
    plan_reuse,
    standing_end,
)
from goliath_local.engine.snapshots import IDLE_USES, Snapshot, Snapshots


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


def test_the_head_ends_with_its_last_part():
    parts = [part(1, head=True), part(2, head=True), part(3), part(4)]
    assert head_end(parts) == 1
    assert head_end(parts[2:]) is None


def test_what_the_next_prompt_may_begin_with_is_all_but_the_last_part():
    parts = [part(1, head=True), part(2), part(3), part(4)]
    assert standing_end(parts, goes_on=True) == 2
    assert standing_end(parts, goes_on=False) is None
    assert standing_end(parts[:2], goes_on=True) is None
    assert standing_end(parts[1:], goes_on=True) == 1
    assert standing_end(parts[:1], goes_on=True) is None


def snapshot(key: str, size: int, length: int = 1, *, marks: str = "") -> Snapshot:
    places = tuple(Boundary(key=mark, length=1) for mark in marks)
    state = np.zeros(size, dtype=np.uint8)
    return Snapshot(key=key, length=length, state=state, marks=places)


def keep(snapshots: Snapshots, key: str, size: int, length: int = 1) -> None:
    snapshots.keep(key, snapshot(key, size, length))


def test_the_least_recently_used_state_goes_first():
    snapshots = Snapshots(limit_bytes=30)
    for key in "abc":
        keep(snapshots, key, 10)
    assert snapshots.find("a") is not None
    keep(snapshots, "d", 10)
    assert "b" not in snapshots
    assert all(key in snapshots for key in "acd")
    assert snapshots.size_bytes == 30


def test_a_state_is_found_by_each_place_that_it_reaches():
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep("head", snapshot("c", 10, marks="ab"))
    for place in "abc":
        found = snapshots.find(place)
        assert found is not None
        assert found.key == "c"
    snapshots.drop("a")
    assert (len(snapshots), snapshots.size_bytes) == (0, 0)
    assert not any(place in snapshots for place in "abc")


def test_there_is_one_state_for_a_head():
    snapshots = Snapshots(limit_bytes=30)
    snapshots.keep("head", snapshot("b", 10, marks="a"))
    snapshots.keep("head", snapshot("c", 20))
    assert (len(snapshots), snapshots.size_bytes) == (1, 20)
    assert ("a" in snapshots, "c" in snapshots) == (False, True)


def test_room_is_made_by_what_it_replaces_and_by_what_is_no_longer_in_use():
    snapshots = Snapshots(limit_bytes=30)
    for key in ("old", "own", "other"):
        keep(snapshots, key, 10)
    assert snapshots.make_room("own", 10)
    assert "own" not in snapshots
    keep(snapshots, "own", 10)
    for _ in range(IDLE_USES):
        snapshots.find("own")
    snapshots.find("other")
    assert snapshots.make_room("own", 20)
    assert ("old" in snapshots, "other" in snapshots) == (False, True)


def test_where_no_room_can_be_made_nothing_goes():
    snapshots = Snapshots(limit_bytes=30)
    for key in ("one", "own", "other"):
        keep(snapshots, key, 10)
    assert not snapshots.make_room("own", 11)
    assert (len(snapshots), snapshots.size_bytes) == (3, 30)


def test_heads_used_in_turn_that_do_not_all_fit_do_not_cost_the_longest():
    snapshots = Snapshots(limit_bytes=40)
    stages = {"plan": 22, "arguments": 8, "answer": 9, "memory": 2}
    missed = []
    for _ in range(10):
        for key, size in stages.items():
            if snapshots.find(key) is None:
                missed.append(key)
                keep(snapshots, key, size, size)
    assert missed[:4] == list(stages)
    assert set(missed[4:]) == {"memory"}


def test_the_head_of_other_tools_takes_the_place_of_the_one_before():
    snapshots = Snapshots(limit_bytes=40)
    for key, size in (("plan", 22), ("arguments", 8), ("answer", 9), ("other plan", 21)):
        keep(snapshots, key, size, size)
    assert "other plan" in snapshots
    assert "plan" not in snapshots


def test_a_head_that_is_no_longer_in_use_goes_before_one_that_is():
    snapshots = Snapshots(limit_bytes=30)
    keep(snapshots, "old", 20, 20)
    for _ in range(12):
        keep(snapshots, "new", 10, 10)
    keep(snapshots, "third", 15, 15)
    assert "old" not in snapshots
    assert "new" in snapshots
    assert "third" in snapshots


def test_a_state_larger_than_the_room_is_not_kept():
    snapshots = Snapshots(limit_bytes=30)
    keep(snapshots, "a", 10)
    keep(snapshots, "b", 31)
    assert "b" not in snapshots
    assert "a" in snapshots


@pytest.mark.parametrize("size", [5, 25])
def test_keeping_a_key_again_replaces_its_state(size: int):
    snapshots = Snapshots(limit_bytes=30)
    keep(snapshots, "a", 20)
    keep(snapshots, "a", size)
    assert (len(snapshots), snapshots.size_bytes) == (1, size)
