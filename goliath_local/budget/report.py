"""What was decided about the size of a prompt, in figures.

Pure. Every model call has one report; `records.to_json` writes it whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.budget.counter import CountSource
    from goliath_local.model import Stage, WindowSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """One thing that was made shorter, and by how much."""

    part: str
    how: str
    """The rule that did it; one of the words of `Report.trimmed`."""

    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The bill of one model call. Tokens throughout."""

    policy: int
    stage: Stage
    window: int
    window_source: WindowSource
    output_requested: int
    output_cap: int
    reserve: int
    limit: int
    source: CountSource
    tokens_before: int
    """Had nothing been shortened."""

    tokens: int
    by_part_before: Mapping[str, int]
    by_part: Mapping[str, int]
    exchanges_kept: int
    exchanges_dropped: int
    shortened: tuple[Shortened, ...]
    failed_part: str | None
    """When the prompt is over its limit: the largest part of what is left. Else None."""

    @property
    def fits(self) -> bool:
        """True when the prompt may be sent."""
        return self.tokens <= self.limit

    @property
    def trimmed(self) -> tuple[str, ...]:
        """What was shortened, in the order in which it was: see `fit.Trim`."""
        return tuple(entry.how for entry in self.shortened)
