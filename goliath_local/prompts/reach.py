"""Is an order plainly beyond the tools? Buying, booking and paying, where no tool does it.

Pure. A 1.5B model told to order the groceries was seen to write them on the list instead, and to
say that they were ordered. An order that begins with such a verb, in the languages of the evals
that are written in Latin letters, is within reach only where a tool speaks of the like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLEASE = (
    r"(?:please,? |can you |could you |would you |bitte |kannst du |peux-tu |pouvez-vous |"
    r"puedes |por favor,? )*"
)
_ACTS: Final[Mapping[str, re.Pattern[str]]] = {
    verbs: re.compile(rf"(?i){likes}")
    for verbs, likes in {
        r"order|bestell\w*|commandez?|pide|encarga": r"order|purchas|buy|deliver|suppl",
        r"book|reserve|buche?|reserviere?|réservez?|reserva": (
            r"book|reserv|event|appointment|meeting|calendar|ticket|table|seat|room|court|slot"
        ),
        r"pay|bezahle?|zahle?|überweise?|paie|payez|paga|abona": (
            r"pay|paid|transfer|settle|invoice|bill"
        ),
    }.items()
}
_LEAST_WORDS: Final = 6
"""A shorter order may be a note of what to do."""


def is_out_of_reach(ask: str, *, tools: str) -> bool:
    """Return whether the ask orders what no tool is for.

    Args:
        ask: what is wanted.
        tools: names and descriptions of the tools.
    """
    if len(ask.split()) < _LEAST_WORDS:
        return False
    return any(
        re.match(rf"(?i)\s*{_PLEASE}(?:{verbs})\b", ask) and not likes.search(tools)
        for verbs, likes in _ACTS.items()
    )
