"""A deterministic automaton over characters.

Pure. State 0 is the start. A state that accepts a plain repetition of one set of characters is
kept as such (a `Tail`), however long: `[a-z]{0,5000}` is one state, not five thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

from goliath_local.schema.regular.charsets import CharSet, holds


@dataclass(frozen=True, slots=True)
class Tail:
    """So many characters of one set, and then the end."""

    chars: CharSet
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """A deterministic automaton all of whose states lead to an accepted text.

    Only the automaton of the empty language has a state that leads nowhere: its start.
    """

    steps: tuple[tuple[tuple[CharSet, int], ...], ...]
    """For each state where its characters lead; sets of one state do not overlap."""

    accepting: tuple[bool, ...]
    tails: tuple[Tail | None, ...]

    @property
    def is_empty(self) -> bool:
        """True when no text is accepted."""
        return not (self.accepting[0] or self.steps[0] or self.tails[0])

    def accepts(self, text: str) -> bool:
        """Return whether the text, whole, is accepted."""
        state = 0
        for at, char in enumerate(text):
            tail = self.tails[state]
            if tail is not None:
                return _fits(tail, text[at:])
            target = next((t for held, t in self.steps[state] if holds(held, ord(char))), None)
            if target is None:
                return False
            state = target
        tail = self.tails[state]
        return self.accepting[state] if tail is None else tail.least == 0


def _fits(tail: Tail, rest: str) -> bool:
    if len(rest) < tail.least or (tail.most is not None and len(rest) > tail.most):
        return False
    return all(holds(tail.chars, ord(char)) for char in rest)
