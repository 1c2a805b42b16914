"""A tool that was there when a turn was planned and is gone when it is called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from goliath_local import create_agent
from goliath_local.mcp import mcp_tools
from goliath_local.testing import fake_model
from goliath_local.tools import Tool, define_tool

SERVERS = str(Path(__file__).with_name("servers.py"))


def plan(kind: str, **more: str) -> dict[str, Any]:
    return {"json": {"why": "w", "kind": kind, "brief": "b", **more}}


@pytest.mark.slow
async def test_a_tool_that_its_server_no_longer_has_is_a_failed_step_the_model_sees() -> None:
    script = [
        plan("tool", tool="once"),
        {"json": {"word": "one"}},
        plan("tool", tool="once"),
        {"json": {"word": "two"}},
        plan("answer"),
        {"text": "It is gone."},
    ]
    with mcp_tools([sys.executable, SERVERS, "fleeting"]) as server:
        result = await create_agent(model=fake_model(script), tools=server.tools).run("twice")
    assert [step.status for step in result.steps] == ["completed", "failed", "completed"]
    assert "once" in (result.steps[1].result or "")
    assert result.text == "It is gone."


async def test_a_tool_taken_out_of_the_mapping_in_the_middle_of_a_turn_still_answers() -> None:
    kit: dict[str, Tool] = {}
    kit["look"] = define_tool(
        name="look",
        description="Looks.",
        parameters={"type": "object", "properties": {}},
        execute=lambda _arguments, _context: kit.clear() or "seen",
    )
    script = [plan("tool", tool="look"), plan("answer"), {"text": "Seen."}]
    agent = create_agent(model=fake_model(script), tools=kit)
    result = await agent.run("look")
    assert (result.text, kit) == ("Seen.", {})
    assert result.steps[0].result == "seen"
