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
_NUMBER = re.compile(
    r"(?i)\d+(?:[.,:]\d+)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|"
    r"hundred|thousand|half|third|quarter|percent|twice|double)\b"
)
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
        return len(_NUMBER.findall(ask)) >= _LEAST_NUMBERS
    return _TRANSLATION.match(brief) is not None and _QUOTED.search(ask) is not None
