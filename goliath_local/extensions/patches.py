"""What each hook may change: the value before, what the hook returned, the value after.

Pure. A patch is a mapping with known keys; anything else raises `BadPatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.errors import InvalidValue
from goliath_local.extensions.incoming import BadPatch, as_memory, as_plan, as_request, as_text

if TYPE_CHECKING:
    from goliath_local.records import FallbackRequest, MemoryState, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a run starts from."""

    ask: str
    instructions: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one planning attempt may use."""

    tools: tuple[str, ...]
    """Names, in menu order."""

    context_text: str = ""
    """Appended to the instructions of this planner call only."""


def patch_start(start: Start, patch: object) -> Start:
    """`before_run`: ask, instructions; facts merge key by key."""
    fields = _fields(patch, {"ask", "instructions", "facts"})
    facts = fields.get("facts", {})
    if not isinstance(facts, Mapping):
        raise BadPatch("facts has to be a mapping")
    for key, value in facts.items():
        as_text(key, "a key of facts")
        as_text(value, f"facts[{key!r}]")
    return Start(
        ask=as_text(fields.get("ask", start.ask), "ask"),
        instructions=as_text(fields.get("instructions", start.instructions), "instructions"),
        facts={**start.facts, **facts},
    )


def patch_memory(_: MemoryState, patch: object) -> MemoryState:
    """`after_recall` and `before_remember`: the whole memory."""
    return as_memory(_only(patch, "memory"))


def patch_scope(scope: Scope, patch: object) -> Scope:
    """`before_plan`: names intersect with what is left; the text replaces the one so far."""
    fields = _fields(patch, {"tools", "context_text"})
    if "tools" in fields:
        wanted = fields["tools"]
        if isinstance(wanted, str) or not isinstance(wanted, list | tuple | set | frozenset):
            raise BadPatch("tools has to be a list of names")
        scope = replace(scope, tools=tuple(name for name in scope.tools if name in wanted))
    if "context_text" in fields:
        scope = replace(scope, context_text=as_text(fields["context_text"], "context_text"))
    return scope


def patch_plan(available: tuple[str, ...]) -> Callable[[Plan, object], Plan]:
    """`after_plan`: another valid plan, over the tools of this attempt."""
    return lambda _, patch: as_plan(_only(patch, "plan"), available)


def patch_input(read: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    """`before_tool`: other arguments, read afresh by the tool's schema."""

    def patch_one(_: Any, patch: object) -> Any:
        try:
            return read(_only(patch, "input"))
        except InvalidValue as error:
            msg = f"input does not fit the tool's parameters: {error}"
            raise BadPatch(msg) from error

    return patch_one


def patch_result(_: str, patch: object) -> str:
    """`after_tool`: the text that the model will read."""
    return as_text(_only(patch, "result"), "result")


def patch_request(request: FallbackRequest, patch: object) -> FallbackRequest:
    """`before_fallback`: what the fallback is given, save the reason."""
    return as_request(_only(patch, "request"), request)


def patch_text(text: str, patch: object) -> str:
    """`after_answer`: the final text, which may not become blank."""
    fields = _fields(patch, {"text"})
    changed = as_text(fields.get("text", text), "text")
    if not changed.strip():
        raise BadPatch("text may not become blank")
    return changed


def _fields(patch: object, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(patch, Mapping):
        msg = f"it returned {type(patch).__name__}; return None or a mapping"
        raise BadPatch(msg)
    if unknown := sorted(str(key) for key in set(patch) - known):
        msg = f"it returned unknown keys {unknown}; known are {sorted(known)}"
        raise BadPatch(msg)
    return patch


def _only(patch: object, key: str) -> Any:
    fields = _fields(patch, {key})
    if key not in fields:
        msg = f"it returned a mapping without {key!r}; return None to change nothing"
        raise BadPatch(msg)
    return fields[key]
