"""What the writers of arrays and objects need of the whole.

Pure: a protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from goliath_local.grammar.book import Book
    from goliath_local.grammar.rules import Expr
    from goliath_local.grammar.style import Style
    from goliath_local.grammar.survey import Survey
    from goliath_local.schema import Deferred, Goal
    from goliath_local.schema.regular import Language


class Lowers(Protocol):
    """The lowering, as its parts see it."""

    survey: Survey
    book: Book
    style: Style
    by_letter: bool
    deferred: set[Deferred]

    def value(self, goal: Goal) -> Expr:
        """Return an expression for whatever fits a goal."""
        ...

    def key(self, names: Language, hint: str) -> Expr:
        """Return what follows the opening quote of a key of a language, up to its value."""
        ...
