"""Writes what a survey has found as rules: one case for each kind of value.

The book it writes into is handed over as it grows; nothing else changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goliath_local.grammar.arrays import array_expr
from goliath_local.grammar.objects import Objects
from goliath_local.grammar.others import Others
from goliath_local.grammar.rules import Alt, Expr, Ref, Seq, Text
from goliath_local.grammar.spelling import Spelling
from goliath_local.grammar.strings import (
    Ending,
    plain_ending,
    write_automaton,
    write_expression,
)
from goliath_local.schema.regular import Automaton, Kind, is_run

if TYPE_CHECKING:
    from collections.abc import Hashable

    from goliath_local.grammar.book import Book
    from goliath_local.grammar.style import Style
    from goliath_local.grammar.survey import Prepared, Survey
    from goliath_local.schema import Goal
    from goliath_local.schema.regular import Language

# Parts of a pointer that say nothing about what a value is for.
_DULL = re.compile(
    r"^(\d+|properties|items|prefixItems|anyOf|oneOf|allOf|\$defs|definitions|not)$"
)


class Lowering:
    """Turns goals into rules, each once."""

    def __init__(self, survey: Survey, book: Book, style: Style, *, by_letter: bool) -> None:
        self.survey = survey
        self.book = book
        self.style = style
        self.by_letter = by_letter
        self.spelling = Spelling(book, by_letter=by_letter)
        self.deferred: set[tuple[str, str]] = set()
        self.others = Others(book)
        self._named: dict[Hashable, Expr] = {}
        self._texts: dict[tuple[Hashable, str], Expr] = {}
        self._waiting: list[tuple[str, str, Prepared]] = []

    def write(self, goal: Goal) -> None:
        """Write all rules that a goal needs, the goal itself as `root`."""
        self.book.fill(self.book.reserve("root"), self.value(goal))
        while self._waiting:
            name, hint, prepared = self._waiting.pop(0)
            self.book.fill(name, self._expr(prepared, hint))

    def value(self, goal: Goal) -> Expr:
        """Return an expression for whatever fits a goal: as a rule, where it is not short."""
        prepared = self.survey.at(goal)
        key: Hashable = id(prepared)
        found = self._named.get(key)
        if found is None:
            hint = self.hint(prepared.goal)
            if prepared.arrays or prepared.objects:
                found = Ref(self.book.reserve(hint))
                self._named[key] = found
                self._waiting.append((found.name, hint, prepared))
            else:
                found = self._expr(prepared, hint)
                self._named[key] = found
        return found

    def hint(self, goal: Goal) -> str:
        """Return a word that a rule for the goal may be called by."""
        if not goal:
            return "value"
        if goal == self.survey.reader.root:
            return "root"
        pointer = self.survey.reader.document.numbered(goal[0]).pointer
        words = [word for word in pointer.split("/") if word and not _DULL.match(word)]
        return words[-1] if words else "value"

    def _expr(self, prepared: Prepared, hint: str) -> Expr:
        values = prepared.values
        options: list[Expr] = []
        objects = Objects(self, hint).expr(prepared.objects)
        if objects is not None:
            options.append(objects)
        for plan in prepared.arrays:
            found = array_expr(self, plan, hint)
            if found is not None:
                options.append(found)
        options += [self.string(text, hint) for text in prepared.texts]
        if prepared.numbers is not None:
            options.append(self._number(prepared.numbers, hint))
        options += [Text("true" if value else "false") for value in sorted(values.booleans)]
        if values.null:
            options.append(Text("null"))
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def string(self, text: Automaton | Language, hint: str) -> Expr:
        """Return a string of a language, in quotes."""
        if not isinstance(text, Automaton) and text is self.survey.reader.algebra.anything:
            hint = "string"
        return Seq((Text('"'), self.characters(text, Text('"'), hint)))

    def characters(self, text: Automaton | Language, after: Expr, hint: str) -> Expr:
        """Return what follows an opening quote: the characters, and then the end handed in."""
        key = (text, repr(after))
        found = self._texts.get(key)
        if found is None:
            ending = Ending(after, self.spelling.of)
            if isinstance(text, Automaton):
                found = write_automaton(self.book, text, ending, hint)
            elif text.kind is Kind.EXCEPT:
                found = self.others.write(text.args[0], ending)
            elif is_run(text):
                body, least, most = text.args
                run = self.book.repeated(self.spelling.of(body.args[0]), least, most)
                found = Seq((run, after))
            else:
                found = write_expression(self.book, text, ending)
            found = self.book.share(hint, found)
            self._texts[key] = found
        return found

    def key(self, names: Language, hint: str) -> Expr:
        """Return what follows the opening quote of a key of a language, up to its value."""
        reader = self.survey.reader
        text: Automaton | Language | None = names
        if names is not reader.algebra.anything and names.kind is not Kind.EXCEPT:
            text = reader.automaton(names)
        if text is None:
            self.deferred.add(("", "additionalProperties"))
            text = reader.algebra.anything
        return self.characters(text, Seq((Text('"'), self.style.colon)), hint)

    def _number(self, numbers: Automaton, hint: str) -> Expr:
        key = (numbers, "")
        found = self._texts.get(key)
        if found is None:
            found = self.book.share(
                hint, write_automaton(self.book, numbers, plain_ending(), hint)
            )
            self._texts[key] = found
        return found
