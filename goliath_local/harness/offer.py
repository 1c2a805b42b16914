"""What the next plan may choose, where the reply is decoded under a grammar.

Pure. The enums of a constrained reply are narrowed by this, and a tool that needs another first
gives way to it; a plan that names another tool nevertheless meets the rules of `judge`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.harness.judge import found_nothing, is_stale, unmet
from goliath_local.harness.near_miss import near_miss
from goliath_local.prompts import entry_count, fields_of, has_second_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.records import PlanKind, StepRecord, Want
    from goliath_local.tools import Tool

_SEVERAL = re.compile(
    r"(?i)\b(and|then|also|und|dann|et|puis|y|e|luego|or|oder|ou|o)\b|(?<![\w\u0900-\u0963])(?:और|फिर|या)(?![\w\u0900-\u0963])|[;&和跟还]"
)
"""What stands between two wishes, in the languages of the evals; an ask without it has one."""

_LIST = re.compile(r"[,、،]|\b(?:each|every|all|both|jed\w+|alle|beide|chaque|tous|todos)\b", re.I)
"""What says that one wish may need the same lookup for several things."""

_COMPARED = re.compile(
    r"(?i)\b(than|als|que|versus|vs|compared?|between|difference|zwischen|unterschied|entre)\b|比"
)
"""What says that one question may be about several things."""

_IDENTIFIER = re.compile(r"(?i)(^|_)(id|uuid|key|ref|code|number)$|\bids?\b")
"""A name or a description of a value that a person does not say, but a lookup gives."""


_UNKNOWN = re.compile(r"(?i)\b(?:nothing found|not found|no such|unknown|does not exist)\b")
"""How a lookup says that it knows no such thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a plan may be."""

    tools: tuple[str, ...]
    """In menu order."""

    closing: tuple[PlanKind, ...] = ("answer", "escalate")
    """The kinds that end the turn; never empty together with `tools`."""


def offer(
    names: Sequence[str],
    tools: Mapping[str, Tool],
    steps: Sequence[StepRecord],
    *,
    ask: str,
    want: Want | None = None,
) -> Offer:
    """Return what can help now.

    A tool with an unmet prerequisite is offered when the prerequisite is (see `first_needed`).
    Left out are reads that are done and not stale, unless the ask may need them for several
    things. Once a change is made, an ask that holds one wish is done: then none can help. A change
    that lacks a value which only the user knows leaves the question for it. An error that names
    another tool leaves that tool; one that lists almost the value it was given, the same tool,
    and so does a change that failed where the ask has a second choice. A question whose first
    lookup was refused, since it knows no such thing, is looked up once more, elsewhere or by
    another value. A
    question with one wish is answered from the first lookup that found something, unless another
    one builds on it.
    """
    useful = _useful(names, tools, steps, ask=ask, want=want)
    last = steps[-1] if steps else None
    if last is not None and last.skip_reason == "missing":
        lacking = tools[last.tool or ""]
        reads = tuple(name for name in useful if not tools[name].writes)
        may_help = not lacking.writes or _can_be_looked_up(lacking, last, reads)
        return Offer(tools=reads) if may_help else Offer(tools=(), closing=("answer",))
    named = (
        _nearly_right(last, useful)
        or _second_choice(last, useful, ask)
        or _named_by_failure(last, useful)
    )
    named = named or _after_nothing_found(last, useful, tools, steps, want)
    return Offer(tools=named, closing=()) if named else Offer(tools=useful)


def first_needed(name: str, tools: Mapping[str, Tool], steps: Sequence[StepRecord]) -> str:
    """Return what to call so that the named tool can be: its first unmet prerequisite, or itself.

    A small model names what the user wants done, and not what has to be looked up for it.
    """
    seen = {name}
    while lacking := [other for other in unmet(tools[name], steps) if other in tools]:
        name = lacking[0]
        if name in seen:
            break
        seen.add(name)
    return name


def _useful(
    names: Sequence[str],
    tools: Mapping[str, Tool],
    steps: Sequence[StepRecord],
    *,
    ask: str,
    want: Want | None,
) -> tuple[str, ...]:
    is_done = any(step.writes and step.status == "completed" for step in steps)
    has_several = _SEVERAL.search(ask) is not None
    if is_done and (want == "change-if" or not has_several or has_second_choice(ask)):
        return ()
    once = not has_several and _LIST.search(ask) is None
    named = {name: tools[name] for name in names}
    asks = want == "question"
    if asks and once and _COMPARED.search(ask) is None and _is_enough(named, steps):
        return ()
    return tuple(
        name
        for name in names
        for needed in [named[first_needed(name, named, steps)]]
        if _can_help(needed, steps, once=once)
        and not (asks and (tools[name].writes or needed.writes))
    )


def _is_enough(tools: Mapping[str, Tool], steps: Sequence[StepRecord]) -> bool:
    """Return whether the first lookup is all that a question with one wish needs.

    It found something and shows it whole, and no other lookup is made with what it gives.
    """
    last = steps[-1] if len(steps) == 1 else None
    if last is None or last.status != "completed" or last.writes or last.tool not in tools:
        return False
    result = last.result or ""
    is_whole = entry_count(result) in {None, len(fields_of(result))}
    if not is_whole or found_nothing(last) or last.output_mode == "content":
        return False
    others = (tool for tool in tools.values() if not tool.writes and tool.name != last.tool)
    return not any(last.tool in tool.requires or _takes_identifier(tool) for tool in others)


def _takes_identifier(tool: Tool) -> bool:
    """Return whether a lookup gives what this tool has to be called with."""
    nodes = tool.parameters.json.get("properties", {})
    texts = [
        text
        for name in tool.parameters.json.get("required", ())
        for text in (name, _description(nodes.get(name)))
    ]
    return any(_IDENTIFIER.search(text) for text in texts)


def _description(node: object) -> str:
    # A schema may say elsewhere what a required property is, or only that it may be.
    return str(node.get("description", "")) if isinstance(node, dict) else ""


def _can_help(tool: Tool, steps: Sequence[StepRecord], *, once: bool) -> bool:
    if unmet(tool, steps) or _was_answered_again(tool, steps) or _lacks_a_value(tool, steps):
        return False
    if tool.writes or not tool.idempotent or (tool.parameters.properties and not once):
        return True
    if tool.parameters.properties and tool.output_mode == "content":
        return True  # a longer text is read page by page
    return not any(_is_answered_by(step, tool, steps) for step in steps)


def _is_answered_by(step: StepRecord, tool: Tool, steps: Sequence[StepRecord]) -> bool:
    if step.tool != tool.name or step.status not in {"completed", "cached"}:
        return False
    # A lookup that found nothing may find something by another word.
    found = not tool.parameters.properties or entry_count(step.result or "") != 0
    return found and not is_stale(step, steps)


def _was_answered_again(tool: Tool, steps: Sequence[StepRecord]) -> bool:
    """Return whether the same read was asked for a second time: a third would end the turn."""
    return any(
        step.tool == tool.name and step.status == "cached" and not is_stale(step, steps)
        for step in steps
    )


def _lacks_a_value(tool: Tool, steps: Sequence[StepRecord]) -> bool:
    """Return whether the last step was a call of this tool that could not be filled in."""
    return bool(steps) and steps[-1].tool == tool.name and steps[-1].skip_reason == "missing"


def _can_be_looked_up(tool: Tool, step: StepRecord, names: Sequence[str]) -> bool:
    """Return whether another tool may give what the call lacks."""
    said = step.input if isinstance(step.input, dict) else {}
    schema = tool.parameters.json
    texts: list[str] = []
    for lacked in schema.get("required", ()):
        if lacked not in said:
            texts += [lacked, _description(schema.get("properties", {}).get(lacked))]
    return any(_IDENTIFIER.search(text) or any(name in text for name in names) for text in texts)


def _nearly_right(step: StepRecord | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the tool that failed, where its error lists almost the text that it was given."""
    is_meant = step is not None and step.tool in names and near_miss(step) is not None
    return (step.tool,) if is_meant and step is not None and step.tool else ()


def _second_choice(step: StepRecord | None, names: Sequence[str], ask: str) -> tuple[str, ...]:
    """Return the change that failed, where the ask says what else would do."""
    if step is None or step.tool is None or not (step.failed and step.writes):
        return ()
    return (step.tool,) if step.tool in names and has_second_choice(ask) else ()


def _after_nothing_found(
    step: StepRecord | None,
    names: Sequence[str],
    tools: Mapping[str, Tool],
    steps: Sequence[StepRecord],
    want: Want | None,
) -> tuple[str, ...]:
    """Return the lookups, where the first one of a question knew of no such thing.

    Those that need nothing to be called with come before it.
    """
    if step is None or not step.failed or step.writes or len(steps) > 1 or want != "question":
        return ()
    if _UNKNOWN.search(step.result or "") is None:
        return ()
    reads = tuple(name for name in names if not tools[name].writes)
    easy = tuple(
        name
        for name in reads
        if name != step.tool and not tools[name].parameters.json.get("required")
    )
    return easy or reads


def _named_by_failure(step: StepRecord | None, names: Sequence[str]) -> tuple[str, ...]:
    if step is None or not step.failed:
        return ()
    words = set(re.findall(r"[\w.-]+", step.result or ""))
    return tuple(name for name in names if name in words and name != step.tool)
