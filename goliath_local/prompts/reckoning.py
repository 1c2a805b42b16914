"""Is the ask itself all that is needed? Sums, translations and meanings of words need no tool.

Pure. A small model was seen to list the shopping for "what's 15% of 80?", while its own order said
"calculate 15% of 80". What it orders is said in English, whatever the language of the ask.
"""

from __future__ import annotations

import re

from goliath_local.prompts.known import shares_a_word

_SUM = re.compile(r"(?i)^(?:calculate|compute|work out|convert|add up|multiply|divide|subtract)\b")
_TRANSLATION = re.compile(r"(?i)^translate\b")
_MEANING = re.compile(
    r"(?i)^(?:(?:look up|find|get|give|tell|explain) )?(?:the |a |an )?"
    r"(?:meanings?|definitions?|synonyms?|antonyms?|abbreviation|acronym)\b"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)?")
_IN_WORDS = re.compile(
    r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred)\b"
)
_OWN = re.compile(r"(?i)\b(?:I|my|our|mine|mein\w*|mes|mon|ma|mis?)\b")
"""What speaks of something that may have to be looked up."""

_QUOTED = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u300c]|(?<!\w)['\u2018\u2019]")
_LEAST_NUMBERS = 2
_STEM = 6
"""Letters by which a tool is told to do what is ordered."""


def needs_no_tool(brief: str, ask: str, *, tools: str) -> bool:
    """Return whether an order is for a sum, a translation, or the meaning of words of the ask.

    Args:
        brief: the order.
        ask: what is wanted.
        tools: names and descriptions of the tools, one of which may be for this very thing.
    """
    word = brief.split(maxsplit=1)[0].casefold() if brief.split() else ""
    if word[:_STEM] in tools.casefold():
        return False
    if _MEANING.match(brief):
        return not shares_a_word(brief, tools)  # a manual, or a log, may say what is meant
    if _SUM.match(brief):
        return _has_numbers(ask)
    return _TRANSLATION.match(brief) is not None and _QUOTED.search(ask) is not None


def _has_numbers(ask: str) -> bool:
    """Return whether an ask says what is to be reckoned with; one number may be in words."""
    digits = len(_NUMBER.findall(ask))
    in_words = _IN_WORDS.search(ask) is not None and _OWN.search(ask) is None
    return digits >= _LEAST_NUMBERS or (digits > 0 and in_words)
