r"""Every text but some, as rules: the keys that are not declared.

Pure but for the book. The texts left out are a tree of prefixes; off each branch any text may
follow. Branches that go on alike are one rule, whatever object they belong to.

    all but "id"    "i" ("d" char rest | [^d] rest | end) | [^i] rest | end
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.rules import Expr, Ref
from goliath_local.grammar.simplify import alt, repeat, seq
from goliath_local.schema.regular import ANYTHING, CharSet, chars, others

if TYPE_CHECKING:
    from goliath_local.grammar.book import Book
    from goliath_local.grammar.strings import Ending

_DEEPEST = 6
"""Characters after one another in one rule."""

_Texts: TypeAlias = tuple[str, ...]
"""What is left out from some place on, sorted."""


class Others:
    """Writes texts that are none of some, into one book."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._names: dict[tuple[_Texts, Expr], str] = {}
        self._offs: dict[tuple[str, bool, Expr], Expr] = {}
        self._waiting: list[tuple[str, _Texts]] = []

    def write(self, texts: _Texts, ending: Ending) -> Expr:
        """Return an expression for every text but those, with the ending behind it."""
        found = self._place(texts, ending, 0)
        while self._waiting:
            name, rest = self._waiting.pop()
            self.book.fill(name, self._place(rest, ending, 1))
        return found

    def _place(self, texts: _Texts, ending: Ending, depth: int) -> Expr:
        """Return what may follow where these texts may not."""
        branches: dict[str, list[str]] = {}
        for text in texts:
            # Half of a pair of surrogates is written by no text, so nothing leads there.
            if text and not "\ud800" <= text[0] <= "\udfff":
                branches.setdefault(text[0], []).append(text[1:])
        options = [
            seq(ending.spell(_one(char)), self._below(tuple(rest), ending, depth))
            for char, rest in branches.items()
        ]
        options.append(self._off("".join(branches), ending, accepts=texts[0] != ""))
        return alt(options)

    def _below(self, texts: _Texts, ending: Ending, depth: int) -> Expr:
        """Return what follows a branch: a rule of its own now and then."""
        if 0 < depth < _DEEPEST and (texts, ending.after) not in self._names:
            return self._place(texts, ending, depth + 1)
        name = self._names.get((texts, ending.after))
        if name is None:
            name = self._names[texts, ending.after] = self.book.reserve("but")
            self._waiting.append((name, texts))
        return Ref(name)

    def _off(self, branches: str, ending: Ending, *, accepts: bool) -> Expr:
        """Return what leads off all branches, to any text or to the end."""
        key = (branches, accepts, ending.after)
        found = self._offs.get(key)
        if found is None:
            rest = seq(repeat(ending.spell(ANYTHING), 0, None), ending.after)
            one = ending.spell(_all_but(branches)) if branches else ending.spell(ANYTHING)
            options = [seq(one, self.book.share("rest", rest))]
            if accepts:
                options.append(ending.after)
            found = self._offs[key] = self.book.share("else", alt(options))
        return found


@lru_cache(maxsize=4096)
def _one(character: str) -> CharSet:
    return chars(character)


@lru_cache(maxsize=4096)
def _all_but(characters: str) -> CharSet:
    return others(chars(characters))
