"""The few figures of an eval that a gate may ask about, and what a larger model would cost.

Pure.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.evals.score import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goliath_local.catalogue import Card
    from goliath_local.evals.report import Report


def figures(report: Report) -> Mapping[str, float]:
    """Return the figures by name: shares from 0 to 1, counts, and seconds."""
    attempts = max(1, report.total_runs)
    verdicts = report.verdicts
    seconds = [attempt.ms / 1000 for attempt in report.attempts]
    return {
        "pass": report.passed / max(1, report.total),
        "device": report.on_device / attempts,
        "confident": verdicts.get(Verdict.WRONG_BUT_CONFIDENT, 0) / attempts,
        "gave_up": verdicts.get(Verdict.GAVE_UP, 0) / attempts,
        "cut": verdicts.get(Verdict.CUT, 0) / attempts,
        "errors": float(report.errors),
        "invalid": float(len(report.invalid_calls)),
        "seconds": statistics.median(seconds) if seconds else 0.0,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LargerCard:
    """What a larger model of the catalogue would probably take."""

    name: str
    size_bytes: int
    seconds: float
    """An estimate: a case's median time, times how much more there is to read."""

    fits: bool
    """Whether this machine has the memory for it now."""


def larger_cards(
    cards: Iterable[Card], *, size_bytes: int, seconds: float, available_bytes: int
) -> tuple[LargerCard, ...]:
    """Return the larger models, smallest first.

    A processor reads all weights once for every token of a reply and works through all of them
    for every token of a prompt, so both take longer about as the file is larger.

    Args:
        cards: the catalogue.
        size_bytes: of the model that was played.
        seconds: that it took for a case, median.
        available_bytes: memory that is free without it.
    """
    return tuple(
        LargerCard(
            name=card.name,
            size_bytes=card.size_bytes,
            seconds=seconds * card.size_bytes / size_bytes,
            fits=card.needed_bytes <= available_bytes,
        )
        for card in sorted(cards, key=lambda card: card.size_bytes)
        if card.size_bytes > size_bytes and card.role != "tests"
    )


def format_larger(found: Iterable[LargerCard]) -> str:
    """Return the larger models as lines under a title that says what the figures are."""
    lines = [
        f"  {card.name:<22} {card.size_bytes / 1e9:4.1f} GB  about {card.seconds:.1f} s a case"
        f"{'' if card.fits else '  (not enough memory now)'}"
        for card in found
    ]
    if not lines:
        return ""
    return "\n".join(
        ["A larger model would take (estimated from file sizes, not measured):", *lines]
    )
