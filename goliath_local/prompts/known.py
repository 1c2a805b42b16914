"""What was said before and bears on the ask: facts of the application, remarks of the user.

Pure. A small model looks up by a tool what stands in its own prompt, far from the ask. So what
shares its words with the ask is said once more, right before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goliath_local.prompts.days import DAY_FACTS
from goliath_local.prompts.language import language_of
from goliath_local.prompts.render import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goliath_local.records import Exchange

_LEAST_SHARED = 2
"""Words that a remark, or a fact with so many words to its name, shares with the ask."""

_STEM = 4
"""Letters by which two forms of a word are told to be one."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_UNITS = frozenset(["perc", "degr", "minu", "hour", "days", "proz", "grad", "stun", "cent"])
_PROPER = re.compile(r"\b[^\W\d_a-zß-öø-ÿ][^\W\d_]{2,}")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the and for was were are you your did does has have had with what when which who whom "
        "whose how why that this these those again say said tell told from not can will would "
        "der die das den dem des und für war ist sind was wann wer wie wo mein meine mir ich habe "
        "hat les des une est qui que quoi quel quelle quand mon mes pour dit los las una qué cuál "
        "cuándo quién para con dije mis",
    )
)
"""Words that say nothing of what is meant."""


def known_already(ask: str, facts: Mapping[str, str], recent: Iterable[Exchange]) -> str:
    """Return what was said before and shares its words with the ask, empty if nothing does.

    The day of today is nothing of the kind, though many an ask says "today". A remark counts when
    it was no question and nothing was done about it: what a tool has told may have changed since.
    """
    words = words_of(ask)
    said = [
        f"{name}: {value}"
        for name, value in facts.items()
        if name.casefold() not in DAY_FACTS
        and (_is_named(name, words) or _shares_a_name(name, ask))
    ]
    remarks = [
        exchange.ask
        for exchange in recent
        if not any(step.kind == "tool" for step in exchange.steps)
        and not exchange.ask.rstrip().endswith(("?", "\uff1f"))
        and len(words_of(exchange.ask) & words) >= _LEAST_SHARED
    ]
    lines = [*said, *remarks]
    return render("guided.known", lines="\n".join(lines)) if lines else ""


def _is_named(name: str, words: set[str]) -> bool:
    own = words_of(name.replace("_", " "))
    return bool(own) and len(own & words) >= min(_LEAST_SHARED, len(own))


def _shares_a_name(name: str, ask: str) -> bool:
    """Return whether a question and a fact speak of somebody by the same proper name.

    The first word of the ask is written large for its place, and in German every noun is.
    """
    if not ask.rstrip().endswith(("?", "\uff1f")) or language_of(ask) == "German":
        return False
    inner = ask.lstrip().partition(" ")[2]
    return bool(set(_PROPER.findall(name)) & set(_PROPER.findall(inner)))


def words_of(text: str) -> set[str]:
    """Return the words of a text that mean something, three letters and more, in small letters."""
    return {word.casefold() for word in _WORD.findall(text)} - _EMPTY


def shares_a_word(one: str, other: str) -> bool:
    """Return whether two texts have a word in common that means something, however it ends."""
    return bool(shared_words(one, other))


def shared_words(one: str, other: str) -> set[str]:
    """Return the beginnings of the words that two texts have in common, units put aside."""
    return stems_of(one) & stems_of(other) - _UNITS


def stems_of(text: str) -> set[str]:
    """Return the beginnings of the words of a text that mean something."""
    return {word[:_STEM] for word in words_of(text)}
