"""Records that a hook hands back, read strictly.

Pure. A hook may return our records or the same as mappings, with the camelCase keys of stored JSON
or with the names of the attributes. Unknown keys of exchanges and steps are dropped; anything
else that is wrong raises `BadPatch`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from goliath_local.records import (
    Exchange,
    FallbackRequest,
    MemoryState,
    Plan,
    Reason,
    StepRecord,
)


class BadPatch(ValueError):
    """A hook returned what it may not; becomes an `ExtensionError` in the chain."""


def as_text(value: Any, what: str) -> str:
    """Return the value if it is a string."""
    if not isinstance(value, str):
        msg = f"{what} has to be a string, not {type(value).__name__}"
        raise BadPatch(msg)
    return value


def as_plan(value: Any, available: Sequence[str]) -> Plan:
    """Return the plan; one of kind tool has to name an available tool."""
    fields = _fields(value, "plan", Plan)
    if fields.get("kind") not in {"tool", "answer", "escalate"}:
        msg = f"plan.kind has to be tool, answer or escalate, not {fields.get('kind')!r}"
        raise BadPatch(msg)
    plan = Plan(
        kind=fields["kind"],
        brief=as_text(fields.get("brief"), "plan.brief"),
        tool=fields.get("tool"),
        why=fields.get("why"),
    )
    if plan.kind == "tool" and plan.tool not in available:
        msg = f"plan.tool {plan.tool!r} is not among {list(available)}"
        raise BadPatch(msg)
    return plan


def as_memory(value: Any) -> MemoryState:
    """Return the memory: a summary and a list of exchanges."""
    fields = _fields(value, "memory", MemoryState)
    return MemoryState(
        summary=as_text(fields.get("summary"), "memory.summary"),
        recent=_exchanges(fields.get("recent"), "memory.recent"),
    )


def as_request(value: Any, before: FallbackRequest) -> FallbackRequest:
    """Return the fallback request; the reason has to stay what it was."""
    fields = _fields(value, "request", FallbackRequest)
    known = {field.name for field in dataclasses.fields(FallbackRequest)}
    if unknown := sorted(set(fields) - known):
        msg = f"request has unknown keys {unknown}"
        raise BadPatch(msg)
    if fields.get("reason") not in {before.reason, before.reason.value}:
        msg = f"request.reason has to stay {before.reason.value!r}"
        raise BadPatch(msg)
    error = fields.get("error")
    return FallbackRequest(
        ask=as_text(fields.get("ask"), "request.ask"),
        reason=Reason(before.reason),
        summary=as_text(fields.get("summary"), "request.summary"),
        recent=_exchanges(fields.get("recent"), "request.recent"),
        steps=_steps(fields.get("steps"), "request.steps"),
        error=None if error is None else as_text(error, "request.error"),
    )


def _fields(value: Any, what: str, kind: type) -> dict[str, Any]:
    if isinstance(value, kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    if not isinstance(value, Mapping):
        msg = f"{what} has to be a mapping or a {kind.__name__}"
        raise BadPatch(msg)
    return {_snake(str(key)): item for key, item in value.items()}


def _exchanges(value: Any, what: str) -> tuple[Exchange, ...]:
    if not isinstance(value, list | tuple):
        msg = f"{what} has to be a list"
        raise BadPatch(msg)
    return tuple(_exchange(item, f"{what}[{at}]") for at, item in enumerate(value))


def _exchange(value: Any, what: str) -> Exchange:
    fields = _fields(value, what, Exchange)
    at = fields.get("at")
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        msg = f"{what}.at has to be a finite number"
        raise BadPatch(msg)
    return Exchange(
        ask=as_text(fields.get("ask"), f"{what}.ask"),
        answer=as_text(fields.get("answer"), f"{what}.answer"),
        at=at,
        best_effort=bool(fields.get("best_effort", False)),
        steps=_steps(fields.get("steps", ()), f"{what}.steps"),
    )


def _steps(value: Any, what: str) -> tuple[StepRecord, ...]:
    if not isinstance(value, list | tuple):
        msg = f"{what} has to be a list"
        raise BadPatch(msg)
    return tuple(_step(item, f"{what}[{at}]") for at, item in enumerate(value))


def _step(value: Any, what: str) -> StepRecord:
    if isinstance(value, StepRecord):
        return value
    fields = _fields(value, what, StepRecord)
    index = fields.get("index")
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        msg = f"{what}.index has to be a number from 0"
        raise BadPatch(msg)
    if fields.get("kind") not in {"tool", "answer"}:
        msg = f"{what}.kind has to be tool or answer"
        raise BadPatch(msg)
    for name in ("result", "text"):
        if fields.get(name) is not None:
            as_text(fields[name], f"{what}.{name}")
    as_text(fields.get("brief"), f"{what}.brief")
    known = {field.name for field in dataclasses.fields(StepRecord)}
    kept = {name: item for name, item in fields.items() if name in known}
    return StepRecord(**{"has_output": "output" in kept, **kept})


def _snake(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)
