"""Makes rules short: what is written twice becomes one rule, what is used once moves to its place.

Pure. The language stays the same, and so do the places at which a text is told apart. It is first
decided what moves where, and then each rule is built once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Chars, Expr, Ref, Rules, Text
from goliath_local.grammar.simplify import Uses, rebuilt, uses_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEEPEST = 12
"""Groups inside one another in one rule, so that no reader of GBNF runs out of stack."""

_LONGEST = 600
"""Parts of one rule, about; a longer one is not moved into another."""

_TINY = 12
"""Characters of a literal that is repeated rather than given a rule."""

_NUMBERED = re.compile(r"-\d+$")


def tidy(rules: Mapping[str, Expr]) -> Rules:
    """Return the rules, tidied, `root` first and the others as they are met."""
    merged, uses = _merged(rules)
    moves = _Moves(merged, uses)
    names = _renamed(moves)
    return Rules({names[name]: moves.built(name, names) for name in names})


def _merged(rules: Mapping[str, Expr]) -> tuple[dict[str, Expr], dict[str, Uses]]:
    """Return the rules that the root needs, equal ones made one, and what they refer to."""
    uses = {name: uses_of(expr) for name, expr in rules.items()}
    order = _reached({name: found.names for name, found in uses.items()})
    by_expr: dict[Expr, str] = {}
    instead: dict[str, Expr] = {}
    merged: dict[str, Expr] = {}
    # From the back, so that what a rule refers to was mostly seen before.
    for name in reversed(order):
        whole = rebuilt(rules[name], instead)
        first = by_expr.setdefault(whole, name)
        if name not in (first, "root"):
            instead[name] = Ref(first)
        else:
            merged[name] = whole
    found: dict[str, Expr] = {}
    for name in order:
        if name in merged:
            whole = merged[name]
            uses[name] = uses_of(whole)
            if any(other in instead for other in uses[name].names):
                # It was met before the rule it is to refer to.
                whole = rebuilt(whole, instead)
                uses[name] = uses_of(whole)
            found[name] = whole
    return found, uses


def _reached(refers: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the names that the root needs, in the order they are met."""
    found: dict[str, None] = {}
    waiting = ["root"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += refers[name][::-1]
    return list(found)


@dataclass(slots=True)
class _Size:
    parts: int
    depth: int


class _Moves:
    """Which rules move to where they are used."""

    def __init__(self, rules: Mapping[str, Expr], uses: Mapping[str, Uses]) -> None:
        self.rules = rules
        order = _reached({name: found.names for name, found in uses.items()})
        counts = Counter(other for name in order for other in uses[name].names)
        counted = {other for name in order for other in uses[name].counted}
        self.moved: set[str] = set()
        self.refers: dict[str, tuple[str, ...]] = {}
        sizes: dict[str, _Size] = {}
        # From the back, for a rule that is used once comes after the one that uses it.
        for name in reversed(order):
            own, expr = uses[name], rules[name]
            size = self._grown(own, sizes)
            if size.depth > _DEEPEST:
                self.moved -= {
                    other for other in own.names if other in sizes and sizes[other].depth
                }
                size = self._grown(own, sizes)
            sizes[name] = size
            is_lone = counts[name] == 1 and name not in counted and name not in own.names
            is_short = size.parts <= _LONGEST and size.depth < _DEEPEST // 2
            if name != "root" and (_is_atom(expr, counts[name]) or (is_lone and is_short)):
                self.moved.add(name)
        target = rules["root"]
        if isinstance(target, Ref) and counts[target.name] == 1:
            self.moved.add(target.name)
        for name in reversed(order):
            self.refers[name] = tuple(
                last
                for other in uses[name].names
                for last in (self.refers.get(other, ()) if other in self.moved else (other,))
            )

    def _grown(self, own: Uses, sizes: Mapping[str, _Size]) -> _Size:
        """Return how large a rule is with what moves into it."""
        parts, depth = own.parts, own.depth
        for other, at in zip(own.names, own.depths, strict=True):
            if other in self.moved:
                parts += sizes[other].parts
                depth = max(depth, at + sizes[other].depth)
        return _Size(parts, depth)

    def built(self, name: str, names: Mapping[str, str]) -> Expr:
        """Return a rule with all that moved into it, under the new names."""
        return rebuilt(self.rules[name], _Written(self, names))

    def kept(self) -> list[str]:
        """Return the rules that stay, in the order they are met."""
        return _reached(self.refers)


class _Written(dict[str, Expr]):
    """What stands for a name: a rule that moved there, or the new name."""

    def __init__(self, moves: _Moves, names: Mapping[str, str]) -> None:
        super().__init__()
        self.moves, self.names = moves, names

    def __missing__(self, name: str) -> Expr:
        found: Expr
        if name in self.moves.moved:
            found = rebuilt(self.moves.rules[name], self)
        else:
            found = Ref(self.names[name])
        self[name] = found
        return found


def _is_atom(expr: Expr, count: int) -> bool:
    if isinstance(expr, Text):
        return len(expr.text) <= _TINY or count == 1
    return isinstance(expr, Chars | Ref)


def _renamed(moves: _Moves) -> dict[str, str]:
    """Return the names of the rules that stay, with the numbers of their new names in order."""
    taken: Counter[str] = Counter()
    found: dict[str, str] = {}
    used: set[str] = set()
    for name in moves.kept():
        base = _NUMBERED.sub("", name)
        chosen = base
        while chosen in used:
            taken[base] += 1
            chosen = f"{base}-{taken[base] + 1}"
        used.add(chosen)
        found[name] = chosen
    return found
