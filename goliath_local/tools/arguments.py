"""The arguments of a call: the schema a model fills, and what is made of its reply.

Pure. Source: behaviour spec 3.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.model import JsonSchema
    from goliath_local.tools.tool import Tool

SHORTEST_WORD = 3
"""Shorter choices, such as `on`, stand in an ask by chance."""

MISSING = "missing"
MISSING_DESCRIPTION = "Names of required values that were not available; otherwise empty."

_SHARED = ("title", "$defs", "definitions")
"""Keywords that hold for the whole schema, also when it becomes a choice of two."""

_NOTHING = {"", "-", "none", "null", "n/a", "nothing"}
"""What small models write when nothing is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSchema:
    """What the worker is asked to fill."""

    schema: JsonSchema
    missing: str | None
    """The extra property that names missing values; None when the schema is not an object."""


def takes_arguments(tool: Tool) -> bool:
    """Say whether a model has to fill anything in; no properties, no worker call."""
    return not tool.parameters.is_object or bool(tool.parameters.properties)


def argument_schema(tool: Tool, *, description: str = MISSING_DESCRIPTION) -> ArgumentSchema:
    """Return the tool's properties in their order, then the optional one for missing values.

    Args:
        tool: whose parameters.
        description: what the model is told about the extra property.
    """
    schema = tool.parameters.json
    properties = schema.get("properties")
    if not tool.parameters.is_object or not isinstance(properties, Mapping):
        return ArgumentSchema(schema=schema, missing=None)
    name = _free_name(properties)
    extra = {"type": "string", "description": description}
    return ArgumentSchema(
        schema={**schema, "properties": {**properties, name: extra}}, missing=name
    )


def spelled_out(shape: ArgumentSchema, *, said: str = "") -> ArgumentSchema:
    """Return the same schema with no property left to chance, for constrained decoding.

    A property that may be left out is asked for by name and may be null instead: a small model
    that can close the object early does, and forgets what was said. The extra property can only
    name values that are required. Where `said` holds a choice of an enum word for word, only
    such choices are left.
    """
    properties = shape.schema.get("properties")
    if shape.missing is None or not isinstance(properties, Mapping):
        return shape
    required = [key for key in shape.schema.get("required", []) if key in properties]
    asked = {
        key: _asked(node, said, optional=key not in required)
        for key, node in properties.items()
        if key != shape.missing
    }
    if not required:
        whole = {**shape.schema, "properties": asked, "required": list(asked)}
        return ArgumentSchema(schema=whole, missing=None)
    name = shape.missing
    complete = {name: {"const": ""}, **asked}
    named = {name: {"type": "string", "enum": required}}
    shared = {key: shape.schema[key] for key in _SHARED if key in shape.schema}
    either = {**shared, "anyOf": [_whole(complete), _whole(named)]}
    return ArgumentSchema(schema=either, missing=name)


def with_value(shape: ArgumentSchema, name: str, value: str) -> ArgumentSchema:
    """Return the schema in which an argument has this value, wherever it may be filled in."""

    def held(schema: JsonSchema) -> JsonSchema:
        properties = schema.get("properties", {})
        if name not in properties:
            return schema
        return {**schema, "properties": {**properties, name: {"const": value}}}

    schema = held(shape.schema)
    if "anyOf" in schema:
        schema = {**schema, "anyOf": [held(each) for each in schema["anyOf"]]}
    return replace(shape, schema=schema)


def nothing_missing(shape: ArgumentSchema) -> ArgumentSchema:
    """Return a spelled-out schema without the way out of naming a missing value."""
    complete, _ = shape.schema["anyOf"]
    return ArgumentSchema(schema={**shape.schema, "anyOf": [complete]}, missing=shape.missing)


def _whole(properties: Mapping[str, Any]) -> JsonSchema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _asked(node: Any, said: str, *, optional: bool) -> Any:
    choices = node.get("enum") if isinstance(node, Mapping) else None
    found = [choice for choice in choices or () if _is_said(choice, said)]
    if found:
        return {**node, "enum": found}
    return {"anyOf": [{"type": "null"}, _not_empty(node)]} if optional else node


def _not_empty(node: Any) -> Any:
    """Return the schema of an object that says something: an empty one is told by null."""
    if not isinstance(node, Mapping) or node.get("type") != "object":
        return node
    may_be_empty = node.get("properties") and not node.get("required")
    return {"minProperties": 1, **node} if may_be_empty else node


def _is_said(choice: Any, said: str) -> bool:
    if not isinstance(choice, str) or len(choice) < SHORTEST_WORD:
        return False
    words = re.escape(_spaced(choice))
    return re.search(rf"(?<!\w){words}(?!\w)", _spaced(said), re.IGNORECASE) is not None


def _spaced(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text)


def drop_unsaid(tool: Tool, value: Any) -> Any:
    """Return the arguments without the nulls that stand for optional values left unsaid."""
    if not isinstance(value, Mapping):
        return value
    required = tool.parameters.json.get("required", [])
    return {key: item for key, item in value.items() if item is not None or key in required}


def split_missing(value: Any, name: str | None) -> tuple[Any, str]:
    """Return the arguments without the extra property, and what it said was missing.

    The text is empty when nothing is missing, also when a model spelled that out as `none`.
    """
    if name is None or not isinstance(value, Mapping) or name not in value:
        return value, ""
    arguments = {key: item for key, item in value.items() if key != name}
    said = value[name]
    listed = said if isinstance(said, list | tuple) else [said]
    texts = [str(item).strip() for item in listed if item is not None and item is not False]
    kept = [text for text in texts if text.lower().rstrip(".") not in _NOTHING]
    return arguments, ", ".join(kept)


def check_arguments(tool: Tool, value: Any) -> Any:
    """Return the validated arguments, the schema's transforms run once.

    Raises:
        InvalidValue: the value does not fit; says where.
    """
    return tool.parameters.read(value)


def _free_name(properties: Mapping[str, Any]) -> str:
    candidates = [MISSING, f"{MISSING}_values", *(f"{MISSING}_values_{n}" for n in range(2, 99))]
    return next(name for name in candidates if name not in properties)
