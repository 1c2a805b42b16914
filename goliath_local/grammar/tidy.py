"""Makes rules short: what is written twice becomes one rule, what is used once moves to its place.

Pure. The language stays the same, and so do the places at which a text is told apart. It is first
decided what moves where, and then each rule is built once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Chars, Expr, Ref, Rules, Text
from goliath_local.grammar.simplify import Uses, rebuilt, uses_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

_DEEPEST = 12
"""Groups inside one another in one rule, so that no reader of GBNF runs out of stack."""

_LONGEST = 600
"""Parts of one rule, about; a longer one is not moved into another."""

_TINY = 12
"""Characters of a literal that is repeated rather than given a rule."""

_NUMBERED = re.compile(r"-\d+$")


def tidy(rules: Mapping[str, Expr]) -> Rules:
    """Return the rules, tidied, `root` first and the others as they are met."""
    uses, same = _merged(rules)
    moves = _Moves(rules, uses)
    names = _renamed(moves)
    written = _Written(moves, names, same)
    return Rules({names[name]: rebuilt(rules[name], written) for name in names})


def _merged(rules: Mapping[str, Expr]) -> tuple[dict[str, Uses], dict[str, str]]:
    """Return what the rules refer to, one rule of each kind, and which one stands for a rule."""
    uses: dict[str, Uses] = {}
    waiting = ["root"]
    while waiting:
        name = waiting.pop()
        if name not in uses:
            found = uses[name] = uses_of(rules[name])
            waiting += found.names[::-1]
    same = _same(uses)
    kept: dict[str, Uses] = {}
    for name, one in uses.items():
        if same[name] == name:
            names = tuple([same[other] for other in one.names])
            if names == one.names:
                kept[name] = one
            else:
                counted = frozenset([same[other] for other in one.counted])
                kept[name] = replace(one, names=names, counted=counted)
    return kept, same


def _same(uses: Mapping[str, Uses]) -> dict[str, str]:
    """Return for each rule the first that says the same, whatever others are called.

    All rules of one shape are taken for the same, until those they refer to are not.
    """
    kinds: dict[Hashable, int] = {}
    kind = {name: kinds.setdefault(found.shape, len(kinds)) for name, found in uses.items()}
    groups: dict[int, list[str]] = {}
    for name, number in kind.items():
        groups.setdefault(number, []).append(name)
    unsure = [group for group in groups.values() if len(group) > 1]
    number, is_settled = len(kinds), False
    while not is_settled:
        is_settled = True
        finer: list[list[str]] = []
        fresh: list[tuple[str, int]] = []
        for group in unsure:
            parts: dict[tuple[int, ...], list[str]] = {}
            for name in group:
                parts.setdefault(tuple([kind[n] for n in uses[name].names]), []).append(name)
            finer += [part for part in parts.values() if len(part) > 1]
            for part in list(parts.values())[1:]:
                is_settled = False
                fresh += [(name, number) for name in part]
                number += 1
        kind |= fresh
        unsure = finer
    first: dict[int, str] = {}
    return {name: first.setdefault(number, name) for name, number in kind.items()}


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

    def kept(self) -> list[str]:
        """Return the rules that stay, in the order they are met."""
        return _reached(self.refers)


class _Written(dict[str, Expr]):
    """What stands for a name: a rule that moved there, or the new name."""

    def __init__(self, moves: _Moves, names: Mapping[str, str], same: Mapping[str, str]) -> None:
        super().__init__()
        self.moves, self.names, self.same = moves, names, same

    def __missing__(self, name: str) -> Expr:
        found: Expr
        first = self.same[name]
        if first in self.moves.moved:
            found = rebuilt(self.moves.rules[first], self)
        else:
            found = Ref(self.names[first])
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
