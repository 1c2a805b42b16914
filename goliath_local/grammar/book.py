"""The rules of a grammar while it is being written.

The book changes as rules are added; a rule never does. Equal expressions become one rule, and no
two rules have one name.
"""

from __future__ import annotations

import re
from math import isqrt

from goliath_local.grammar.rules import Expr, Ref, Repeat, Seq

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 16

# llama.cpp writes x{0,n} out as n rules; above this, blocks are shorter than that.
_WRITTEN_OUT = 256


class Book:
    """Names and rules."""

    def __init__(self) -> None:
        self.rules: dict[str, Expr] = {}
        self._by_expr: dict[Expr, str] = {}
        self._taken: dict[str, int] = {}

    def reserve(self, hint: str) -> str:
        """Return a name that nothing else has; its rule comes later."""
        name = _NOT_IN_A_NAME.sub("-", hint.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "v"
        count = self._taken.get(name, 0)
        self._taken[name] = count + 1
        if count == 0:
            return name
        numbered = f"{name}-{count + 1}"
        return numbered if numbered not in self._taken else self.reserve(numbered)

    def fill(self, name: str, expr: Expr) -> None:
        """Write the rule of a reserved name."""
        self.rules[name] = expr

    def share(self, hint: str, expr: Expr) -> Expr:
        """Return a reference to a rule of that expression, an old one if there is one."""
        if isinstance(expr, Ref):
            return expr
        name = self._by_expr.get(expr)
        if name is None:
            name = self._by_expr[expr] = self.reserve(hint)
            self.fill(name, expr)
        return Ref(name)

    def repeated(self, item: Expr, least: int, most: int | None) -> Expr:
        """Return the item so many times over, in blocks where the numbers are large.

        No count is ever above the limit of llama.cpp, which is 2000.
        """
        if most is None:
            if least <= _WRITTEN_OUT:
                return Repeat(item, least, None)
            return Seq((self._exactly(item, least), Repeat(item, 0, None)))
        if most <= _WRITTEN_OUT:
            return Repeat(item, least, most)
        parts = [self._exactly(item, least)] if least else []
        if most > least:
            parts.append(self._at_most(item, most - least))
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def _exactly(self, item: Expr, count: int) -> Expr:
        if count <= _WRITTEN_OUT:
            return Repeat(item, count, count)
        size = isqrt(count)
        blocks = self._exactly(self._block(item, size), count // size)
        left = count % size
        return Seq((blocks, Repeat(item, left, left))) if left else blocks

    def _at_most(self, item: Expr, count: int) -> Expr:
        if count <= _WRITTEN_OUT:
            return Repeat(item, 0, count)
        # q blocks of k, then up to r: as r is at least k - 1, each count up to q k + r is reached.
        #   3000 = 53 blocks of 54, up to 138 more
        size = isqrt(count)
        blocks = (count - size + 1) // size
        left = count - blocks * size
        return Seq((self._at_most(self._block(item, size), blocks), self._at_most(item, left)))

    def _block(self, item: Expr, size: int) -> Expr:
        return self.share("block", self._exactly(item, size))
