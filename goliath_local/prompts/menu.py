"""How tools, facts and schemas read in a prompt.

Pure. A schema becomes a line for each property, since a small model follows names, types and
descriptions better than JSON Schema.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from goliath_local.prompts.days import WEEKDAYS, today_in
from goliath_local.prompts.render import render

Schema: TypeAlias = Mapping[str, Any]

_DAYS_SHOWN = 6

_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "maxLength": "at most {} characters",
    "format": "format {}",
    "pattern": "pattern {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuItem:
    """What the conductor reads of one tool."""

    name: str
    description: str
    writes: bool = False
    requires: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names of its arguments, where the menu shows them."""


def tool_menu(items: Sequence[MenuItem]) -> str:
    """Return the menu: a line for each tool, then one sentence for each prerequisite."""
    lines = [
        render("conductor.tool", name=_call(item), description=item.description)
        + (render("conductor.writes") if item.writes else "")
        for item in items
    ]
    lines += [
        render("conductor.prerequisite", first=first, then=item.name)
        for item in items
        for first in item.requires
    ]
    return render("conductor.tools", lines="\n".join(lines))


def _call(item: MenuItem) -> str:
    return f"{item.name}({', '.join(item.parameters)})" if item.parameters else item.name


def fact_lines(facts: Mapping[str, str], *, with_days: bool = True) -> str:
    """Return the facts under their heading, empty if there are none.

    Args:
        facts: as the application gave them.
        with_days: add the days around today by name, where a fact says which day it is.
    """
    days = _days(facts) if with_days else []
    lines = "\n".join([*(f"{key}: {value}" for key, value in facts.items()), *days])
    return render("shared.facts", lines=lines) if lines else ""


def _days(facts: Mapping[str, str]) -> list[str]:
    """Return the days around today by name, so that a model copies instead of counts."""
    today = today_in(facts)
    if today is None:
        return []
    days = [today + dt.timedelta(days=number) for number in range(-1, _DAYS_SHOWN + 1)]
    yesterday, _, tomorrow, *later = days
    return [
        f"yesterday: {yesterday.isoformat()}",
        f"tomorrow: {tomorrow.isoformat()} ({WEEKDAYS[tomorrow.weekday()]})",
        *(f"{WEEKDAYS[day.weekday()]}: {day.isoformat()}" for day in later),
    ]


def schema_lines(schema: Schema) -> str:
    """Return one line for each property: name, type, whether it must be there, description."""
    known = _definitions(schema)
    required = set(schema.get("required", ()))
    properties: Mapping[str, Any] = schema.get("properties", {})
    if not properties:
        return _type(schema, known, depth=0)
    return "\n".join(
        _property(name, _resolve(node, known), known, required=name in required)
        for name, node in properties.items()
    )


def _property(name: str, node: Schema, known: Schema, *, required: bool) -> str:
    notes = [_type(node, known, depth=0), *_bounds(node)]
    if not required:
        notes.append("optional")
    text = f"- {name} ({', '.join(notes)})"
    description = str(node.get("description", "")).strip()
    return f"{text}: {' '.join(description.split())}" if description else text


def _bounds(node: Schema) -> list[str]:
    return [words.format(node[key]) for key, words in _BOUNDS.items() if key in node]


def _type(node: Schema, known: Schema, *, depth: int) -> str:
    node = _resolve(node, known)
    if "const" in node:
        return json.dumps(node["const"], ensure_ascii=False)
    if "enum" in node:
        return "one of " + ", ".join(json.dumps(v, ensure_ascii=False) for v in node["enum"])
    branches = node.get("anyOf") or node.get("oneOf")
    if branches:
        return _either(branches, known, depth=depth)
    return _plain_type(node, known, depth=depth)


def _plain_type(node: Schema, known: Schema, *, depth: int) -> str:
    kind = node.get("type", "object" if "properties" in node else "any value")
    if kind == "array":
        return f"list of {_type(node.get('items') or {}, known, depth=depth + 1)}"
    if kind == "object" and node.get("properties"):
        return _object(node, known, depth=depth)
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _either(nodes: Iterable[Schema], known: Schema, *, depth: int) -> str:
    names = dict.fromkeys(_type(node, known, depth=depth) for node in nodes)
    return " or ".join(names)


def _object(node: Schema, known: Schema, *, depth: int) -> str:
    # Two levels say what the fields are; below that the grammar alone must do.
    if depth > 1:
        return "object"
    fields = (
        f"{name}: {_type(child, known, depth=depth + 1)}"
        for name, child in node["properties"].items()
    )
    return "object with " + "; ".join(fields)


def _definitions(schema: Schema) -> Schema:
    found = {}
    for key in ("$defs", "definitions"):
        found.update({f"#/{key}/{name}": node for name, node in schema.get(key, {}).items()})
    return found


def _resolve(node: Any, known: Schema) -> Schema:
    if not isinstance(node, Mapping):
        return {}
    target = known.get(str(node.get("$ref", "")))
    if target is None:
        return node
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}
