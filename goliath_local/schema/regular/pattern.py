r"""Patterns as automata.

Pure. Claims about a place (`^`, `$`, `\b`, look-ahead) are worked in while the expression is put
together from the right: what follows a claim is intersected with it, what stands before it is told
apart by its last character.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.schema.regular.algebra import Algebra, Language
from goliath_local.schema.regular.charsets import others
from goliath_local.schema.regular.classes import WORD
from goliath_local.schema.regular.determinise import TooManyStates, determinise
from goliath_local.schema.regular.syntax import Beyond, read_pattern
from goliath_local.schema.regular.tree import Ahead, Choice, Loop, One, Place, Row, Tree, is_plain

if TYPE_CHECKING:
    from goliath_local.schema.regular.automaton import Automaton

MAX_PATTERN = 5000
"""Characters of a pattern."""

_MAX_UNROLLED = 8

# Only these mean more in one language than in the other.
_READ_TWO_WAYS = re.compile(r"\\[dDwWsS]|(?<!\\)\.")


class Before(Enum):
    """What stands before a place."""

    START = 0
    WORD = 1
    OTHER = 2


_Rest: TypeAlias = Callable[[Before], Language]


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, *, wide: bool = False) -> Automaton:
    """Return the automaton of the texts in which the pattern is found.

    Raises:
        BadPattern: it is broken.
        Beyond: it cannot be told exactly, or not in reasonable size.
    """
    if wide and not _READ_TWO_WAYS.search(pattern):
        return compile_pattern(pattern)
    if len(pattern) > MAX_PATTERN:
        reason = f"a pattern of {len(pattern):,} characters"
        raise Beyond(reason)
    tree = read_pattern(pattern, wide=wide)
    builder = _Builder(Algebra())
    try:
        return determinise(builder.algebra, builder.found_anywhere(tree))
    except TooManyStates:
        raise Beyond("more states than a grammar should have") from None


def compile_tree(tree: Tree) -> Automaton:
    """Return the automaton of the texts that a tree is, from first to last character."""
    builder = _Builder(Algebra())
    whole = builder.build(tree, Before.START, lambda _: builder.algebra.empty)
    return determinise(builder.algebra, whole)


def plain_language(algebra: Algebra, tree: Tree) -> Language:
    """Return the texts of a tree without claims, as an expression of that algebra."""
    return _Builder(algebra).plain(tree)


class _Builder:
    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.word = algebra.chars(WORD)
        self.other = algebra.chars(others(WORD))

    def found_anywhere(self, tree: Tree) -> Language:
        """Return the texts in which the tree matches, wherever it does."""
        a = self.algebra

        def rest(_: Before) -> Language:
            return a.anything

        if is_plain(tree):
            return a.then(a.anything, a.then(self.plain(tree), a.anything))
        within = [
            a.then(a.anything, a.then(last, self.build(tree, before, rest)))
            for last, before in ((self.word, Before.WORD), (self.other, Before.OTHER))
        ]
        return a.either([self.build(tree, Before.START, rest), *within])

    def build(self, tree: Tree, before: Before, rest: _Rest) -> Language:  # noqa: PLR0911
        """Return the texts of the tree, at that place, with the rest behind them."""
        a = self.algebra
        if is_plain(tree):
            return self.told_apart(self.plain(tree), before, rest)
        match tree:
            case Row(items):
                return self.row(items, before, rest)
            case Choice(options):
                return a.either(self.build(option, before, rest) for option in options)
            case Loop(body, least, most):
                return self.unrolled(body, least, most, before=before, rest=rest)
            case Ahead(body, negative):
                held = self.build(body, before, lambda _: a.anything)
                return a.both([a.but(held) if negative else held, rest(before)])
            case Place.START:
                return rest(before) if before is Before.START else a.nothing
            case Place.END:
                return a.empty if rest(before).has_empty else a.nothing
            case _:
                return self.edge(tree is Place.WORD_EDGE, before, rest)

    def edge(self, wanted: bool, before: Before, rest: _Rest) -> Language:
        a = self.algebra
        word_next = a.then(self.word, a.anything)
        claimed = word_next if (before is not Before.WORD) == wanted else a.but(word_next)
        return a.both([claimed, rest(before)])

    def row(self, items: tuple[Tree, ...], before: Before, rest: _Rest) -> Language:
        if not items:
            return rest(before)
        # Neighbours without claims are one piece.
        size = next((i for i, item in enumerate(items) if not is_plain(item)), len(items))
        head = Row(items[:size]) if size > 1 else items[0]
        following = items[max(size, 1) :]
        known: dict[Before, Language] = {}

        def then(place: Before) -> Language:
            if place not in known:
                known[place] = self.row(following, place, rest)
            return known[place]

        return self.build(head, before, then)

    def told_apart(self, language: Language, before: Before, rest: _Rest) -> Language:
        """Return the language with the rest behind it, by its last character."""
        a = self.algebra
        after_word, after_other = rest(Before.WORD), rest(Before.OTHER)
        if after_word is after_other and (not language.has_empty or rest(before) is after_word):
            return a.then(language, after_word)
        ends = [
            a.then(a.both([language, a.then(a.anything, last)]), after)
            for last, after in ((self.word, after_word), (self.other, after_other))
        ]
        return a.either([*ends, rest(before)] if language.has_empty else ends)

    def unrolled(
        self, body: Tree, least: int, most: int | None, *, before: Before, rest: _Rest
    ) -> Language:
        if most is None or most > _MAX_UNROLLED:
            raise Beyond("a claim inside a repetition")
        copies: tuple[Tree, ...] = (body,) * least
        optional: Tree = Row(())
        for _ in range(most - least):
            optional = Choice((Row(()), Row((body, optional))))
        return self.row((*copies, optional), before, rest)

    def plain(self, tree: Tree) -> Language:
        """Return the texts of a tree without claims."""
        a = self.algebra
        match tree:
            case One(held):
                return a.chars(held)
            case Row(items):
                found = a.empty
                for item in reversed(items):
                    found = a.then(self.plain(item), found)
                return found
            case Choice(options):
                return a.either(self.plain(option) for option in options)
            case Loop(body, least, most):
                return a.loop(self.plain(body), least, most)
            case _:
                raise Beyond("a claim where none can be")
