"""Languages of texts as expressions, with union, intersection and complement.

Pure. An `Algebra` makes each expression once, so that equal ones are the same object; what a
language becomes after one character (its derivative) is an expression again, and the expressions
met on the way are the states of its automaton.
Source: J. Brzozowski, Derivatives of Regular Expressions, JACM 11 (1964).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from goliath_local.schema.regular.charsets import ANYTHING, CharSet, common, holds, united

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.schema.regular.automaton import Automaton


class Kind(IntEnum):
    """How an expression is made."""

    CHARS = 0
    EMPTY = 1
    THEN = 2
    EITHER = 3
    BOTH = 4
    NOT = 5
    LOOP = 6
    AUTOMATON = 7
    EXCEPT = 8


class Language:
    """An expression. Made by an `Algebra`; compared by identity."""

    __slots__ = ("args", "firsts", "has_empty", "kind", "number", "steps")

    def __init__(self, number: int, kind: Kind, args: tuple[Any, ...], *, has_empty: bool) -> None:
        self.number = number
        self.kind = kind
        self.args = args
        self.has_empty = has_empty
        """Whether the empty text belongs to it."""
        self.firsts: tuple[CharSet, ...] | None = None
        self.steps: dict[int, Language] = {}


class Algebra:
    """Makes expressions. What one algebra made is of no use to another."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Language] = {}
        self.nothing = self._make(Kind.CHARS, ((),), has_empty=False)
        """No text at all."""
        self.empty = self._make(Kind.EMPTY, (), has_empty=True)
        """The empty text alone."""
        self.char = self.chars(ANYTHING)
        self.anything = self._make(Kind.LOOP, (self.char, 0, None), has_empty=True)
        """Every text."""

    def _make(self, kind: Kind, args: tuple[Any, ...], *, has_empty: bool) -> Language:
        key = (kind, *args)
        found = self._made.get(key)
        if found is None:
            found = Language(len(self._made), kind, args, has_empty=has_empty)
            self._made[key] = found
        return found

    def chars(self, held: CharSet) -> Language:
        """Return the texts of one character out of the set."""
        return self._make(Kind.CHARS, (held,), has_empty=False)

    def text(self, text: str) -> Language:
        """Return this text alone."""
        found = self.empty
        for char in reversed(text):
            found = self.then(self.chars(((ord(char), ord(char)),)), found)
        return found

    def then(self, first: Language, rest: Language) -> Language:  # noqa: PLR0911  # one a rule
        """Return a text of the first followed by one of the rest."""
        if first is self.nothing or rest is self.nothing:
            return self.nothing
        if first is self.empty:
            return rest
        if rest is self.empty:
            return first
        if first.kind is Kind.THEN:
            return self.then(first.args[0], self.then(first.args[1], rest))
        if first is self.anything and rest.kind is Kind.THEN and rest.args[0] is first:
            return rest
        if first is self.anything and rest is first:
            return rest
        has_empty = first.has_empty and rest.has_empty
        return self._make(Kind.THEN, (first, rest), has_empty=has_empty)

    def either(self, options: Iterable[Language]) -> Language:
        """Return the union."""
        held: list[tuple[int, int]] = []
        found: dict[int, Language] = {}
        for option in options:
            for part in option.args if option.kind is Kind.EITHER else (option,):
                if part.kind is Kind.CHARS:
                    held += part.args[0]
                else:
                    found[part.number] = part
        if held:
            merged = self.chars(united(held))
            found[merged.number] = merged
        if self.anything.number in found:
            return self.anything
        if self.empty.number in found and any(
            part.has_empty for part in found.values() if part is not self.empty
        ):
            del found[self.empty.number]
        return self._several(Kind.EITHER, found, lone=self.nothing)

    def both(self, options: Iterable[Language]) -> Language:
        """Return the intersection."""
        found: dict[int, Language] = {}
        loop: Language | None = None
        left_out: Language | None = None
        for option in options:
            for part in option.args if option.kind is Kind.BOTH else (option,):
                if is_run(part):
                    loop = part if loop is None else self._common_run(loop, part)
                elif part.kind is Kind.EXCEPT:
                    known = () if left_out is None else left_out.args[0]
                    left_out = self.but_texts((*known, *part.args[0])) if known else part
                else:
                    found[part.number] = part
        if left_out is not None:
            found[left_out.number] = left_out
        if loop is not None and loop is not self.anything:
            found[loop.number] = loop
        if self.nothing.number in found:
            return self.nothing
        if self.empty.number in found:
            return self.empty if all(part.has_empty for part in found.values()) else self.nothing
        return self._several(Kind.BOTH, found, lone=self.anything)

    def _several(self, kind: Kind, found: dict[int, Language], *, lone: Language) -> Language:
        ordered = tuple(found[number] for number in sorted(found))
        if len(ordered) < 2:
            return ordered[0] if ordered else lone
        test = any if kind is Kind.EITHER else all
        return self._make(kind, ordered, has_empty=test(part.has_empty for part in ordered))

    def _common_run(self, left: Language, right: Language) -> Language:
        held = common(left.args[0].args[0], right.args[0].args[0])
        least = max(left.args[1], right.args[1])
        ends = [end for end in (left.args[2], right.args[2]) if end is not None]
        most = min(ends) if ends else None
        if most is not None and most < least:
            return self.nothing
        return self.loop(self.chars(held), least, most)

    def but(self, language: Language) -> Language:
        """Return the complement."""
        if language.kind is Kind.NOT:
            inner: Language = language.args[0]
            return inner
        if language is self.nothing:
            return self.anything
        if language is self.anything:
            return self.nothing
        return self._make(Kind.NOT, (language,), has_empty=not language.has_empty)

    def loop(self, body: Language, least: int, most: int | None) -> Language:
        """Return `least` to `most` texts of the body, one after the other."""
        if most == 0 or body is self.empty:
            return self.empty
        if body is self.nothing:
            return self.empty if least == 0 else self.nothing
        if least == most == 1:
            return body
        if body.has_empty:
            least = 0
        return self._make(Kind.LOOP, (body, least, most), has_empty=least == 0)

    def automaton(self, automaton: Automaton, state: int = 0) -> Language:
        """Return what the automaton accepts from that state on."""
        tail = automaton.tails[state]
        if tail is not None:
            return self.loop(self.chars(tail.chars), tail.least, tail.most)
        if not automaton.steps[state]:
            return self.empty if automaton.accepting[state] else self.nothing
        has_empty = automaton.accepting[state]
        return self._make(Kind.AUTOMATON, (automaton, state), has_empty=has_empty)

    def but_texts(self, texts: Iterable[str]) -> Language:
        """Return every text but some."""
        return self._but_texts(tuple(sorted(set(texts))))

    def _but_texts(self, texts: tuple[str, ...]) -> Language:
        if not texts:
            return self.anything
        return self._make(Kind.EXCEPT, (texts,), has_empty=texts[0] != "")

    def firsts(self, language: Language) -> tuple[CharSet, ...]:
        """Return sets that tell characters apart after which a language goes on differently."""
        if language.firsts is None:
            language.firsts = tuple(dict.fromkeys(self._firsts(language)))
        return language.firsts

    def _firsts(self, language: Language) -> list[CharSet]:  # noqa: PLR0911  # by kind
        args = language.args
        match language.kind:
            case Kind.CHARS:
                return [args[0]] if args[0] else []
            case Kind.EMPTY:
                return []
            case Kind.THEN:
                found: list[CharSet] = []
                for part in _heads(language):
                    found += self.firsts(part)
                return found
            case Kind.LOOP | Kind.NOT:
                return list(self.firsts(args[0]))
            case Kind.AUTOMATON:
                return [held for held, _ in args[0].steps[args[1]]]
            case Kind.EXCEPT:
                codes = dict.fromkeys(ord(text[0]) for text in args[0] if text)
                return [((code, code),) for code in codes]
            case _:
                return [held for part in args for held in self.firsts(part)]

    def after(self, language: Language, code: int) -> Language:
        """Return what may follow that character: the derivative."""
        found = language.steps.get(code)
        if found is None:
            found = language.steps[code] = self._after(language, code)
        return found

    def _after(self, language: Language, code: int) -> Language:  # noqa: C901, PLR0911  # by kind
        args = language.args
        match language.kind:
            case Kind.CHARS:
                return self.empty if holds(args[0], code) else self.nothing
            case Kind.EMPTY:
                return self.nothing
            case Kind.THEN:
                return self._after_then(language, code)
            case Kind.EITHER:
                return self.either(self.after(part, code) for part in args)
            case Kind.BOTH:
                return self.both(self.after(part, code) for part in args)
            case Kind.NOT:
                return self.but(self.after(args[0], code))
            case Kind.LOOP:
                body, least, most = args
                again = self.loop(body, max(least - 1, 0), None if most is None else most - 1)
                return self.then(self.after(body, code), again)
            case Kind.AUTOMATON:
                for held, target in args[0].steps[args[1]]:
                    if holds(held, code):
                        return self.automaton(args[0], target)
                return self.nothing
            case Kind.EXCEPT:
                char = chr(code)
                return self._but_texts(tuple(text[1:] for text in args[0] if text[:1] == char))

    def _after_then(self, language: Language, code: int) -> Language:
        options: list[Language] = []
        rest: Language | None = language
        while rest is not None:
            head, following = rest.args if rest.kind is Kind.THEN else (rest, None)
            step = self.after(head, code)
            options.append(step if following is None else self.then(step, following))
            rest = following if head.has_empty else None
        return self.either(options)


def is_run(language: Language) -> bool:
    """Return whether the language is a plain repetition of one set of characters."""
    return language.kind is Kind.LOOP and language.args[0].kind is Kind.CHARS


def _heads(language: Language) -> Iterable[Language]:
    """Yield the parts of a sequence up to the first that cannot be empty."""
    rest: Language | None = language
    while rest is not None:
        head, following = rest.args if rest.kind is Kind.THEN else (rest, None)
        yield head
        rest = following if head.has_empty else None
