"""What one attempt plays in: tools, the store behind them, and a guard at their door.

Edge for an application's own tools: reads run for real, writes only pretend to. The guard checks
what reaches a tool with a validator that is not ours, so that an eval would notice if the
arguments' grammar and its check were wrong together.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from goliath_local.errors import ConfigError
from goliath_local.evals.samples import SAMPLE_TOOLSET
from goliath_local.evals.simulator import Store
from goliath_local.schema import dump

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goliath_local.evals.fixture import Fixture
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A fresh one for every attempt."""

    tools: tuple[Tool, ...]
    store: Store | None
    """None behind an application's own tools: nobody can look into their state."""

    invalid: list[str] = field(default_factory=list)
    """Arguments that reached a tool and do not fit its schema, in words; grows while it plays."""

    def state(self) -> Any:
        """Return a copy of what the store holds now."""
        return copy.deepcopy(self.store.state) if self.store else None


def open_scene(
    fixture: Fixture, toolsets: Mapping[str, Any], *, own: Sequence[Tool] | None = None
) -> Scene:
    """Return the scene of one attempt.

    Args:
        fixture: names its tool set; without one it runs on `own`, or on the sample tools.
        toolsets: tool sets by name.
        own: an application's tools.

    Raises:
        ConfigError: the tool set is not there.
    """
    invalid: list[str] = []
    if own is not None and not fixture.toolset:
        _verify_visible(fixture)
        tools: Iterable[Tool] = [dry(tool) for tool in own]
        store = None
    else:
        store = Store(_toolset(fixture, toolsets))
        tools = store.tools()
    return Scene(
        tools=tuple(watched(tool, invalid.append) for tool in tools), store=store, invalid=invalid
    )


def verify_playable(
    fixtures: Iterable[Fixture], toolsets: Mapping[str, Any], *, own: Sequence[Tool] | None
) -> None:
    """Raise `ConfigError` for the first fixture whose tools, or expectations, cannot be met."""
    for fixture in fixtures:
        names = {tool.name for tool in open_scene(fixture, toolsets, own=own).tools}
        expected = {name for turn in fixture.turns for s in turn.sequences for name in s}
        expected |= {call.tool for turn in fixture.turns for call in turn.args}
        for name in sorted(expected - names):
            there = ", ".join(sorted(names)) or "none"
            msg = (
                f"{fixture.id} expects the tool {name!r}, which is not there. There are: {there}."
            )
            raise ConfigError(msg)


def watched(tool: Tool, note: Callable[[str], None]) -> Tool:
    """Return the tool, with a note made of arguments that do not fit its schema."""
    run = tool.execute

    def execute(arguments: Any, context: Any) -> Any:
        for misfit in misfits(tool.parameters.json, dump(arguments)):
            note(f"{tool.name}{misfit}")
        return run(arguments, context)

    return replace(tool, execute=execute)


def misfits(schema: Mapping[str, Any], arguments: Any) -> list[str]:
    """Return where the arguments do not fit the schema: a path and what is wrong, each."""
    return [
        f"{error.json_path[1:]}: {error.message[:200]}"
        for error in Draft202012Validator(dict(schema)).iter_errors(arguments)
    ]


def dry(tool: Tool) -> Tool:
    """Return the tool; one that writes or asks first only says that it was done."""
    if not (tool.writes or tool.requires_confirmation):
        return tool

    def execute(arguments: Any, _context: Any) -> dict[str, Any]:
        told = dump(arguments)
        return {"done": True, **(told if isinstance(told, dict) else {})}

    return replace(tool, execute=execute, to_model_output=None)


def _verify_visible(fixture: Fixture) -> None:
    if any(turn.state_after is not None for turn in fixture.turns):
        msg = (
            f"{fixture.id}: state_after looks into a simulated store, and these are your own "
            "tools, whose writes do nothing here. Say what is expected in tools and args."
        )
        raise ConfigError(msg)


def _toolset(fixture: Fixture, toolsets: Mapping[str, Any]) -> Mapping[str, Any]:
    if not fixture.toolset:
        return SAMPLE_TOOLSET
    if fixture.toolset not in toolsets:
        known = ", ".join(sorted(toolsets)) or "none"
        msg = f"{fixture.id} needs the tool set {fixture.toolset!r}; known: {known}."
        raise ConfigError(msg)
    found: Mapping[str, Any] = toolsets[fixture.toolset]
    return found
