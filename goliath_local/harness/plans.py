"""The shape of a plan: the schema that constrains it, and how a reply is read.

Pure. `plan_schema_for` is the lenient shape that a plan is documented and validated by: one
object, `why` and `tool` optional. `planning_schema` is what a model is constrained by: the same
properties in the same order, in two closed shapes, so that `why` is always there, and `tool` is
there exactly when `kind` is tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.harness.outcome import Rejected
from goliath_local.harness.replies import NotJsonText, read_json
from goliath_local.prompts import render
from goliath_local.records import Plan, Want

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.model import JsonSchema
    from goliath_local.prompts import Claim
    from goliath_local.records import Json, PlanKind

WHY_CHARACTERS = 160
BRIEF_CHARACTERS = 200

WANTS: tuple[Want, ...] = ("question", "change-if", "change", "talk", "impossible")
_KINDS: tuple[PlanKind, ...] = ("tool", "answer", "escalate")


def plan_schema_for(tool_names: Sequence[str]) -> JsonSchema:
    """Return the schema of a plan over these tools; without names `tool` is any text."""
    tool: dict[str, Any] = {"type": "string"}
    if tool_names:
        tool["enum"] = list(tool_names)
    return {
        "type": "object",
        "properties": {
            "why": {"type": "string", "description": render("conductor.why")},
            "kind": {"type": "string", "enum": list(_KINDS)},
            "tool": tool,
            "brief": {"type": "string"},
        },
        "required": ["kind", "brief"],
    }


plan_schema: JsonSchema = plan_schema_for(())
"""The schema of a plan when the tools are not known."""


def planning_schema(
    tool_names: Sequence[str],
    *,
    closing: Sequence[PlanKind] = ("answer", "escalate"),
    claims: Sequence[Claim] = (),
) -> JsonSchema:
    """Return what a plan is constrained by.

    Args:
        tool_names: the tools offered; without them there is no shape with a tool.
        closing: the kinds offered that end the turn; without them there is no other shape.
        claims: what `why` may be, and what follows from each; any text when empty.
    """
    brief = {"type": "string", "minLength": 1, "maxLength": BRIEF_CHARACTERS}
    may_follow = bool(tool_names) and "answer" in closing
    claims = claims if may_follow else ()
    ending = _closed(
        {
            "why": _why([claim.text for claim in claims if not claim.acts]),
            "kind": {"type": "string", "enum": ["answer"] if claims else list(closing)},
            "brief": brief,
        }
    )
    if not tool_names:
        return ending
    calling = _closed(
        {
            "why": _why([claim.text for claim in claims if claim.acts]),
            "kind": {"const": "tool"},
            "tool": {"type": "string", "enum": list(tool_names)},
            "brief": brief,
        }
    )
    if claims and len({claim.acts for claim in claims}) == 1:
        return calling if claims[0].acts else ending
    return {"anyOf": [calling, ending]} if closing else calling


def opening_schema(
    tool_names: Sequence[str],
    reads: Sequence[str],
    *,
    look_first: bool = False,
    only: Want | None = None,
) -> JsonSchema:
    """Return what the first plan of a turn is constrained by: what is wanted decides the rest.

    What is to be done is said before the tool for it is named: a small model picks better then.

    Args:
        tool_names: the tools offered.
        reads: those of them that change nothing.
        look_first: the ask names a condition: a change alone is not offered.
        only: the one want that is offered.
    """
    brief = {"type": "string", "minLength": 1, "maxLength": BRIEF_CHARACTERS}
    calls: dict[Want, Sequence[str]] = {
        "question": reads,
        "change-if": reads or tool_names,
        "change": () if look_first and reads else tool_names,
    }
    shapes = [
        _closed(
            {
                "want": {"const": want},
                "kind": {"const": "tool"},
                "brief": brief,
                "tool": {"type": "string", "enum": list(names)},
            }
        )
        for want, names in calls.items()
        if names and only in {None, want}
    ]
    closing: dict[Want, PlanKind] = {"talk": "answer", "impossible": "escalate"}
    shapes += [
        _closed({"want": {"const": want}, "kind": {"const": kind}, "brief": brief})
        for want, kind in closing.items()
        if only in {None, want}
    ]
    return {"anyOf": shapes} if len(shapes) > 1 else shapes[0]


def read_want(text: str) -> Want | None:
    """Return what the reply says is wanted, None when it does not say."""
    try:
        value = read_json(text)
    except NotJsonText:
        return None
    want = value.get("want") if isinstance(value, dict) else None
    return want if want in WANTS else None


def read_plan(text: str, tool_names: Sequence[str]) -> Plan | Rejected:
    """Return the plan that the reply is, or why it is none.

    Reading is lenient: `why` may be missing, unknown keys and a `tool` beside another kind are
    ignored.
    """
    names = ", ".join(tool_names)
    try:
        value = read_json(text)
        kind, brief = _verified(value)
    except NotJsonText as error:
        return Rejected(problem=str(error), hint=render("conductor.invalid", names=names))
    why = value.get("why")
    why = why if isinstance(why, str) else None
    if kind != "tool":
        return Plan(kind=kind, brief=brief, why=why)
    tool = value.get("tool")
    if not isinstance(tool, str) or tool not in tool_names:
        wrong = tool if isinstance(tool, str) and tool.strip() else "(none)"
        hint = render("conductor.no-such-tool", name=wrong[:60], names=names)
        return Rejected(problem=f"no such tool: {wrong[:60]}", hint=hint)
    return Plan(kind=kind, brief=brief, tool=tool, why=why)


def _verified(value: Json) -> tuple[PlanKind, str]:
    if not isinstance(value, dict):
        raise NotJsonText("the plan is not an object")
    kind, brief = value.get("kind"), value.get("brief")
    if kind not in _KINDS:
        raise NotJsonText("the plan's kind is not tool, answer or escalate")
    if not isinstance(brief, str):
        raise NotJsonText("the plan has no brief")
    return kind, brief


def _why(claims: Sequence[str]) -> dict[str, Any]:
    if claims:
        return {"type": "string", "enum": list(dict.fromkeys(claims))}
    return {"type": "string", "minLength": 1, "maxLength": WHY_CHARACTERS}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
