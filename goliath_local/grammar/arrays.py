"""Arrays as rules.

Pure but for the book. Plain arrays are repetitions; where items must differ or be counted, each
state of the count is a rule.
"""

from __future__ import annotations

from itertools import product
from math import comb
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.grammar.machine import TooManyStates, living
from goliath_local.grammar.rules import Alt, Expr, Ref, Repeat, Seq, Text
from goliath_local.grammar.survey import finite_texts
from goliath_local.grammar.trees import prefix_tree
from goliath_local.schema import joined

if TYPE_CHECKING:
    from goliath_local.grammar.items import ArrayPlan
    from goliath_local.grammar.lowers import Lowers
    from goliath_local.schema import Contained, Goal

_MOST_SETS = 130
"""States of an array whose items differ: one for each set of items that can be there."""

_MOST_COUNTS = 400

_Count: TypeAlias = tuple[int, tuple[int, ...]]
"""Items so far, as far as it matters, and how many of each kind."""


def array_expr(lowering: Lowers, plan: ArrayPlan, hint: str) -> Expr | None:
    """Return an expression for the arrays of a plan; None when there are none."""
    most = _most(lowering, plan)
    if most is not None and most < plan.least:
        return None
    if plan.contains:
        counted = _Counted(lowering, plan, most, hint).expr()
        if counted is not None:
            if plan.unique is not None:
                lowering.deferred.add(plan.unique)
            return counted
        lowering.deferred |= {held.source for held in plan.contains}
    if plan.unique is not None and (most is None or most > 1):
        distinct = _distinct(lowering, plan, most, hint)
        if distinct is not None:
            return distinct
        lowering.deferred.add(plan.unique)
    return _plain(lowering, plan, most, hint)


def _most(lowering: Lowers, plan: ArrayPlan) -> int | None:
    """Return how many items there can be, seeing that some places have no value."""
    for place, goal in enumerate(plan.prefix):
        if not lowering.survey.is_fertile(goal):
            return place if plan.most is None else min(place, plan.most)
    if not lowering.survey.is_fertile(plan.rest):
        size = len(plan.prefix)
        return size if plan.most is None else min(size, plan.most)
    return plan.most


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
    """Arrays in which items of some kinds are counted."""

    def __init__(self, lowering: Lowers, plan: ArrayPlan, most: int | None, hint: str) -> None:
        self.lowering, self.plan, self.most, self.hint = lowering, plan, most, hint
        starts = [held.start for held in plan.contains]
        self.cap = max(len(plan.prefix), plan.least, most or 0, *starts)
        self.names: dict[_Count, str] = {}

    def expr(self) -> Expr | None:
        """Return the arrays of the plan; None when counting takes too many states."""
        if any(held.most is not None and not self.is_exact(held) for held in self.plan.contains):
            return None
        start: _Count = (0, (0,) * len(self.plan.contains))
        if self.cap > _MOST_COUNTS:
            return None
        try:
            self.steps = living(start, self.options, self.is_end, most=_MOST_COUNTS)
        except TooManyStates:
            return None
        if start not in self.steps:
            return None
        lowering, close = self.lowering, Text("]")
        options = [self.step(*step) for step in self.steps[start]]
        if self.is_end(start):
            options.append(close)
        first = options[0] if len(options) == 1 else Alt(tuple(options))
        return Seq((lowering.style.array_open, first))

    def is_exact(self, held: Contained) -> bool:
        """Return whether it is known which items are not of a kind."""
        return not self.lowering.survey.at(held.but).deferred

    def is_end(self, count: _Count) -> bool:
        place, counts = count
        return place >= self.plan.least and all(
            found >= held.least for found, held in zip(counts, self.plan.contains, strict=True)
        )

    def options(self, count: _Count) -> list[tuple[Goal, _Count]]:
        """Return which items may come next, and what is counted then."""
        place, counts = count
        if self.most is not None and place >= self.most:
            return []
        goal = self.plan.goal(place)
        choices = [
            self.choices(held, found, place)
            for held, found in zip(self.plan.contains, counts, strict=True)
        ]
        following = min(place + 1, self.cap)
        steps = []
        for chosen in product(*choices):
            wanted = joined(goal, *(one for one, _ in chosen))
            if self.lowering.survey.is_fertile(wanted):
                steps.append((wanted, (following, tuple(found for _, found in chosen))))
        return steps

    def choices(self, held: Contained, found: int, place: int) -> list[tuple[Goal, int]]:
        if place < held.start or (held.most is None and found >= held.least):
            return [((), found)]
        other = held.but if self.is_exact(held) else ()
        choices = [(other, found)]
        if held.most is None or found < held.most:
            choices.append((held.goal, found + 1))
        return choices

    def step(self, goal: Goal, count: _Count) -> Expr:
        return Seq((_item(self.lowering, goal), self.rest(count)))

    def rest(self, count: _Count) -> Expr:
        """Return what may follow once so much was counted."""
        if count not in self.names:
            name = self.names[count] = self.lowering.book.reserve(f"{self.hint}-items")
            comma = self.lowering.style.comma
            options: list[Expr] = [Seq((comma, self.step(*step))) for step in self.steps[count]]
            if self.is_end(count):
                options.append(Text("]"))
            whole = options[0] if len(options) == 1 else Alt(tuple(options))
            self.lowering.book.fill(name, whole)
        return Ref(self.names[count])
