"""What an ask wants, weighed: what a small model says too seldom counts for more.

Pure. Asked what is wanted, a small model would rather call something than say that no tool here
helps. How much rather was read off the dev set once: with 0.9 to 1.2 in log-odds six of its eight
asks that are too big are told, three without it, and no other ask is taken for one.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import TYPE_CHECKING, Final, cast

from goliath_local.harness.plans import WANTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.model import Choice
    from goliath_local.records import Want

LEAN: Final[Mapping[str, float]] = {"impossible": 1.0}
"""Log-odds added to what is said too seldom."""

LEAN_WHEN_KNOWN: Final[Mapping[str, float]] = {**LEAN, "talk": 2.0}
"""The same where what was said before bears on the ask: it need not be looked up."""

_PATH: Final = "/want"


def weighed_want(choices: Sequence[Choice], *, is_known: bool = False) -> Want | None:
    """Return what is wanted after all, None where the reply says it already, or did not choose.

    Args:
        choices: of the first plan.
        is_known: something that was said before has been shown with the ask.
    """
    lean = LEAN_WHEN_KNOWN if is_known else LEAN
    choice = _choice(choices)
    if choice is None or not choice.shares:
        return None
    weights = {value: share * exp(lean.get(value, 0.0)) for value, share in choice.shares}
    best = max(weights, key=lambda value: weights[value])
    is_another = best != choice.value and best in WANTS and best in lean
    return cast("Want", best) if is_another else None


def with_want(
    choices: Sequence[Choice], want: Want, *, first: Sequence[Choice]
) -> tuple[Choice, ...]:
    """Return the choices of a reply that was held to a want, with how sure the model was of it.

    Args:
        choices: of that reply.
        want: what it was held to.
        first: the choices of the reply before.
    """
    choice = _choice(first)
    if choice is None:
        return tuple(choices)
    share = dict(choice.shares)[want]
    made = replace(
        choice,
        value=want,
        share=share,
        runner_up=choice.value,
        runner_up_share=choice.share,
    )
    return (made, *choices)


def _choice(choices: Sequence[Choice]) -> Choice | None:
    return next((choice for choice in choices if choice.path == _PATH), None)
