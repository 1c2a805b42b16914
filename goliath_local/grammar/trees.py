"""Prefix trees: texts that begin alike share what they have in common.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Expr, Text
from goliath_local.grammar.simplify import alt, seq

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_DEEPEST = 40


def prefix_tree(
    entries: Sequence[tuple[str, Expr]],
    *,
    share: Callable[[Expr], Expr] = lambda expr: expr,
    depth: int = 0,
) -> Expr:
    """Return an expression for texts, each followed by what belongs to it.

    Args:
        entries: the texts, all different.
        share: makes a rule of a branch, since other trees may have the same one.
        depth: how many branches are above.

    At no place of it do two ways begin with the same character, unless texts share more than some
    forty prefixes of one another.
    """
    if len(entries) == 1:
        text, after = entries[0]
        return seq(Text(text), after)
    if depth > _DEEPEST:
        return alt(seq(Text(text), after) for text, after in entries)
    groups: dict[str, list[tuple[str, Expr]]] = {}
    for text, after in entries:
        groups.setdefault(text[:1], []).append((text, after))
    options: list[Expr] = []
    for first, group in groups.items():
        if not first:
            options += [after for _, after in group]
            continue
        shared = _common_start([text for text, _ in group])
        rest = [(text[len(shared) :], after) for text, after in group]
        inner = prefix_tree(rest, share=share, depth=depth + 1)
        if len(rest) > 1:
            inner = share(inner)
        options.append(seq(Text(shared), inner))
    return alt(options)


def _common_start(texts: list[str]) -> str:
    """Return what all the texts begin with."""
    first, last = min(texts), max(texts)
    size = next((i for i, char in enumerate(first) if last[i : i + 1] != char), len(first))
    return first[:size]
