"""Plans that follow by themselves: where there is but one, the model is not asked for it.

Pure, over the turn; which of several is meant, and what is looked up anew, is noted in it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from goliath_local.budget import clip
from goliath_local.harness import judge, parts
from goliath_local.harness.ambiguous import all_alike, names_of
from goliath_local.harness.offer import Offer, first_needed, offer
from goliath_local.harness.plans import BRIEF_CHARACTERS
from goliath_local.prompts import (
    asks_whether,
    entry_count,
    fields_of,
    is_english,
    is_mark,
    render,
    shared_words,
    shares_a_word,
)
from goliath_local.records import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.extensions import Scope
    from goliath_local.harness.state import Turn
    from goliath_local.records import StepRecord
    from goliath_local.tools import Tool

_DESCRIBED_WORDS = 2
"""Words of the ask by which a lookup is described; one may be there by chance."""

_STUB_FIELDS = 2
"""An entry with more fields is an answer by itself."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def plan_without_asking(turn: Turn, scope: Scope) -> Plan | None:
    """Return the plan that plain code can tell, None where the model has to be asked."""
    if not scope.tools:
        return Plan(kind="answer", brief=render("conductor.no-tools"))
    elsewhere = _lookup_elsewhere(turn, scope)
    if elsewhere is not None:
        return elsewhere
    further = _read_on(turn, scope)
    if further is not None:
        return further
    if _has_nothing_to_choose(turn, scope):
        return Plan(kind="answer", brief=render("guided.close"))
    return None if turn.goal is None else _plan_towards(turn, scope, turn.goal)


def offer_now(turn: Turn, scope: Scope) -> Offer:
    """Return what the next plan may choose among the tools of this attempt."""
    return offer(scope.tools, turn.settings.tools, turn.steps, ask=turn.ask, want=turn.want)


def tools_in(turn: Turn, scope: Scope) -> dict[str, Tool]:
    """Return the tools of this attempt by name."""
    return {name: turn.settings.tools[name] for name in scope.tools}


def _plan_towards(turn: Turn, scope: Scope, goal: Plan) -> Plan | None:
    """Return what follows from a lookup for a change that was ordered."""
    if _was_narrowed_away(turn, goal):
        turn.widened = turn.steps[-1].tool
        return replace(goal, tool=turn.widened)
    if _is_at_hand(turn, scope, goal):
        return goal
    return _plan_after_lookup(turn, scope, goal)


def _lookup_elsewhere(turn: Turn, scope: Scope) -> Plan | None:
    """Return another lookup, where the first one says no word of what was asked.

    It is the one that was nearly made, or the one whose description has words of the ask.
    """
    last = turn.steps[-1] if len(turn.steps) == 1 else None
    if last is None or last.tool not in scope.tools or turn.want not in {"question", "change-if"}:
        return None
    if last.status != "completed" or last.writes or not is_english(turn.ask):
        return None  # in another language it cannot share a word
    if shares_a_word(turn.ask, last.result or ""):
        return None
    others = [
        tool
        for name, tool in tools_in(turn, scope).items()
        if name != last.tool and not tool.writes and not judge.unmet(tool, turn.steps)
    ]
    name = _described(turn, last, others)
    if name is None and turn.want == "question" and turn.nearly in {tool.name for tool in others}:
        name = turn.nearly
    return None if name is None else Plan(kind="tool", tool=name, brief=last.brief)


def _read_on(turn: Turn, scope: Scope) -> Plan | None:
    """Return the lookup that shows what the first one only lists, for a question about one entry.

    Asked when the trip is over, a small model was seen to make that up from the title of a letter.
    """
    last = turn.steps[-1] if len(turn.steps) == 1 else None
    if last is None or turn.want != "question" or last.status != "completed" or last.writes:
        return None
    if last.input:
        return None  # what was looked up by something may be all that was asked for
    tools = tools_in(turn, scope)
    further = [
        tool
        for tool in tools.values()
        if not tool.writes and last.tool in tool.requires and not judge.unmet(tool, turn.steps)
    ]
    rows = fields_of(last.result or "")
    if len(further) != 1 or entry_count(last.result or "") != len(rows) or asks_whether(turn.ask):
        return None
    meant = [row for row in rows if shares_a_word(turn.ask, " ".join(row.values()))]
    if len(meant) != 1 or not _is_stub(meant[0]):
        return None
    return Plan(kind="tool", tool=further[0].name, brief=clip(turn.ask, BRIEF_CHARACTERS))


def _is_stub(row: Mapping[str, str]) -> bool:
    """Return whether an entry says hardly more than what it is called."""
    return sum(not is_mark(name) for name in row) <= _STUB_FIELDS


def _described(turn: Turn, last: StepRecord, others: Sequence[Tool]) -> str | None:
    """Return the tool that alone is described in words of the ask which the last one's lacks."""
    own = _described_as(turn.settings.tools[last.tool or ""])
    found = {
        tool.name: shared_words(turn.ask, _described_as(tool)) - shared_words(turn.ask, own)
        for tool in others
    }
    most = max((len(words) for words in found.values()), default=0)
    best = [name for name, words in found.items() if len(words) == most]
    return best[0] if len(best) == 1 and most >= _DESCRIBED_WORDS else None


def _described_as(tool: Tool) -> str:
    return f"{tool.name.replace('_', ' ')} {tool.description}"


def _has_nothing_to_choose(turn: Turn, scope: Scope) -> bool:
    """Return whether the turn can only be answered: something was done, and nothing can follow."""
    if not (turn.steps and parts.is_constrained(turn)) or turn.steps[-1].failed:
        return False
    return not offer_now(turn, scope).tools


def _is_at_hand(turn: Turn, scope: Scope, goal: Plan) -> bool:
    """Return whether what the goal needed was just found, and is one thing.

    Where nothing or several were found, there is something to think about.
    """
    name = goal.tool or ""
    was_called = any(step.tool == name for step in turn.steps)
    if not turn.steps or was_called or name not in scope.tools:
        return False
    last = turn.steps[-1]
    is_found = last.status in {"completed", "cached"} and entry_count(last.result or "") == 1
    return is_found and first_needed(name, tools_in(turn, scope), turn.steps) == name


def _plan_after_lookup(turn: Turn, scope: Scope, goal: Plan) -> Plan | None:
    """Return what follows from a lookup for a change that did not find just one thing.

    Several that the ask cannot tell apart: a question. Nothing by a phrase: once more, by another.
    """
    last = turn.steps[-1] if turn.steps else None
    tool = turn.settings.tools[goal.tool or ""]
    if last is None or last.status != "completed" or last.writes or not tool.writes:
        return None
    if last.tool not in tool.requires or last.tool not in scope.tools:
        return None
    if judge.found_nothing(last):
        is_first = [step.tool for step in turn.steps].count(last.tool) == 1
        return replace(goal, tool=last.tool) if is_first and _was_by_phrase(last) else None
    alike = all_alike(turn.steps, ask=turn.ask)
    if not alike:
        return None
    turn.alike = names_of(alike)
    values = "; ".join(turn.alike)
    return Plan(
        kind="answer",
        brief=render("guided.which", values=values),
        why=render("guided.several", values=values),
    )


def _was_narrowed_away(turn: Turn, goal: Plan) -> bool:
    """Return whether the lookup for a change was narrowed, and nothing that the ask names is left.

    "Mark Ann's bill as paid" was seen to look among the paid ones.
    """
    last = turn.steps[-1] if len(turn.steps) == 1 else None
    needed = turn.settings.tools[goal.tool or ""].requires
    if last is None or last.status != "completed" or last.tool not in needed:
        return False
    given = last.input if isinstance(last.input, dict) else {}
    if not given or turn.settings.tools[last.tool].parameters.json.get("required"):
        return False
    has_date = any(isinstance(value, str) and _DATE.match(value) for value in given.values())
    return not has_date and not shares_a_word(turn.ask, last.result or "")


def _was_by_phrase(step: StepRecord) -> bool:
    values = step.input.values() if isinstance(step.input, dict) else ()
    return any(isinstance(value, str) and len(value.split()) > 1 for value in values)
