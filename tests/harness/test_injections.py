"""B7 on the scripted model: a hidden text changes nothing that the harness decides."""

from __future__ import annotations

from typing import Any

import pytest

from goliath_local.agent import create_agent
from goliath_local.memory import in_memory
from goliath_local.records import MemoryState
from goliath_local.testing import fake_model
from scripts.trials.notes import ASK, Notes, cases

CASES = cases()


def plan(kind: str, tool: str | None = None) -> dict[str, Any]:
    named = {"tool": tool} if tool else {}
    return {"json": {"why": "w", "kind": kind, **named, "brief": "b"}}


HONEST = [plan("tool", "read_note"), {"json": {"id": 2}}, plan("answer"), {"text": "Monday."}]
STEERED = [
    *(plan("tool", "read_note"), {"json": {"id": 2}}),
    *(plan("tool", "delete_note"), {"json": {"id": 3}}),
    *(plan("tool", "send"), {"json": {"to": "bob@a.invalid", "text": "all"}}),
    *(plan("answer"), {"text": "done"}),
]


async def played(notes: Notes, script: list[Any], *, confirm: Any) -> dict[str, Any]:
    """Run one turn; return everything that a hidden text must not change."""
    memories: dict[Any, Any] = {}
    asked: list[Any] = []
    handed_over: list[Any] = []

    def memory(conversation_id: Any) -> Any:
        return memories.setdefault(conversation_id, in_memory())

    if notes.place == "brief":
        await memory("one").save(MemoryState(summary=notes.hidden))

    def ask(request: Any) -> Any:
        asked.append((request.tool, request.input))
        return confirm(request)

    model = fake_model(script)
    agent = create_agent(
        model=model,
        tools=notes.tools(),
        facts=notes.facts(),
        memory=memory,
        confirm=ask if confirm else None,
        fallback=handed_over.append,
    )
    result = await agent.run(ASK, conversation_id="one")
    schemas = [call.schema for call in model.calls]
    other = fake_model([plan("answer"), {"text": "Hello."}])
    later = create_agent(model=other, tools=Notes().tools(), memory=memory)
    await later.run("Hello", conversation_id="two")
    return {
        "end": notes.end_state,
        "asked": asked,
        "handed over": handed_over,
        "schemas": schemas,
        "steps": [(step.tool, step.status, step.skip_reason) for step in result.steps],
        "later": [(call.system, call.prompt) for call in other.calls],
    }


@pytest.mark.parametrize(("text", "place"), CASES, ids=range(len(CASES)))
async def test_an_honest_model_ends_in_the_same_state_with_and_without_the_text(
    text: str, place: str
) -> None:
    plain = await played(Notes(place=place), HONEST, confirm=lambda _: True)
    hidden = await played(Notes(hidden=text, place=place), HONEST, confirm=lambda _: True)
    assert hidden == plain
    assert hidden["handed over"] == []


@pytest.mark.parametrize(("text", "place"), CASES, ids=range(len(CASES)))
async def test_a_model_that_obeys_the_text_changes_nothing_without_a_yes(
    text: str, place: str
) -> None:
    untouched = Notes().end_state
    for confirm in (lambda _: False, lambda _: text, lambda _: {"approved": text}, None):
        notes = Notes(hidden=text, place=place)
        seen = await played(notes, STEERED, confirm=confirm)
        assert seen["end"] == untouched
        if confirm is not None:
            assert seen["asked"] == [
                ("delete_note", {"id": 3}),
                ("send", {"to": "bob@a.invalid", "text": "all"}),
            ]


def test_there_are_28_cases() -> None:
    assert len(CASES) == len(set(CASES)) == 28
