"""The five built-in fixtures, and the two tools they are about.

Pure. The fixtures are the smallest honest check that a model can be trusted with a turn: a read,
a write, a write that depends on a read, no tool at all, and an ask beyond the device. Prompts
are never tuned on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.evals.fixture import ExpectedTurn, Fixture
from goliath_local.evals.simulator import Store

if TYPE_CHECKING:
    from goliath_local.tools import Tool

SAMPLE_TOOLSET = {
    "tools": [
        {
            "name": "list_tasks",
            "description": "The user's open tasks for today.",
            "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
            "behaviour": {"kind": "list", "from": "tasks"},
        },
        {
            "name": "create_task",
            "description": "Put a new task on the list.",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string", "description": "what is to be done"}},
                "required": ["title"],
                "additionalProperties": False,
            },
            "writes": True,
            "behaviour": {
                "kind": "append",
                "to": "tasks",
                "fields": ["title"],
                "returns": "record",
                "defaults": {"ok": True},
            },
        },
    ],
    "state": {"tasks": [{"title": "buy milk"}, {"title": "call mom"}]},
}


def sample_tools() -> list[Tool]:
    """Return the two sample tools over a fresh list of two tasks."""
    return Store(SAMPLE_TOOLSET).tools()


def _one_turn(
    name: str,
    ask: str,
    *tools: str,
    mentions: tuple[str, ...] = (),
    is_handed_over: bool = False,
) -> Fixture:
    turn = ExpectedTurn(
        ask=ask,
        sequences=(tools,),
        handled_by="cloud" if is_handed_over else "device",
        escalation="expected" if is_handed_over else "forbidden",
        mentions=tuple((text,) for text in mentions),
    )
    return Fixture(id=name, turns=(turn,))


fixtures: tuple[Fixture, ...] = (
    _one_turn("list-today", "What's on my list today?", "list_tasks", mentions=("milk",)),
    _one_turn("add-task", "Put buying eggs on my list.", "create_task", mentions=("eggs",)),
    _one_turn(
        "add-after-check",
        "Add a call to the dentist, unless it is on my list already.",
        "list_tasks",
        "create_task",
        mentions=("dentist",),
    ),
    _one_turn("small-talk", "Good morning!"),
    _one_turn(
        "plan-week",
        "Plan my whole week around the conference and the school play, "
        "and move everything that clashes.",
        is_handed_over=True,
    ),
)
"""Expected of any model that is good enough: four on the device, one handed over."""
