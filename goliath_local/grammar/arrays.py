"""Arrays as rules.

Pure but for the book. Plain arrays are repetitions; where items must differ or be counted, each
state of the count is a rule.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from goliath_local.grammar.counts import Counts
from goliath_local.grammar.rules import Alt, Expr, Ref, Repeat, Seq, Text
from goliath_local.grammar.survey import finite_texts
from goliath_local.grammar.trees import prefix_tree

if TYPE_CHECKING:
    from goliath_local.grammar.counts import Count
    from goliath_local.grammar.items import ArrayPlan
    from goliath_local.grammar.lowers import Lowers
    from goliath_local.schema import Goal

_MOST_SETS = 130
"""States of an array whose items differ: one for each set of items that can be there."""


def array_expr(lowering: Lowers, plan: ArrayPlan, hint: str) -> Expr | None:
    """Return an expression for the arrays of a plan; None when there are none."""
    most = plan.most_of(lowering.survey.is_fertile)
    if most is not None and most < plan.least:
        return None
    if plan.contains:
        counts = Counts(lowering.survey, plan, most)
        if counts.explore():
            if plan.unique is not None:
                lowering.deferred.add(plan.unique)
            return _Counted(lowering, counts, hint).expr() if counts.has_arrays else None
        lowering.deferred |= {held.source for held in plan.contains}
    if plan.unique is not None and (most is None or most > 1):
        distinct = _distinct(lowering, plan, most, hint)
        if distinct is not None:
            return distinct
        lowering.deferred.add(plan.unique)
    return _plain(lowering, plan, most, hint)


def _item(lowering: Lowers, goal: Goal) -> Expr:
    return Seq((lowering.value(goal), lowering.style.after))


def _plain(lowering: Lowers, plan: ArrayPlan, most: int | None, hint: str) -> Expr:
    style, close = lowering.style, Text("]")
    size = len(plan.prefix) if most is None else min(len(plan.prefix), most)
    if most == 0:
        return Seq((style.array_open, close))
    if size == 0:
        item = _item(lowering, plan.rest)
        more = _repeated(
            lowering, item, max(plan.least - 1, 0), None if most is None else most - 1
        )
        inner = Seq((item, more))
        return Seq((style.array_open, inner if plan.least else Repeat(inner, 0, 1), close))
    tail: Expr = close
    if most is None or most > size:
        item = _item(lowering, plan.rest)
        left = None if most is None else most - size
        tail = Seq((_repeated(lowering, item, max(plan.least - size, 0), left), close))
    for place in range(size - 1, -1, -1):
        lead = style.comma if place else Text("")
        tail = Seq((lead, _item(lowering, plan.prefix[place]), tail))
        if place >= plan.least:
            tail = lowering.book.share(f"{hint}-items", Alt((tail, close)))
    return Seq((style.array_open, tail))


def _repeated(lowering: Lowers, item: Expr, least: int, most: int | None) -> Expr:
    more: Expr = Seq((lowering.style.comma, item))
    if least > 1 or (most is not None and most > 1):
        # One symbol to be counted: llama.cpp multiplies counts by symbols.
        more = lowering.book.share("more", more)
    return lowering.book.repeated(more, least, most)


def _distinct(lowering: Lowers, plan: ArrayPlan, most: int | None, hint: str) -> Expr | None:
    """Return arrays of different items; None when that takes too many states."""
    if plan.prefix:
        return None
    texts = finite_texts(lowering.survey, {plan.rest})
    if texts is None:
        return None
    longest = len(texts) if most is None else min(most, len(texts))
    if sum(comb(len(texts), size) for size in range(longest + 1)) > _MOST_SETS:
        return None
    book, close = lowering.book, Text("]")
    names: dict[frozenset[str], str] = {}

    def rest(used: frozenset[str]) -> Expr:
        """Return what may follow once these items are there."""
        if len(used) == longest:
            return close
        if used not in names:
            names[used] = book.reserve(f"{hint}-items")
            left = _next(used)
            more = Seq((lowering.style.comma, left))
            book.fill(names[used], Alt((more, close)) if len(used) >= plan.least else more)
        return Ref(names[used])

    def _next(used: frozenset[str]) -> Expr:
        after = lowering.style.after
        left = [(text, Seq((after, rest(used | {text})))) for text in texts if text not in used]
        return prefix_tree(left)

    if longest == 0:
        return Seq((lowering.style.array_open, close))
    first = _next(frozenset())
    options = (first, close) if plan.least == 0 else (first,)
    return Seq((lowering.style.array_open, Alt(options)))


class _Counted:
    """Writes arrays in which items of some kinds are counted."""

    def __init__(self, lowering: Lowers, counts: Counts, hint: str) -> None:
        self.lowering, self.counts, self.hint = lowering, counts, hint
        self.names: dict[Count, str] = {}
        self.waiting: list[tuple[str, Count]] = []

    def expr(self) -> Expr:
        """Return the arrays of the plan."""
        found = self.after(self.counts.start, Text(""))
        while self.waiting:
            name, count = self.waiting.pop()
            self.lowering.book.fill(name, self.after(count, self.lowering.style.comma))
        return Seq((self.lowering.style.array_open, found))

    def after(self, count: Count, lead: Expr) -> Expr:
        """Return what may follow once so much was counted."""
        options: list[Expr] = [
            Seq((lead, _item(self.lowering, goal), self.rest(to)))
            for goal, to in self.counts.steps[count]
        ]
        if self.counts.is_end(count):
            options.append(Text("]"))
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def rest(self, count: Count) -> Expr:
        """Return the rule of what may follow."""
        if count not in self.names:
            self.names[count] = self.lowering.book.reserve(f"{self.hint}-items")
            self.waiting.append((self.names[count], count))
        return Ref(self.names[count])
