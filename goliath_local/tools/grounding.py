"""Is a text, a date or an address that a model filled in taken from what was said?

Pure. Texts are judged leniently: the beginning of one word is enough, since words bend.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W_]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_DATE_LETTERS = len("2026-04-14")
_PRONOUNS = frozenset(
    _WORD.findall(
        "this that these those them something anything dies diese dieser dieses ça cela ceci esto "
        "eso 这 这个 那 那个"
    )
)
_STEM = 4
"""Letters by which two forms of a word are told to be one."""


def unsaid_texts(arguments: Mapping[str, Any], names: Iterable[str], said: str) -> tuple[str, ...]:
    """Return those of the names whose value is a text without a word of what was said.

    Args:
        arguments: what the model filled in.
        names: the arguments to look at.
        said: the ask, the conversation and the results that the model saw.
    """
    stems = {_stem(word) for word in _WORD.findall(said)}
    return tuple(name for name in names if _is_unsaid(arguments.get(name), stems))


def unsaid_addresses(arguments: Mapping[str, Any], said: str) -> tuple[str, ...]:
    """Return the names of those values that are a mail address which nobody said.

    Nor its domain: an address may have been spelled out, "anna at firm dot com".

    Args:
        arguments: what the model filled in.
        said: the ask, the conversation, the results and the facts.
    """
    known = said.casefold()
    return tuple(
        name
        for name, value in arguments.items()
        if isinstance(value, str)
        and _ADDRESS.fullmatch(value.strip())
        and _domain(value).casefold() not in known
    )


def _domain(address: str) -> str:
    """Return the main label of an address's domain."""
    return address.strip().partition("@")[2].rpartition(".")[0].rpartition(".")[2]


def pronouns_in(arguments: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names whose value only points at something, as `this` does."""
    return tuple(
        name
        for name in names
        if isinstance(value := arguments.get(name), str) and value.strip().casefold() in _PRONOUNS
    )


def on_the_day(arguments: Mapping[str, Any], day: dt.date, *, seen: str) -> dict[str, Any]:
    """Return the arguments with this date in place of one that nobody said.

    Only where they hold one date: of two, the other may well be unsaid. A date of the same weekday
    is kept: it may be of another week, or of one that is over.

    Args:
        arguments: what the model filled in.
        day: the one day that the ask names.
        seen: the ask, the conversation and the results: a date that stands there is kept.
    """
    dated = [
        name for name, value in arguments.items() if isinstance(value, str) and _DATE.match(value)
    ]
    if len(dated) == 1:
        value: str = arguments[dated[0]]
        if value[:_DATE_LETTERS] not in seen and not _is_same_weekday(value, day):
            return {**arguments, dated[0]: day.isoformat() + value[_DATE_LETTERS:]}
    return dict(arguments)


def _is_same_weekday(value: str, day: dt.date) -> bool:
    try:
        return dt.date.fromisoformat(value[:_DATE_LETTERS]).weekday() == day.weekday()
    except ValueError:
        return False


def _is_unsaid(value: Any, stems: set[str]) -> bool:
    if not isinstance(value, str):
        return False
    words = _WORD.findall(value)
    return bool(words) and not any(_stem(word) in stems for word in words)


def _stem(word: str) -> str:
    return word.casefold()[:_STEM]
