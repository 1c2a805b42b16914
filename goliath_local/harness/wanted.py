"""What an ask wants, weighed: what a small model says too seldom counts for more.

Pure. Asked what is wanted, a small model would rather call something than say that no tool here
helps. How much rather was read off the dev set once: with 0.9 to 1.2 in log-odds six of its eight
asks that are too big are told, three without it, and no other ask is taken for one.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.model import Choice

LEAN: Final[Mapping[str, float]] = {"impossible": 1.0}
"""Log-odds added to what is said too seldom."""

LEAN_WHEN_KNOWN: Final[Mapping[str, float]] = {**LEAN, "talk": 2.0}
"""The same where what was said before bears on the ask: it need not be looked up."""

_PATH: Final = "/want"


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
