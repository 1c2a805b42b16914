"""What would make tools easier for a small model. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goliath_local.tools import Tool

MOST_TOOLS = 5
"""More than that, and small models choose worse: behaviour spec 2.2."""

MOST_PARAMETERS = 5
LONGEST_DESCRIPTION = 160


def advice(tools: Sequence[Tool]) -> list[str]:
    """Return one sentence for each thing that could be better; empty when nothing could."""
    found = [] if len(tools) <= MOST_TOOLS else [_too_many(len(tools))]
    names = {tool.name for tool in tools}
    for tool in tools:
        found += _about(tool, names)
    return found


def _too_many(count: int) -> str:
    return f"{count} tools; a small model chooses best among {MOST_TOOLS} or fewer."


def _about(tool: Tool, names: set[str]) -> Iterator[str]:
    if len(tool.description) > LONGEST_DESCRIPTION:
        yield f"{tool.name}: the description is long; one short sentence is read best."
    properties = tool.parameters.properties
    if len(properties) > MOST_PARAMETERS:
        yield f"{tool.name}: {len(properties)} parameters; at most {MOST_PARAMETERS} do best."
    for name, schema in properties.items():
        yield from _about_parameter(f"{tool.name}: {name}", schema)
    for missing in _missing(tool.requires, names):
        yield f"{tool.name}: it requires {missing}, which is not among these tools."


def _about_parameter(place: str, schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if schema.get("type") in {"object", "array"} or "$ref" in schema:
        yield f"{place} is nested; plain values and enums are filled best."
    if "description" not in schema and "enum" not in schema:
        yield f"{place} has no description; a few words in the docstring's Args help."


def _missing(wanted: Iterable[str], names: set[str]) -> list[str]:
    return [name for name in wanted if name not in names]
