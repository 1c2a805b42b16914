"""A value that was almost one of those that an error lists.

Pure. `Nothing found for 'Bregens'. Known: Lindau, Bregenz.` says what was meant.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goliath_local.records import StepRecord

_BETWEEN = re.compile(r"[,;:\n]|\.\s")
"""What stands between the values of a list."""

_MARKS = " .'\"()[]"
_ALMOST = 0.8
"""From this ratio on two texts are one, written differently: one letter of six to eight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """What a lookup was given, and what it would have known."""

    argument: str
    value: str


def near_miss(step: StepRecord) -> NearMiss | None:
    """Return the value that a failed lookup was almost given; a change is not guessed at."""
    if not step.failed or step.writes or not isinstance(step.input, dict):
        return None
    listed = {
        part.strip(_MARKS).casefold(): part.strip(_MARKS)
        for part in _BETWEEN.split(step.result or "")
    }
    for argument, value in step.input.items():
        if not isinstance(value, str) or not value.isalpha():
            continue
        given = value.casefold()
        same_start = [text for text in listed if text[:1] == given[0] and text != given]
        close = difflib.get_close_matches(given, same_start, n=1, cutoff=_ALMOST)
        if close:
            return NearMiss(argument=argument, value=listed[close[0]])
    return None
