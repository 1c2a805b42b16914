"""Scripted turns in few words: items of a script, tools that remember their calls, an agent."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.agent import create_agent
from goliath_local.testing import FakeModel, fake_model
from goliath_local.tools import Tool, define_tool

if TYPE_CHECKING:
    from goliath_local.harness import RunResult


class Play:
    """An agent on a script, and what its model was asked."""

    def __init__(self, script: list[dict[str, Any]], **options: Any) -> None:
        self.model: FakeModel = fake_model(script)
        options.setdefault("built_in_examples", False)
        self.agent = create_agent(**{"model": self.model, **options})

    async def run(self, ask: str = "Water the basil", **options: Any) -> RunResult:
        return await self.agent.run(ask, **options)

    @property
    def calls(self) -> list[Any]:
        return self.model.calls

    def asked(self, label: str) -> list[Any]:
        return [call for call in self.model.calls if call.label == label]


def _made(
    name: str = "look", output: Any = "all well", properties: Any = None, **options: Any
) -> SimpleNamespace:
    """A tool and the arguments it was run with."""
    ran: list[Any] = []

    async def execute(arguments: Any, context: Any) -> Any:
        ran.append(arguments)
        if isinstance(output, BaseException):
            raise output
        return output(arguments, context) if callable(output) else output

    schema = {
        "type": "object",
        "properties": properties or {},
        "required": options.pop("required", list(properties or {})),
    }
    tool: Tool = define_tool(
        name=name,
        description=options.pop("description", f"Does {name}."),
        parameters=options.pop("parameters", schema),
        execute=execute,
        **options,
    )
    return SimpleNamespace(tool=tool, ran=ran)


TITLE = {"title": {"type": "string"}}


@pytest.fixture
def play() -> type[Play]:
    return Play


@pytest.fixture
def make() -> Any:
    """make(name, output, properties, **options) → .tool and .ran"""
    return _made


@pytest.fixture
def writer() -> Any:
    """A write tool with one argument."""
    return _made("write", {"ok": True}, TITLE, writes=True)


@pytest.fixture
def say() -> SimpleNamespace:
    """Items of a script."""

    def tool(name: str, brief: str = "do it", **more: Any) -> dict[str, Any]:
        return {"json": {"why": "needed", "kind": "tool", "tool": name, "brief": brief}, **more}

    def plan(kind: str, brief: str = "tell it", **more: Any) -> dict[str, Any]:
        return {"json": {"why": "known", "kind": kind, "brief": brief}, **more}

    return SimpleNamespace(
        tool=tool,
        answer=plan("answer"),
        escalate=plan("escalate", "too large"),
        plan=plan,
        done=[plan("answer"), {"text": "All done."}],
        text=lambda text: {"text": text},
        json=lambda value, **more: {"json": value, **more},
        error=lambda error: {"error": error},
    )


def _types(result: Any) -> list[str]:
    return [event.type for event in result.trace]


def _reasons(result: Any) -> list[str]:
    return [event.reason.value for event in result.trace if event.type == "escalate"]


@pytest.fixture
def types() -> Any:
    return _types


@pytest.fixture
def reasons() -> Any:
    return _reasons
