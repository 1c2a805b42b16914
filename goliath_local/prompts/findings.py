"""What a lookup found for the ask, and whether an answer tells any of it.

Pure. A 1.5B model was seen to answer "nothing on the 16th" from a list with one entry, "the day
before was the 12th" to a question for steps, and with the word that an entry's own text ordered.
Such an answer has nothing of the entry in it, and that plain code can see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.prompts.compare import entry_count, fields_of, is_mark, name_of
from goliath_local.prompts.known import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.records import StepRecord

MOST_FIELDS = 8
"""An entry with more is not told whole, and not looked at."""

MOST_ENTRIES = 4
"""A longer list is chosen from, not told."""

_FEW_WORDS = 3
_SENTENCE = 8
_LEAST_LETTERS = 3
_SWITCHES = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One entry of a lookup."""

    fields: Mapping[str, str]
    """What it says besides what was asked with: name and value, in order."""

    name: str
    """What it is called by, empty if by nothing."""

    is_named: bool
    """The ask calls it by its name."""

    def is_told(self, text: str) -> bool:
        """Return whether the text has anything of it: words, or a number however written."""
        if self.is_named and self.name.casefold() in text.casefold():
            return True
        words, numbers = words_of(text), _numbers(text)
        return any(
            value.casefold() in text.casefold()
            or len(words & words_of(value)) >= _words_enough(value)
            or not numbers.isdisjoint(_numbers(value))
            for value in self.fields.values()
        )

    def in_words(self) -> str:
        """Return it as a line."""
        return ", ".join(
            f"{name.replace('_', ' ')}: {value}" for name, value in self.fields.items()
        )


def finding(ask: str, steps: Sequence[StepRecord]) -> Finding | None:
    """Return the one entry that the last step found for the ask, None where it may be another.

    It is the only entry there is, or the only one with a value that the ask says. What only
    repeats the ask or the arguments says nothing; a switch can be told in any words, so an entry
    with one is left alone.
    """
    row = _meant(ask, steps)
    return _finding(row, ask, steps[-1]) if row is not None else None


def entry_meant(ask: str, steps: Sequence[StepRecord]) -> str:
    """Return that entry as a line, switches and what the ask says too; empty if there is none."""
    row = _meant(ask, steps)
    if row is None or len(row) > MOST_FIELDS:
        return ""
    told = {
        name: value
        for name, value in row.items()
        if not is_mark(name) and len(value.split()) <= _SENTENCE
    }
    return Finding(fields=told, name="", is_named=False).in_words()


def _meant(ask: str, steps: Sequence[StepRecord]) -> Mapping[str, str] | None:
    rows = _rows(steps)
    said = [row for row in rows if _is_said(row, ask, others=[r for r in rows if r is not row])]
    meant = rows if len(rows) == 1 else said
    return meant[0] if len(meant) == 1 else None


def untold(ask: str, text: str, steps: Sequence[StepRecord]) -> tuple[Finding, ...]:
    """Return the entries that an answer leaves out, though it tells others.

    Empty for a list of many, where the ask names one of them, and for a list that was not looked
    up by anything: of that, one may be meant.
    """
    rows = _rows(steps) if steps and steps[-1].input else []
    names = [name_of(row) for row in rows]
    if not 1 < len(rows) <= MOST_ENTRIES or not all(names) or len(set(names)) < len(names):
        return ()
    told = [name for name in names if name.casefold() in text.casefold()]
    if not told or any(_is_said(row, ask, others=()) for row in rows):
        return ()
    left = (row for row, name in zip(rows, names, strict=True) if name not in told)
    return tuple(each for row in left if (each := _finding(row, ask, steps[-1])) is not None)


def _rows(steps: Sequence[StepRecord]) -> list[dict[str, str]]:
    last = steps[-1] if steps else None
    if last is None or last.writes or last.status not in {"completed", "cached"}:
        return []
    rows = fields_of(last.result or "")
    count = entry_count(last.result or "")
    return rows if count is None or count == len(rows) else []


def _finding(row: Mapping[str, str], ask: str, step: StepRecord) -> Finding | None:
    given = step.input.values() if isinstance(step.input, dict) else ()
    known = {str(value).casefold() for value in given}
    if len(row) > MOST_FIELDS or any(value.casefold() in _SWITCHES for value in row.values()):
        return None
    fields = {
        name: value
        for name, value in row.items()
        if not is_mark(name) and value.casefold() not in known and not _repeats(value, ask)
    }
    # A sentence is told last and least: it may be long, and it may be somebody's order.
    short = {name: value for name, value in fields.items() if len(value.split()) <= _SENTENCE}
    fields = short or fields
    if not fields:
        return None
    name = name_of(row)
    return Finding(fields=fields, name=name, is_named=bool(name) and _repeats(name, ask))


def _is_said(row: Mapping[str, str], ask: str, *, others: Sequence[Mapping[str, str]]) -> bool:
    """Return whether the ask says a value of this entry that none of the others has."""
    shared = {value for other in others for value in other.values()}
    own = (value for value in row.values() if len(value) >= _LEAST_LETTERS)
    return any(_repeats(value, ask) for value in own if value not in shared)


def _repeats(value: str, ask: str) -> bool:
    return value.casefold() in ask.casefold()


def _words_enough(value: str) -> int:
    """Return how many words show that a text is told; a sentence may share one by chance."""
    return 1 if len(value.split()) <= _FEW_WORDS else 2


def _numbers(text: str) -> set[str]:
    """Return the numbers in a text, leading noughts and the kind of point put aside."""
    found = (number.replace(",", ".") for number in _NUMBER.findall(text))
    return {number.lstrip("0") or "0" for number in found}
