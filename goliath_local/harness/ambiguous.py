"""Whom or what does a change mean, when a lookup found several that fit the ask alike?

Pure. A small model takes the first. Plain code sees the plainest case: the lookup was for a word
of the ask, that word fits several entries, and the ask says nothing that tells them apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goliath_local.prompts import fields_of, name_of
from goliath_local.tools import says_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.records import Json, StepRecord

_ROW = re.compile(r"^\d+\. (.*)$", re.MULTILINE)
_FIELD = re.compile(r"(?:^|, )(\w+): ([^,]*)")
_LEAST_LETTERS = 3
_SHOWN = 60
"""Most characters of an entry in the question."""


def fits_several(arguments: Json, steps: Sequence[StepRecord], *, ask: str) -> tuple[str, ...]:
    """Return the entries among which the change would be a guess, empty when it is none.

    Args:
        arguments: of the change that is about to be made.
        steps: the turn's steps so far.
        ask: what is wanted; one that names a day or a number tells more than words can show.
    """
    looked = next((step for step in reversed(steps) if step.status == "completed"), None)
    if looked is None or looked.writes or says_figure(ask):
        return ()
    rows = _ROW.findall(looked.result or "")
    taken = _taken(rows, arguments)
    if taken is None or not _was_looked_up_by_a_word(looked, ask):
        return ()
    words = _words(ask)
    own = _fit(taken, words)
    alike = [row for row in rows if _fit(row, words) >= own]
    return tuple(row[:_SHOWN] for row in alike) if own and len(alike) > 1 else ()


def all_alike(steps: Sequence[StepRecord], *, ask: str) -> tuple[str, ...]:
    """Return the entries of the last lookup when a change could be about any one of them."""
    rows = _ROW.findall(steps[-1].result or "") if steps else []
    firsts = [[value for _, value in _FIELD.findall(row)[:1]] for row in rows]
    found = [fits_several({"": first[0]}, steps, ask=ask) for first in firsts if first]
    is_any = bool(rows) and all(len(entries) == len(rows) for entries in found)
    return found[0] if is_any and len(found) == len(rows) else ()


def names_of(entries: Sequence[str]) -> tuple[str, ...]:
    """Return what the entries are called by; the entries themselves where names do not differ."""
    names = tuple(name_of(row) for entry in entries for row in fields_of(f"1. {entry}"))
    return names if all(names) and len(set(names)) == len(entries) else tuple(entries)


def _taken(rows: Sequence[str], arguments: Json) -> str | None:
    values = list(arguments.values()) if isinstance(arguments, dict) else []
    said = {value for value in values if isinstance(value, str)}
    found = [row for row in rows if said & {value for _, value in _FIELD.findall(row)[:1]}]
    return found[0] if len(found) == 1 else None


def _was_looked_up_by_a_word(step: StepRecord, ask: str) -> bool:
    values = step.input.values() if isinstance(step.input, dict) else ()
    texts = [value.casefold() for value in values if isinstance(value, str)]
    return any(text and text in ask.casefold() for text in texts)


def _fit(row: str, words: set[str]) -> int:
    """Return how many words of the ask stand in the entry, the beginning of one being enough."""
    own = _words(" ".join(value for _, value in _FIELD.findall(row)))
    return sum(any(mine.startswith(word) for mine in own) for word in words)


def _words(text: str) -> set[str]:
    found = (word.casefold() for word in re.findall(r"[^\W\d_]+", text))
    return {word for word in found if len(word) >= _LEAST_LETTERS}
