"""How far an eval is: a line for every attempt.

Pure; the clock is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.evals.report import Attempt


@dataclass(slots=True, kw_only=True)
class Progress:
    """Counts attempts as they come."""

    total: int
    clock: Callable[[], float]
    done: int = 0
    passed: int = 0
    _started_s: float | None = field(default=None)

    def __post_init__(self) -> None:
        self._started_s = self.clock()

    def line(self, name: str, attempt: Attempt) -> str:
        """Count the attempt; return the line for it, with what is still to come."""
        self.done += 1
        self.passed += attempt.passed
        word = "pass" if attempt.passed else "FAIL"
        why = "; ".join(problem.text for problem in attempt.problems)[:200]
        return (
            f"{self.done:4}/{self.total} {word} {name:28} {attempt.ms / 1000:5.1f}s "
            f"[{self.passed} right, {self.left}] {why}"
        ).rstrip()

    @property
    def left(self) -> str:
        """How long the rest takes, should it take as long as what was done."""
        if not self.done or self._started_s is None:
            return "just begun"
        rest_s = (self.clock() - self._started_s) / self.done * (self.total - self.done)
        if rest_s < 90:
            return f"{rest_s:.0f} s left"
        return f"{rest_s / 60:.0f} min left"
