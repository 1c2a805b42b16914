"""A schema after a value of it was refused: what was sound is kept, what was wrong is ruled out.

Pure. A grammar cannot hold every check (a validator of the application, a format without an
automaton). When such a check refuses a member, everything before it is fixed to what it was, so
that a reply under the narrowed schema goes on from there, and cannot end where it ended before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goliath_local.errors import SchemaError
from goliath_local.schema.reading import Reader
from goliath_local.schema.shapes import goal_of_key, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.schema.shapes import ArrayShape, Goal


def narrowed(
    schema: Mapping[str, Any], value: Any, pointer: str, *, free: str | None = None
) -> dict[str, Any] | None:
    """Return the schema without the refused member, those before it as they are.

    Args:
        schema: what the value was written under.
        value: the refused value.
        pointer: JSON pointer to what was refused in it.
        free: a key of the value that may become another all the same.

    Returns:
        None where there is nothing to rule out: an object as a whole was refused, or no other
        value is left at that place.
    """
    path = _path(value, pointer)
    refused = _refused(value, path)
    if refused is None:
        return None
    path, constraint = refused
    kept = _kept(value, path, constraint)
    if free in kept.get("properties", ()):
        # Its place among the others stays: keys are generated in this order.
        kept["properties"][free] = True
    found = {**schema, "allOf": [*schema.get("allOf", ()), kept]}
    try:
        reader = Reader(found)
        is_possible = _has_value(reader, reader.root, path)
    except SchemaError:
        return None
    return found if is_possible else None


def _path(value: Any, pointer: str) -> list[str | int]:
    """Return the keys and indices to a place, as far as the value has them.

    The checks of an application may name places that are none, such as a branch of a union.
    """
    found: list[str | int] = []
    for word in pointer.split("/")[1:]:
        step = word.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and step in value:
            value = value[step]
            found.append(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
            found.append(int(step))
        else:
            break
    return found


def _refused(value: Any, path: Sequence[str | int]) -> tuple[list[str | int], Any] | None:
    """Return the place that is to be another one, and what it may not be; None if it is large."""
    for step in path:
        value = value[step]
    if isinstance(value, list):
        # Of equal items it is the second that is wrong.
        for number, item in enumerate(value):
            if not isinstance(item, Mapping | list) and item in value[:number]:
                return [*path, number], {"not": {"enum": value[:number]}}
    if isinstance(value, Mapping | list):
        return None
    return list(path), {"not": {"const": value}}


def _kept(value: Any, path: Sequence[str | int], constraint: Any) -> dict[str, Any]:
    """Return what holds a value to its members before a place, and that place to a constraint."""
    if not path:
        found: dict[str, Any] = constraint
        return found
    step, *rest = path
    inner = _kept(value[step], rest, constraint)
    if isinstance(step, int):
        kept = [{"const": item} for item in value[:step]]
        return {"prefixItems": [*kept, inner]}
    names = list(value)
    before = {name: {"const": value[name]} for name in names[: names.index(step)]}
    return {"properties": {**before, step: inner}}


def _has_value(reader: Reader, goal: Goal, path: Sequence[str | int]) -> bool:
    """Return whether some value may stand at a place."""
    values = reader.values(goal)
    if not path:
        is_text = not reader.is_empty(values.text)
        others = values.null or values.booleans or values.numbers or values.arrays
        return bool(is_text or others or values.objects)
    step, *rest = path
    if isinstance(step, int):
        goals = [_goal_of_item(shape, step) for shape in values.arrays]
    else:
        found = [goal_of_key(shape, step) for shape in values.objects]
        goals = [one for one in found if one is not None]
    return any(_has_value(reader, one, rest) for one in goals)


def _goal_of_item(shape: ArrayShape, place: int) -> Goal:
    goals = [f.prefix[place] if place < len(f.prefix) else f.rest for f in shape.facets]
    return joined(*goals)
