"""Which tool an ask fits, asked the other way round: how probable is the ask for each of them?

Edge: asks the model. A small model says first what is to be done, and that steers it: it then
names a tool with a share near one, right or wrong, and rather any tool than none. How probable the
ask itself is behind what a tool does is evidence of another kind (a noisy channel). It is told as
a fit: by how much more probable than behind a tool that does something or other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Final

from goliath_local.harness.generate import score
from goliath_local.model import Scoring
from goliath_local.prompts import render, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.model import Choice
    from goliath_local.records import Plan
    from goliath_local.tools import Tool

LEAST_SHARE: Final = 0.01
"""What a plan gives a tool at least: shares below come from what it has just said."""

FITTING: Final = 3.0
"""Nats from which on an ask fits a tool, and no other is looked for."""

LEAST_FIT: Final = 1.0
"""Nats by which a planned change has to fit better than anything, if it fits best, to be meant."""

SURE_CHANGE: Final = 0.9
"""Share from which on a change is not weighed against others."""

MOST_LACKING: Final = 2.0
"""Nats that an ask without a fitting tool counts at most against calling one."""

MOST_ASK: Final = 240
"""Characters of an ask from which on it is not weighed: it says enough."""

MOST_TOOLS: Final = 12
"""More tools than these are not all weighed, so none can be said to be lacking."""

MOST_DESCRIPTION: Final = 160
"""Characters of a description that are read."""

_PATH: Final = "/tool"
_LEAST_WORDS: Final = 3
"""An ask with fewer words, in the middle of a talk, may say only what is different now."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


async def fits(
    turn: Turn,
    tools: Mapping[str, Tool],
    plan: Plan,
    choices: Sequence[Choice],
    *,
    is_open: bool,
) -> dict[str, float]:
    """Return how well the ask fits the planned tool and those it might be instead, in nats.

    All of them, where it fits none of those. Empty where nothing was weighed.

    Args:
        turn: the turn.
        tools: those of this attempt.
        plan: the first.
        choices: its choices.
        is_open: whether the lack of a fitting tool would change what is wanted.
    """
    if plan.tool is None or plan.tool not in tools:
        return {}
    if len(turn.ask) > MOST_ASK or _goes_on(turn):
        return {}
    rivals = _rivals(turn, plan.tool, choices)
    if len(rivals) < 2 and not is_open:
        return {}
    found = await _nats(turn, [render("guided.fitting-any"), *map(in_short, rivals)])
    if not found:
        return {}
    anything, *nats = found
    fit = {tool.name: each - anything for tool, each in zip(rivals, nats, strict=True)}
    others = [tool for name, tool in tools.items() if name not in fit]
    if is_open and max(fit.values()) < FITTING and others and len(tools) <= MOST_TOOLS:
        more = await _nats(turn, [in_short(tool) for tool in others])
        fit |= {tool.name: each - anything for tool, each in zip(others, more, strict=False)}
    return fit


def scoring_of(ask: str, descriptions: Sequence[str]) -> Scoring:
    """Return the question how probable the ask is behind each description. Pure."""
    return Scoring(
        head=render("guided.fitting") + "\n\n",
        openings=tuple(render("guided.fitting-tool", description=each) for each in descriptions),
        text=f" {' '.join(ask.split())}\n",
    )


def in_short(tool: Tool) -> str:
    """Return what a tool does, in a line: whole sentences as far as they go, its name if none."""
    text = " ".join(tool.description.split()) or _spelled(tool)
    kept = ""
    for sentence in _SENTENCE.split(text):
        if kept and len(kept) + len(sentence) >= MOST_DESCRIPTION:
            break
        kept = f"{kept} {sentence}".strip()
    return kept[:MOST_DESCRIPTION]


def lacking(fit: Mapping[str, float], tools: Mapping[str, Tool], *, planned: str | None) -> float:
    """Return what counts against calling a tool at all, in nats; 0 where one fits. Pure.

    A change that was planned need not fit so well, if it is the one that fits best.
    """
    if not fit or not fit.keys() >= tools.keys():
        return 0.0
    best = max(fit, key=lambda name: fit[name])
    if best == planned and tools[best].writes and fit[best] > LEAST_FIT:
        return 0.0
    return min(MOST_LACKING, max(0.0, FITTING - max(fit.values())))


def fitted_choice(choices: Sequence[Choice], fit: Mapping[str, float]) -> Choice | None:
    """Return the choice of a tool by both, its shares and the fits; None without fits. Pure."""
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    if choice is None or choice.value not in fit:
        return None
    odds = {
        name: log(max(share, LEAST_SHARE)) + fit[name]
        for name, share in choice.shares
        if name in fit
    }
    if len(odds) < 2 or choice.value not in odds:
        return None
    most = max(odds.values())
    weights = {name: exp(each - most) for name, each in odds.items()}
    total = sum(weights.values())
    ranked = sorted(((weight / total, name) for name, weight in weights.items()), reverse=True)
    (share, best), (second_share, second), *_ = ranked
    return replace(
        choice,
        value=best,
        share=share,
        runner_up=second,
        runner_up_share=second_share,
        shares=tuple((name, share) for share, name in ranked),
    )


def rivals_of(name: str, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    """Return the tools that one of them could be mistaken for, itself first. Pure.

    Changes for a change; lookups for a lookup, where no change could have been meant. What it
    needs first is called in any case.
    """
    others = [other for other in tools if other != name and other not in tools[name].requires]
    changes = [other for other in others if tools[other].writes]
    if tools[name].writes:
        return (name, *changes)
    return (name,) if changes else (name, *others)


def rival_fits(turn: Turn, plan: Plan, choices: Sequence[Choice]) -> dict[str, float]:
    """Return the fits of the planned tool and those it might be instead, of all that were weighed.

    None for a change where the ask fits none: no change is put in another's place then.
    """
    planned = turn.settings.tools.get(plan.tool or "")
    if planned is None:
        return {}
    rivals = (tool.name for tool in _rivals(turn, planned.name, choices))
    found = {name: turn.fit[name] for name in rivals if name in turn.fit}
    return {} if planned.writes and max(found.values(), default=0.0) < FITTING else found


def _rivals(turn: Turn, name: str, choices: Sequence[Choice]) -> list[Tool]:
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    shown = [other for other, _ in choice.shares] if choice is not None else []
    known = turn.settings.tools
    if known[name].writes and choice is not None and choice.share >= SURE_CHANGE:
        return [known[name]]
    tools = {other: known[other] for other in dict.fromkeys([name, *shown]) if other in known}
    return [tools[rival] for rival in rivals_of(name, tools)]


def _goes_on(turn: Turn) -> bool:
    return bool(turn.view.recent) and len(words_of(turn.ask)) < _LEAST_WORDS


async def _nats(turn: Turn, descriptions: Sequence[str]) -> tuple[float, ...]:
    """Return how probable the ask is for each, empty where the model cannot say."""
    return await score(turn, scoring_of(turn.ask, descriptions)) or ()


def _spelled(tool: Tool) -> str:
    return tool.name.replace("_", " ")
