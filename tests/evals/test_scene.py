"""What an attempt plays in: tools that note what does not fit, writes that only pretend."""

from __future__ import annotations

import asyncio

import pytest

from goliath_local.errors import ConfigError
from goliath_local.evals.fixture import ExpectedTurn, Fixture
from goliath_local.evals.run import run_evals
from goliath_local.evals.scene import dry, misfits, open_scene, watched
from goliath_local.testing import fake_model
from goliath_local.tools import tool

SCHEMA = {
    "type": "object",
    "properties": {"day": {"type": "string", "enum": ["mon", "tue"]}, "n": {"type": "integer"}},
    "required": ["day"],
    "additionalProperties": False,
}


@tool
def find_note(word: str) -> list[str]:
    """Find notes."""
    return [f"note about {word}"]


@tool(writes=True)
def drop_note(word: str, *, times: int = 1) -> str:
    """Delete a note."""
    raise AssertionError("an eval wrote something")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"day": "mon", "n": 1}, 0),
        ({"day": "wed"}, 1),
        ({"n": 1}, 1),
        ({"day": "mon", "n": "1", "more": 0}, 2),
    ],
)
def test_arguments_that_do_not_fit_are_found_one_by_one(arguments, found):
    assert len(misfits(SCHEMA, arguments)) == found


def test_a_misfit_says_where_and_what():
    (text,) = misfits(SCHEMA, {"day": "wed"})
    assert text.startswith(".day: 'wed' is not one of")


def test_invalid_arguments_that_reach_a_tool_are_noted_and_the_tool_still_runs():
    noted: list[str] = []
    assert watched(find_note, noted.append).execute({"word": 5}, None) == ["note about 5"]
    assert noted == ["find_note.word: 5 is not of type 'string'"]


def test_a_tool_that_writes_only_says_that_it_was_done():
    assert dry(drop_note).execute({"word": "a", "times": 2}, None) == {
        "done": True,
        "word": "a",
        "times": 2,
    }
    assert dry(find_note) is find_note


def test_every_attempt_gets_its_own_scene():
    fixture = Fixture(id="x", turns=())
    first, second = open_scene(fixture, {}), open_scene(fixture, {})
    first.store.state["tasks"].clear()
    assert second.state()["tasks"]


def test_a_tool_set_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match=r"'tasks'; known: calendar"):
        open_scene(Fixture(id="x", toolset="tasks", turns=()), {"calendar": {}})


def test_own_tools_have_no_store_to_look_into():
    turn = ExpectedTurn(ask="?", sequences=((),), state_after={"unchanged": True})
    with pytest.raises(ConfigError, match="state_after"):
        open_scene(Fixture(id="x", turns=(turn,)), {}, own=[find_note])


def test_own_tools_are_played_dry():
    turn = ExpectedTurn(ask="drop it", sequences=(("drop_note",),))
    script = [
        {"json": {"kind": "tool", "tool": "drop_note", "brief": "drop milk"}},
        {"json": {"word": "milk"}},
        {"json": {"kind": "answer", "brief": "say so"}},
        {"text": "Dropped."},
    ]
    report = asyncio.run(
        run_evals(
            fake_model(script), [Fixture(id="x", turns=(turn,))], tools=[find_note, drop_note]
        )
    )
    assert report.passed == 1
    assert report.invalid_calls == ()
