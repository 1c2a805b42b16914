"""How a stage can end: the values that travel down a turn.

Pure. A failure of a small model's reply is an ordinary value here; only what needs a person is
raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.extensions import Decided

if TYPE_CHECKING:
    from goliath_local.model import Choice
    from goliath_local.records import Plan, Reason, Want


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A reply that is not what was asked for; one guided retry may follow."""

    problem: str
    hint: str = ""
    """What the retry is told after the ask."""

    place: str | None = None
    """JSON pointer to what did not fit; None when the reply was no value, or was sound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """The turn cannot go on here."""

    reason: Reason
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An accepted plan and the evidence for it."""

    plan: Plan
    confidence: float | None = None
    choices: tuple[Choice, ...] = ()
    want: Want | None = None
    """What the first plan of a turn says the ask wants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The text of a turn before the last hooks have seen it."""

    text: str
    output: Any = None
    brief: str | None = None
    """Brief of the plan that a normal device answer closes; None for any other text."""

    best_effort: bool = False
    fold: bool = True
    """False when the scribe is not to be asked."""


Ending: TypeAlias = Final | Escalation | Decided
"""What ends the loop: a text, an escalation, or an extension that stopped the run."""
