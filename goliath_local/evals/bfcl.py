"""Cases of the Berkeley Function Calling Leaderboard: reading them, and judging a call.

Pure. The leaderboard's own type names become JSON Schema's, and its tool names, which may hold
dots, become names that a tool may have. A call is judged by its abstract syntax; nothing is run.
Source: bfcl-eval 2026.3.23 (Apache-2.0), AST match of single calls.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "any": "string",
    "list": "array",
    "bool": "boolean",
    "str": "string",
    "int": "integer",
}
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}
_PUNCTUATION = re.compile(r"[ ,./\-_*^]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclTool:
    """A tool of a case, under a name that a tool may have."""

    name: str
    original_name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclCase:
    """One user message, the tools, and the calls that are right."""

    id: str
    ask: str
    tools: tuple[BfclTool, ...]
    answer: tuple[Mapping[str, Mapping[str, Sequence[Any]]], ...]
    """`{tool: {argument: accepted values}}`; empty where no call at all is right."""

    @property
    def kind(self) -> str:
        """The set it is of, `live_simple`: the id without its number."""
        return self.id.rsplit("_", 1)[0]

    @property
    def is_irrelevance(self) -> bool:
        """True when right is no call."""
        return not self.answer


def read_cases(lines: Iterable[str]) -> tuple[BfclCase, ...]:
    """Return the cases of a JSONL text."""
    return tuple(_case(json.loads(line)) for line in lines if line.strip())


def call_problems(case: BfclCase, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return what is wrong with the calls made, `(tool name, arguments)` each; empty is right."""
    if case.is_irrelevance:
        return [f"called {calls[0][0]}, no call is right"] if calls else []
    if len(calls) != 1:
        return [f"{len(calls)} calls, one is right"]
    name, args = calls[0]
    tool = next((tool for tool in case.tools if tool.name == name), None)
    ((expected, accepted),) = case.answer[0].items()
    if tool is None or tool.original_name != expected:
        return [f"called {name}, not {expected}"]
    return _argument_problems(tool, accepted, args)


def first_accepted(case: BfclCase) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls made of the first accepted values, which any scorer has to take."""
    if case.is_irrelevance:
        return []
    ((expected, accepted),) = case.answer[0].items()
    tool = next(tool for tool in case.tools if tool.original_name == expected)
    required = tool.parameters.get("required", [])
    args = {
        name: _first([value for value in values if value != ""])
        for name, values in accepted.items()
        if values[0] != "" or name in required
    }
    return [(tool.name, args)]


def _first(values: Sequence[Any]) -> Any:
    value = values[0]
    if isinstance(value, dict):
        return {k: v[0] for k, v in value.items() if v[0] != ""}
    if isinstance(value, list):
        return [
            {k: v[0] for k, v in item.items() if v[0] != ""} if isinstance(item, dict) else item
            for item in value
        ]
    return value


def _case(raw: Mapping[str, Any]) -> BfclCase:
    return BfclCase(
        id=raw["id"],
        ask=raw["ask"],
        tools=tuple(
            BfclTool(
                name=re.sub(r"[^A-Za-z0-9_-]", "_", tool["name"]),
                original_name=tool["name"],
                description=tool["description"],
                parameters=_json_schema(tool["parameters"]),
            )
            for tool in raw["tools"]
        ),
        answer=tuple(raw["answer"]),
    )


def _json_schema(raw: Any) -> Any:
    if isinstance(raw, list):
        return [_json_schema(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    out: dict[str, Any] = {}
    for key, value in raw.items():
        if key == "properties":
            out[key] = {name: _json_schema(sub) for name, sub in value.items()}
        elif key == "type" and isinstance(value, str):
            out[key] = _TYPES.get(value, value)
        elif key in {"items", "required", "enum", "description", "additionalProperties"}:
            out[key] = _json_schema(value) if key == "items" else value
    return out


def _argument_problems(
    tool: BfclTool, accepted: Mapping[str, Sequence[Any]], args: Mapping[str, Any]
) -> list[str]:
    properties = tool.parameters.get("properties", {})
    required = set(tool.parameters.get("required", []))
    must_have = required | {name for name, values in accepted.items() if "" not in values}
    problems = [f"{name} is missing" for name in sorted(must_have - set(args))]
    for name, value in args.items():
        if name not in properties or name not in accepted:
            problems.append(f"{name} is not asked for")
        elif not _is_type(value, properties[name].get("type")):
            problems.append(f"{name} has the wrong type: {value!r}")
        elif not any(_is_value(value, other) for other in accepted[name]):
            problems.append(f"{name} is {value!r}")
    return problems


def _is_type(value: Any, wanted: str | None) -> bool:
    """Compare types exactly: an int is a number, a bool is neither."""
    allowed = _PYTHON_TYPES.get(wanted or "")
    if allowed is None:
        return True
    return isinstance(value, allowed) and (wanted == "boolean" or not isinstance(value, bool))


def _is_value(value: Any, accepted: Any) -> bool:
    if isinstance(value, dict) and isinstance(accepted, dict):
        return _is_object(value, accepted)
    if isinstance(value, list) and isinstance(accepted, list):
        return len(value) == len(accepted) and all(
            _is_value(mine, theirs) for mine, theirs in zip(value, accepted, strict=True)
        )
    return bool(_normal(value) == _normal(accepted))


def _is_object(value: Mapping[str, Any], accepted: Mapping[str, Sequence[Any]]) -> bool:
    """Compare objects one level deep: each key has its own list of accepted values."""
    if any(key not in accepted for key in value):
        return False
    return all(
        any(_is_value(value[key], other) for other in options) if key in value else "" in options
        for key, options in accepted.items()
    )


def _normal(value: Any) -> Any:
    if isinstance(value, str):
        return _PUNCTUATION.sub("", value).lower().replace("'", '"')
    if isinstance(value, bool):
        return ("bool", value)
    return value
