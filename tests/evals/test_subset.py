"""The fixed part of a set: all kinds, chosen by name."""

from __future__ import annotations

import gzip
from pathlib import Path

from goliath_local.evals.bfcl import read_cases
from goliath_local.evals.sets import read_set
from goliath_local.evals.subset import of_few_tool_sets, subset

DEV = read_set("dev").fixtures


def test_a_part_of_the_dev_set_has_every_kind_and_the_order_of_the_set():
    part = subset(DEV, 24)
    assert len(part) == 24
    assert {one.kind for one in part} == {one.kind for one in DEV}
    assert [one.id for one in DEV if one in part] == [one.id for one in part]


def test_a_larger_part_holds_the_smaller_one():
    smaller, larger = subset(DEV, 11), subset(DEV, 24)
    assert {one.id for one in smaller} < {one.id for one in larger}


def test_the_order_of_the_set_and_new_cases_do_not_change_what_is_drawn_of_the_others():
    drawn = {one.id for one in subset(DEV, 24)}
    assert {one.id for one in subset(DEV[::-1], 22)} == {one.id for one in subset(DEV, 22)}
    without = [one for one in DEV if one.id in drawn or one.kind != "single-read"]
    assert {one.id for one in subset(without, 24)} == drawn


def test_more_than_there_is_is_all_of_it():
    assert subset(DEV, 1000) == DEV
    assert subset((), 5) == ()


def test_cases_of_one_kind_are_drawn_too():
    path = Path(__file__).parents[2] / "evals" / "bfcl" / "irrelevance.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        assert len(subset(read_cases(lines), 12)) == 12


def test_a_part_can_be_of_few_tool_sets_and_holds_all_their_fixtures():
    some = of_few_tool_sets(DEV, 3)
    names = {fixture.toolset for fixture in some}
    assert len(names) == 3
    assert some == tuple(fixture for fixture in DEV if fixture.toolset in names)
    assert of_few_tool_sets(DEV, 99) == tuple(DEV)
