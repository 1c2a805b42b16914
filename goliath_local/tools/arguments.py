"""The arguments of a call: the schema a model fills, and what is made of its reply.

Pure. Source: behaviour spec 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goliath_local.model import JsonSchema
    from goliath_local.tools.tool import Tool

MISSING = "missing"
MISSING_DESCRIPTION = "Names of required values that were not available; otherwise empty."

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


def spelled_out(shape: ArgumentSchema) -> ArgumentSchema:
    """Return the same schema with no property left to chance, for constrained decoding.

    A property that may be left out is asked for by name and may be null instead: a small model
    that can close the object early does, and forgets what was said. The extra property can only
    name values that are required.
    """
    properties = shape.schema.get("properties")
    if shape.missing is None or not isinstance(properties, Mapping):
        return shape
    required = [name for name in shape.schema.get("required", []) if name in properties]
    asked = {
        name: node if name in required else {"anyOf": [{"type": "null"}, node]}
        for name, node in properties.items()
        if name != shape.missing
    }
    whole = {**shape.schema, "required": list(asked)}
    if not required:
        return ArgumentSchema(schema={**whole, "properties": asked}, missing=None)
    names = {**properties[shape.missing], "enum": ["", *required]}
    return ArgumentSchema(
        schema={**whole, "properties": {**asked, shape.missing: names}}, missing=shape.missing
    )


def drop_unsaid(tool: Tool, value: Any) -> Any:
    """Return the arguments without the nulls that stand for optional values left unsaid."""
    if not isinstance(value, Mapping):
        return value
    required = tool.parameters.json.get("required", [])
    return {key: item for key, item in value.items() if item is not None or key in required}


def has_every_required(tool: Tool, value: Any) -> bool:
    """Return whether every required argument is there and not blank."""
    required = tool.parameters.json.get("required", [])
    return isinstance(value, Mapping) and all(
        value.get(name) is not None and str(value[name]).strip() for name in required
    )


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
