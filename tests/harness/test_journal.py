"""A process that ends in a tool leaves a trace of the call, and a conversation that loads."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from goliath_local import create_agent, define_tool, sqlite_memory
from goliath_local.testing import fake_model

DIES = textwrap.dedent(
    """
    import os, sys
    from goliath_local import create_agent, define_tool, sqlite_memory
    from goliath_local.testing import fake_model

    script = [
        {"json": {"kind": "tool", "tool": "open_gate", "brief": "open it"}},
        {"json": {"gate": "north"}},
    ]
    gate = define_tool(
        name="open_gate",
        description="Open a gate.",
        parameters={
            "type": "object",
            "properties": {"gate": {"type": "string"}},
            "required": ["gate"],
        },
        execute=lambda args, context: os._exit(9),
        writes=True,
    )
    memory = sqlite_memory(sys.argv[1])
    create_agent(model=fake_model(script), tools=[gate], memory=memory).run_sync("Open the gate")
    """
)


def gate(execute=lambda args, context: "open"):
    return define_tool(
        name="open_gate",
        description="Open a gate.",
        parameters={"type": "object", "properties": {}},
        execute=execute,
        writes=True,
    )


CALL = {"json": {"kind": "tool", "tool": "open_gate", "brief": "open it"}}


async def test_after_a_crash_in_a_tool_the_conversation_loads_and_shows_the_step_as_interrupted(
    tmp_path,
):
    path = tmp_path / "memory.sqlite"
    died = subprocess.run([sys.executable, "-c", DIES, str(path)], check=False, timeout=600)
    assert died.returncode == 9

    memory = sqlite_memory(path)
    (exchange,) = (await memory(None).load()).recent
    assert exchange.ask == "Open the gate"
    (step,) = exchange.steps
    assert (step.tool, step.input, step.status) == ("open_gate", {"gate": "north"}, "interrupted")

    model = fake_model([{"json": {"kind": "answer", "brief": "say"}}, {"text": "I do not know."}])
    result = await create_agent(model=model, tools=[gate()], memory=memory).run("Is it open?")
    assert result.text == "I do not know."
    assert "[interrupted]" in model.calls[0].prompt


async def test_a_turn_that_saved_leaves_one_exchange_and_no_note(tmp_path):
    memory = sqlite_memory(tmp_path / "memory.sqlite")
    script = [CALL, {"json": {"kind": "answer", "brief": "say"}}, {"text": "It is open."}]
    await create_agent(model=fake_model(script), tools=[gate()], memory=memory).run("Open it")
    (exchange,) = (await memory(None).load()).recent
    assert [step.status for step in exchange.steps] == ["completed", "completed"]


async def test_a_turn_that_raised_takes_its_note_back(tmp_path):
    memory = sqlite_memory(tmp_path / "memory.sqlite")

    def confirm(_request):
        return True

    def fallback(_request):
        raise OSError("no network")

    script = [CALL, {"json": {"kind": "escalate", "brief": "too hard"}}]
    agent = create_agent(
        model=fake_model(script),
        tools=[gate()],
        memory=memory,
        confirm=confirm,
        fallback=fallback,
    )
    with pytest.raises(OSError, match="no network"):
        await agent.run("Open it")
    assert (await memory(None).load()).recent == ()


async def test_a_note_that_cannot_be_kept_costs_an_event_and_nothing_else(tmp_path):
    class Full:
        def __init__(self):
            self.inner = sqlite_memory(tmp_path / "memory.sqlite")(None)

        async def load(self):
            return await self.inner.load()

        async def save(self, state):
            await self.inner.save(state)

        async def note(self, exchange):
            raise OSError("disk full")

    script = [CALL, {"json": {"kind": "answer", "brief": "say"}}, {"text": "It is open."}]
    result = await create_agent(model=fake_model(script), tools=[gate()], memory=Full()).run("Go")
    assert result.text == "It is open."
    assert [event.error for event in result.trace if event.type == "memory-error"] == [
        "OSError: disk full"
    ]
