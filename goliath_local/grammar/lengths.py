"""How short the sentences of a grammar can be, in bytes of UTF-8.

Pure. 0 says that a rule can be empty, `NEVER` that no finite text matches it. Written without
recursion: how deep a grammar nests is up to whoever wrote it.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text
from goliath_local.grammar.utf8 import characters

if TYPE_CHECKING:
    from goliath_local.grammar.rules import Expr, Rules

NEVER = float("inf")
"""The length of what no finite text matches."""


class Lengths:
    """The shortest length of every rule and of every expression in them."""

    __slots__ = ("_known", "by_rule", "orders")

    def __init__(self, rules: Rules) -> None:
        self.orders = {name: bottom_up(expr) for name, expr in rules.by_name.items()}
        """Every expression of each rule, parts before wholes."""
        self._known: dict[int, float] = {}
        self.by_rule: dict[str, float] = dict.fromkeys(rules.by_name, NEVER)
        """The length of each rule's shortest sentence."""
        self._settle()

    def of(self, expr: Expr) -> float:
        """Return the length of the shortest text of an expression that is part of the rules."""
        return self._known[id(expr)]

    def can_be_empty(self, expr: Expr) -> bool:
        """Return whether an expression that is part of the rules matches the empty text."""
        return self._known[id(expr)] == 0

    def _settle(self) -> None:
        """Lower the lengths until none can be lower: each rule again when one it uses changed."""
        users: dict[str, set[str]] = {}
        for name, order in self.orders.items():
            for expr in order:
                if isinstance(expr, Ref):
                    users.setdefault(expr.name, set()).add(name)
        # Rules mostly stand before those they use.
        waiting = deque(reversed(self.orders))
        queued = set(waiting)
        while waiting:
            name = waiting.popleft()
            queued.discard(name)
            length = self._measure(self.orders[name])
            if length < self.by_rule[name]:
                self.by_rule[name] = length
                again = users.get(name, set()) - queued
                queued |= again
                waiting.extend(sorted(again))

    def _measure(self, order: tuple[Expr, ...]) -> float:
        known = self._known
        for expr in order:
            known[id(expr)] = self._length(expr)
        return known[id(order[-1])]

    def _length(self, expr: Expr) -> float:
        match expr:
            case Text(text):
                return len(text.encode(errors="surrogatepass"))
            case Chars():
                return _shortest_character(expr)
            case Ref(name):
                return self.by_rule.get(name, NEVER)
            case Seq(items):
                return sum([self._known[id(item)] for item in items])
            case Alt(options):
                return min([self._known[id(option)] for option in options], default=NEVER)
            case Repeat(item, least):
                return least * self._known[id(item)] if least else 0


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions right inside this one."""
    match expr:
        case Seq(items):
            return items
        case Alt(options):
            return options
        case Repeat(item):
            return (item,)
        case Text() | Chars() | Ref():
            return ()


def bottom_up(expr: Expr) -> tuple[Expr, ...]:
    """Return every expression inside this one, parts before wholes, itself last."""
    found: list[Expr] = []
    todo = [expr]
    while todo:
        current = todo.pop()
        found.append(current)
        todo.extend(parts_of(current))
    found.reverse()
    return tuple(found)


@lru_cache(maxsize=1024)
def _shortest_character(chars: Chars) -> float:
    inside = characters(chars)
    return len(chr(inside[0][0]).encode()) if inside else NEVER
