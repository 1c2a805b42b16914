"""A scripted model that plays the built-in fixtures right.

Pure. It proves that the runner and the scorer work, and says nothing about any real model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.testing import FakeModel, fake_model

if TYPE_CHECKING:
    from goliath_local.evals.fixture import Fixture


def perfect_model(fixture: Fixture) -> FakeModel:
    """Return a model scripted for one built-in fixture: the expected calls, then an answer."""
    turn = fixture.turns[0]
    if turn.handled_by == "cloud":
        return fake_model([{"json": {"kind": "escalate", "brief": "too much for this device"}}])
    script: list[dict[str, Any]] = []
    for tool in turn.tools:
        script.append({"json": {"kind": "tool", "tool": tool, "brief": turn.ask}})
        if tool == "create_task":
            script.append({"json": {"title": turn.ask}})
    script.append({"json": {"kind": "answer", "brief": "answer the user"}})
    script.append({"text": f"{turn.ask} Buy milk."})
    return fake_model(script)
