"""The JSON Schema of a type, with what pydantic knows beyond it.

Pure. Pydantic writes the string form of a `Decimal` as any string; here it is a decimal number
with the field's own bounds. What no schema can say (validators, bounds of dates) is only noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema

if TYPE_CHECKING:
    from pydantic_core.core_schema import DecimalSchema

DECIMAL = "x-decimal"
"""Keyword of a string that spells a number: the schema of that number."""

_TIMES = frozenset({"date", "datetime", "time", "timedelta"})
_BOUNDS = frozenset({"ge", "gt", "le", "lt"})
_REWRITES = frozenset({"strip_whitespace", "to_lower", "to_upper"})


class Schemas(GenerateJsonSchema):
    """Writes the JSON Schema of a type."""

    def decimal_schema(self, schema: DecimalSchema) -> dict[str, Any]:
        """Return a number, or a string that spells one."""
        number = self.float_schema({"type": "float"}) | _bounds(schema)
        places = schema.get("decimal_places")
        fraction = "+" if places is None else f"{{1,{places}}}"
        end = "" if places == 0 else rf"(\.[0-9]{fraction})?"
        text = {"type": "string", "pattern": f"^-?(0|[1-9][0-9]*){end}$", DECIMAL: number}
        return {"anyOf": [number, text]} if self.mode == "validation" else text


def _bounds(schema: DecimalSchema) -> dict[str, Any]:
    names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    found: dict[str, Any] = {}
    for name, keyword in names.items():
        bound = schema.get(name)
        if bound is not None:
            found[keyword] = _plain(bound)
    step = schema.get("multiple_of")
    places, digits = schema.get("decimal_places"), schema.get("max_digits")
    if step is not None:
        found["multipleOf"] = _plain(step)
    elif places is not None:
        found["multipleOf"] = _plain(10**-places)
    if digits is not None:
        most = 10 ** (digits - (places or 0))
        if "maximum" not in found and "exclusiveMaximum" not in found:
            found["exclusiveMaximum"] = most
        if "minimum" not in found and "exclusiveMinimum" not in found:
            found["exclusiveMinimum"] = -most
    return found


def _plain(number: Any) -> int | float:
    return int(number) if number == int(number) else float(number)


def says_more(core_schema: Any) -> bool:
    """Return whether a type checks what its JSON Schema does not say."""
    waiting = [core_schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if _says_more(part):
                return True
            waiting += [value for key, value in part.items() if key not in ("metadata", "default")]
        elif isinstance(part, list | tuple):
            waiting += part
    return False


def _says_more(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str) or "serialization" in kind:
        return False
    if kind.startswith("function-") or kind in ("url", "multi-host-url", "complex", "is-instance"):
        return True
    if kind in _TIMES:
        return not _BOUNDS.isdisjoint(part)
    return kind == "str" and any(part.get(rewrite) for rewrite in _REWRITES)
