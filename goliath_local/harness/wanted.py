"""What an ask wants, weighed: what a small model says too seldom counts for more.

Pure. Asked what is wanted, a small model would rather call something than say that no tool here
helps. How much rather was read off the dev set once: with 0.9 to 1.2 in log-odds six of its eight
asks that are too big are told, three without it, and no other ask is taken for one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Final

from goliath_local.prompts import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goliath_local.model import Choice
    from goliath_local.records import Want
    from goliath_local.tools import Tool

LEAN: Final[Mapping[str, float]] = {"impossible": 1.0}
"""Log-odds added to what is said too seldom."""

LEAN_WHEN_KNOWN: Final[Mapping[str, float]] = {**LEAN, "talk": 2.0}
"""The same where what was said before bears on the ask: it need not be looked up."""

LEAN_WHEN_NAMED: Final[Mapping[str, float]] = {"change": 1.2}
"""What is taken for talk is a change more likely where the ask names what a tool changes."""

LEAN_WHEN_ORDERED: Final[Mapping[str, float]] = {"change-if": 1.0}
"""What is taken for a question is a change that depends on something more likely where the ask has
a condition and does not end as a question."""

TOOLLESS: Final[tuple[Want, ...]] = ("talk", "impossible")
"""Wants that no tool is called for."""

_PATH: Final = "/want"
_LEAST_SHARE: Final = 0.1
"""A tool that the model gives less is not taken, whatever it is called."""

_SURE_SHARE: Final = 0.65
_NEAR_SHARE: Final = 0.2
"""Below the first a tool was not named surely; from the second on another was nearly named."""

_VERBS: Final = frozenset(
    re.findall(
        r"\w+",
        "set get list add create make new find search look read show check start stop send put "
        "change update move complete delete remove the all",
    )
)
"""Words of many tools' names, which tell none from the others."""


def weighed_want(
    choices: Sequence[Choice],
    *,
    is_known: bool = False,
    names_a_change: bool = False,
    is_order: bool = False,
    lacking: float = 0.0,
) -> Choice | None:
    """Return the choice of what is wanted after all, None where the reply stands.

    Its shares are the weighed ones.

    Args:
        choices: of the first plan.
        is_known: something that was said before has been shown with the ask.
        names_a_change: the ask is no question, and has the noun of a tool that changes something.
        is_order: the ask has a condition, and does not only want to be answered.
        lacking: nats that count against calling a tool, since the ask fits none.
    """
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    if choice is None or not choice.shares:
        return None
    lean = LEAN_WHEN_KNOWN if is_known else LEAN
    if lacking:
        lean = {**lean, **{want: lean.get(want, 0.0) + lacking for want in TOOLLESS}}
    if names_a_change and choice.value == "talk" and not is_known:
        lean = {**lean, **LEAN_WHEN_NAMED}
    if is_order and choice.value == "question":
        lean = {**lean, **LEAN_WHEN_ORDERED}
    weights = {value: share * exp(lean.get(value, 0.0)) for value, share in choice.shares}
    total = sum(weights.values())
    ranked = sorted(((weight / total, value) for value, weight in weights.items()), reverse=True)
    (share, best), *others = ranked
    if best == choice.value or best not in lean:
        return None
    second = others[0] if others else (0.0, choice.value)
    return replace(
        choice,
        value=best,
        share=share,
        runner_up=second[1],
        runner_up_share=second[0],
        shares=tuple((value, share) for share, value in ranked),
    )


def want_instead(choices: Sequence[Choice], want: Want) -> Choice | None:
    """Return the choice of what is wanted as another one, None where the model did not say."""
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    if choice is None or choice.value == want:
        return None
    share = dict(choice.shares).get(want, 0.0)
    return replace(
        choice, value=want, share=share, runner_up=choice.value, runner_up_share=choice.share
    )


def tool_by_name(choices: Sequence[Choice], brief: str) -> str | None:
    """Return the tool that the order calls by its name, None where the reply stands.

    "Set the alarm" was seen to be ordered of `set_level`, with `create_alarm` next.
    """
    choice = next((choice for choice in choices if choice.path == "/tool"), None)
    if choice is None or not choice.shares:
        return None
    said = _nouns(brief)
    fitting = {
        name: len(said & _nouns(name)) for name, share in choice.shares if share >= _LEAST_SHARE
    }
    best = max(fitting, key=lambda name: fitting[name], default=str(choice.value))
    return best if fitting.get(best, 0) > fitting.get(str(choice.value), 0) else None


def nearly_named(choices: Sequence[Choice], tool: str | None) -> str | None:
    """Return the tool that was almost named instead of this one, None where the reply was sure."""
    choice = next((choice for choice in choices if choice.path == "/tool"), None)
    if choice is None or tool is None:
        return None
    shares = dict(choice.shares)
    if shares.get(tool, 1.0) >= _SURE_SHARE:
        return None
    others = {name: share for name, share in shares.items() if name != tool}
    name = max(others, key=lambda other: others[other], default=None)
    return name if name is not None and others[name] >= _NEAR_SHARE else None


def names_what_it_changes(ask: str, tools: Iterable[Tool]) -> bool:
    """Return whether an ask that is no question has the noun of a tool that changes something."""
    if any(mark in ask for mark in "?\uff1f"):
        return False
    said = _nouns(ask)
    return any(tool.writes and said & _nouns(tool.name.replace("_", " ")) for tool in tools)


def _nouns(text: str) -> set[str]:
    return {word.removesuffix("s") for word in words_of(text)} - _VERBS
