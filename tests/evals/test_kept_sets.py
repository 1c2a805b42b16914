"""The sets that are kept beside the dev set can be played, and share nothing with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from goliath_local.evals.scene import verify_playable
from goliath_local.evals.sets import read_set

FOLDER = Path(__file__).parents[2] / "evals" / "fixtures"
SIZES = {"dev": 96, "second": 40, "held_back": 40, "third": 32, "third_held_back": 32}


def kept(name: str):
    return read_set("dev" if name == "dev" else str(FOLDER / f"{name}.jsonl"))


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_every_fixture_of_a_kept_set_has_its_tools(name: str, size: int):
    found = kept(name)
    verify_playable(found.fixtures, found.toolsets, own=None)
    assert len(found.fixtures) == size


def test_no_ask_is_in_two_kept_sets():
    asks = [turn.ask for name in SIZES for one in kept(name).fixtures for turn in one.turns]
    names = [one.id for name in SIZES for one in kept(name).fixtures]
    assert len(set(names)) == len(names)
    assert len(set(asks)) == len(asks)
