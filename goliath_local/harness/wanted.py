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
    from collections.abc import Mapping, Sequence

    from goliath_local.model import Choice

LEAN: Final[Mapping[str, float]] = {"impossible": 1.0}
"""Log-odds added to what is said too seldom."""

LEAN_WHEN_KNOWN: Final[Mapping[str, float]] = {**LEAN, "talk": 2.0}
"""The same where what was said before bears on the ask: it need not be looked up."""

_PATH: Final = "/want"
_LEAST_SHARE: Final = 0.1
"""A tool that the model gives less is not taken, whatever it is called."""

_VERBS: Final = frozenset(
    re.findall(
        r"\w+",
        "set get list add create make new find search look read show check start stop send put "
        "change update move complete delete remove the all",
    )
)
"""Words of many tools' names, which tell none from the others."""


def weighed_want(choices: Sequence[Choice], *, is_known: bool = False) -> Choice | None:
    """Return the choice of what is wanted after all, None where the reply stands.

    Its shares are the weighed ones.

    Args:
        choices: of the first plan.
        is_known: something that was said before has been shown with the ask.
    """
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    if choice is None or not choice.shares:
        return None
    lean = LEAN_WHEN_KNOWN if is_known else LEAN
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


def talk_instead(choices: Sequence[Choice]) -> Choice | None:
    """Return the choice of what is wanted as one of talk, None where the model did not say."""
    choice = next((choice for choice in choices if choice.path == _PATH), None)
    if choice is None:
        return None
    share = dict(choice.shares).get("talk", 0.0)
    return replace(
        choice, value="talk", share=share, runner_up=choice.value, runner_up_share=choice.share
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


def _nouns(text: str) -> set[str]:
    return {word.removesuffix("s") for word in words_of(text)} - _VERBS
