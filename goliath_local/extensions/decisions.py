"""What a hook may decide instead of changing something.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run at once with this text."""

    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deny:
    """Do not run this tool call; the turn goes on."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """Save nothing of this turn."""


Decision: TypeAlias = Stop | Deny | Skip

ALLOWED: dict[str, tuple[type, ...]] = {
    "before_run": (Stop,),
    "after_plan": (Stop,),
    "before_tool": (Stop, Deny),
    "before_fallback": (Stop,),
    "after_answer": (Stop,),
    "before_remember": (Skip,),
}
"""Which decision a hook may return; elsewhere one is an extension error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision, with who took it and where."""

    extension: str
    phase: str
    decision: Decision
