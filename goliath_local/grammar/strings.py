"""Languages of strings, and of numbers, as rules.

Pure but for the book they are written into. A rule ends with the end that is handed in, so that a
string knows in each of its states whether the closing quote may come.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Expr, Ref, Repeat, Seq, Text
from goliath_local.grammar.spelling import as_class
from goliath_local.schema.regular import ANYTHING, Automaton, CharSet, Kind, Language

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goliath_local.grammar.book import Book

_SHORTEST_RUN = 3
_DEEPEST = 6
"""States inside one another in one rule."""

MOST_WEIGHT = 300
"""Above this an expression is written as it is, if it can be, and not as its automaton."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What comes after a text, and how its characters are spelled."""

    after: Expr
    spell: Callable[[CharSet], Expr]


def plain_ending() -> Ending:
    """Return the ending of numbers: nothing, and each character is itself."""
    return Ending(Text(""), as_class)


def write_automaton(book: Book, automaton: Automaton, ending: Ending, hint: str) -> Expr:
    """Return an expression for the texts an automaton accepts, each with the ending behind it."""
    return _Writer(book, automaton, ending, hint).whole()


class _Writer:
    def __init__(self, book: Book, automaton: Automaton, ending: Ending, hint: str) -> None:
        self.book, self.automaton, self.ending, self.hint = book, automaton, ending, hint
        self.names: dict[int, str] = {}
        self.waiting: list[int] = []
        self.depth = 0
        self.others: dict[tuple[tuple[CharSet, int], bool], Expr] = {}
        self.sources = Counter(to for row in automaton.steps for _, to in row)

    def whole(self) -> Expr:
        found = self.state(0)
        while self.waiting:
            number = self.waiting.pop()
            self.book.fill(self.names[number], self.state(number))
        return found

    def at(self, number: int) -> Expr:
        """Return a reference to the rule of a state, or what is as short as one."""
        if not self.automaton.steps[number] and self.automaton.tails[number] is None:
            return self.ending.after
        if self.is_anything(number):
            return self.book.share("rest", self.state(number))
        if self.sources[number] == 1 and number and self.depth < _DEEPEST:
            # Nothing else leads here: it needs no rule of its own.
            self.depth += 1
            found = self.state(number)
            self.depth -= 1
            return found
        if number not in self.names:
            self.names[number] = self.book.reserve(self.hint)
            self.waiting.append(number)
        return Ref(self.names[number])

    def state(self, number: int) -> Expr:
        tail = self.automaton.tails[number]
        if tail is not None:
            run = self.book.repeated(self.ending.spell(tail.chars), tail.least, tail.most)
            return Seq((run, self.ending.after))
        run_of = self.run(number)
        if run_of is not None:
            return run_of
        loop = [held for held, to in self.automaton.steps[number] if to == number]
        out = self.options(
            number, [(h, to) for h, to in self.automaton.steps[number] if to != number]
        )
        if loop:
            return Seq((Repeat(self.ending.spell(loop[0]), 0, None), out))
        return out

    def options(self, number: int, steps: Sequence[tuple[CharSet, int]]) -> Expr:
        """Return the steps out of a state, and the end if it may come."""
        usual = [step for step in steps if self.is_anything(step[1])]
        if len(usual) == 1 and len(steps) > 1:
            # Off the way of all that is told apart: many states have this in common.
            found = [self.step(*step) for step in steps if step is not usual[0]]
            found.append(self.otherwise(usual[0], accepts=self.automaton.accepting[number]))
            return Alt(tuple(found))
        found = [self.step(*step) for step in steps]
        if self.automaton.accepting[number]:
            found.append(self.ending.after)
        return found[0] if len(found) == 1 else Alt(tuple(found))

    def step(self, held: CharSet, to: int) -> Expr:
        return Seq((self.ending.spell(held), self.at(to)))

    def otherwise(self, usual: tuple[CharSet, int], *, accepts: bool) -> Expr:
        key = (usual, accepts)
        if key not in self.others:
            found: tuple[Expr, ...] = (self.step(*usual),)
            if accepts:
                found += (self.ending.after,)
            self.others[key] = self.book.share("else", Alt(found))
        return self.others[key]

    def is_anything(self, number: int) -> bool:
        """Return whether any text may follow from a state on."""
        tail = self.automaton.tails[number]
        return tail is not None and tail.chars == ANYTHING and tail.most is None

    def run(self, number: int) -> Expr | None:
        r"""Return a state as a counted repetition, where it begins a row of like states.

        Of each state in the row the same characters lead to the next, and all else is alike.
            \d{4}-       four states in a row, nothing else leads out     → [0-9]{4} …
            \d{1,9}\.     the point leads out of each, to one state         → [0-9]{0,8} "." …
        """
        a = self.automaton
        for held, to in a.steps[number]:
            if to == number or all(chars != held for chars, _ in a.steps[to]):
                continue
            length, last = self._row(number, held)
            if length < _SHORTEST_RUN:
                continue
            rest = self._beside(number, held)
            spelled = self.ending.spell(held)
            if not rest and not self.automaton.accepting[number]:
                return Seq((self.book.repeated(spelled, length, length), self.at(last)))
            alike = self.automaton.accepting[last] == self.automaton.accepting[number]
            if alike and self._beside(last, held) == rest == frozenset(self.automaton.steps[last]):
                out = self.options(number, sorted(rest, key=lambda step: step[1]))
                return Seq((self.book.repeated(spelled, 0, length), out))
        return None

    def _beside(self, number: int, held: CharSet) -> frozenset[tuple[CharSet, int]]:
        return frozenset(step for step in self.automaton.steps[number] if step[0] != held)

    def _row(self, number: int, held: CharSet) -> tuple[int, int]:
        """Return how many steps by a set lead through like states, and the state they lead to."""
        a = self.automaton
        rest, accepts = self._beside(number, held), a.accepting[number]
        length, seen = 0, {number}
        while True:
            to = next((target for chars, target in a.steps[number] if chars == held), None)
            if to is None or to in seen or a.tails[to] is not None:
                break
            seen.add(to)
            number, length = to, length + 1
            if self._beside(to, held) != rest or a.accepting[to] != accepts:
                break
        return length, number


def weight(language: Language) -> int | None:
    """Return how long a language is as an expression; None when it cannot be written as one."""
    total = 0
    waiting = [(language, 1)]
    while waiting:
        found, times = waiting.pop()
        match found.kind:
            case Kind.CHARS:
                total += times
            case Kind.EMPTY:
                pass
            case Kind.THEN | Kind.EITHER:
                waiting += [(part, times) for part in found.args]
            case Kind.LOOP:
                body, least, most = found.args
                waiting.append((body, times * max(least, most or 1)))
            case _:
                return None
    return total


def write_expression(book: Book, language: Language, ending: Ending) -> Expr:
    """Return a language as it is put together, with the ending behind it."""
    return Seq((_written(book, language, ending), ending.after))


def _written(book: Book, language: Language, ending: Ending) -> Expr:
    match language.kind:
        case Kind.CHARS:
            return ending.spell(language.args[0])
        case Kind.THEN:
            items: list[Expr] = []
            rest = language
            while rest.kind is Kind.THEN:
                items.append(_written(book, rest.args[0], ending))
                rest = rest.args[1]
            return Seq((*items, _written(book, rest, ending)))
        case Kind.EITHER:
            found = [
                _written(book, part, ending)
                for part in language.args
                if part.kind is not Kind.EMPTY
            ]
            whole = found[0] if len(found) == 1 else Alt(tuple(found))
            return whole if len(found) == len(language.args) else Repeat(whole, 0, 1)
        case Kind.LOOP:
            body, least, most = language.args
            return book.repeated(_written(book, body, ending), least, most)
        case _:
            return Text("")
