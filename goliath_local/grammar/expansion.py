"""What llama.cpp makes of a repetition, and how much of it.

Pure. It has no counters: it copies what is repeated into the rule, and adds a rule for each time
that may be left out. Its limit is on rules, not on what they hold; a limit on that is added here.
Source: llama.cpp, src/llama-grammar.cpp, handle_repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Repeat
from goliath_local.grammar.verify import MAX_REPEATS

if TYPE_CHECKING:
    from goliath_local.grammar.rules import Expr

MAX_ELEMENTS = 1_000_000
"""How large a grammar may become in llama.cpp, in elements of 8 bytes, kept three times over."""

MAX_REPETITIONS_IN_A_ROW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a sequence, with what llama.cpp makes of it."""

    expr: Expr
    at: int
    """Where it stands in the text."""

    elements: int = 1
    """Elements it takes in llama.cpp's rule; 0 for nothing at all."""

    rules: int = 1
    """Rules it takes there: what the limit on repetitions multiplies."""

    empty: bool | str = False
    """Whether all its elements are rules with an empty alternative; a name: as that rule."""

    repetitions: int = 0
    """How many repetitions follow one another here already."""


@dataclass(slots=True)
class Expansion:
    """The size that a grammar takes in llama.cpp, as far as it was read."""

    rules: int = 0
    """Rules that llama.cpp adds to those of the text."""

    elements: int = 0
    unending: list[tuple[str, int]] = field(default_factory=list)
    """Rules repeated without end, and where; none of them may have an empty alternative."""

    def repeat(self, item: Item, least: int, most: int | None) -> Item:
        """Return the item repeated, and count what that adds."""
        added = 1 if most is None else max(0, most - least)
        elements = item.elements * least + (added > 0)
        self.rules += added
        self.elements += elements - item.elements + added * (item.elements + 2)
        return replace(
            item,
            expr=Repeat(item.expr, least, most),
            elements=elements,
            rules=item.rules * (most or least or 1),
            empty=item.empty if least else True,
            repetitions=item.repetitions + 1,
        )

    def fault(self, before: Item, after: Item) -> str | None:
        """Return what is wrong with a repetition, if anything is."""
        if after.repetitions > MAX_REPETITIONS_IN_A_ROW:
            return f"more than {MAX_REPETITIONS_IN_A_ROW} repetitions in a row"
        times = after.rules // before.rules
        if times > MAX_REPEATS:
            return None  # `verify` words that better
        if after.rules > MAX_REPEATS:
            return (
                f"{times} repetitions of something with {before.rules} rules inside are more than "
                f"llama.cpp's {MAX_REPEATS}"
            )
        if self.elements > MAX_ELEMENTS:
            return (
                f"llama.cpp would write this grammar out to {self.elements:,} elements; "
                f"{MAX_ELEMENTS:,} are allowed"
            )
        return None
