"""Expressions without needless parts, and what they refer to.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Seq, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING = Text("")
_SOME = 0


@dataclass(frozen=True, slots=True)
class Uses:
    """What an expression refers to, and how large it is."""

    names: tuple[str, ...]
    """In order, each as often as it is used."""

    depths: tuple[int, ...]
    """How many groups each of them is inside of."""

    counted: frozenset[str]
    """Those behind a count: llama.cpp counts their parts too."""

    parts: int
    depth: int


def uses_of(expr: Expr) -> Uses:
    """Return what an expression refers to."""
    names: list[str] = []
    depths: list[int] = []
    counted: set[str] = set()
    parts = deepest = 0
    waiting: list[tuple[Expr, int, bool]] = [(expr, 0, False)]
    while waiting:
        part, depth, is_counted = waiting.pop()
        parts += 1
        if isinstance(part, Ref):
            names.append(part.name)
            depths.append(depth)
            if is_counted:
                counted.add(part.name)
        elif isinstance(part, Seq):
            waiting += [(item, depth, is_counted) for item in part.items[::-1]]
        elif isinstance(part, Alt):
            waiting += [(option, depth + 1, is_counted) for option in part.options[::-1]]
        elif isinstance(part, Repeat):
            many = part.least > 1 or (part.most is not None and part.most > 1)
            waiting.append((part.item, depth + 1, is_counted or many))
        deepest = max(deepest, depth)
    return Uses(tuple(names), tuple(depths), frozenset(counted), parts, deepest)


def rebuilt(expr: Expr, instead: Mapping[str, Expr]) -> Expr:  # noqa: PLR0911  # one a kind
    """Return the expression without needless parts, with some rules written out.

    Args:
        expr: any expression.
        instead: what stands for a name; a name that is not in it stays.
    """
    if isinstance(expr, Ref):
        try:
            return instead[expr.name]
        except KeyError:
            return expr
    if isinstance(expr, Text | Chars):
        return expr
    if isinstance(expr, Seq):
        return _seq([rebuilt(item, instead) for item in expr.items])
    if isinstance(expr, Alt):
        return _alt([rebuilt(option, instead) for option in expr.options])
    inner = rebuilt(expr.item, instead)
    if expr.most == 0 or inner == _NOTHING:
        return _NOTHING
    return inner if expr.least == expr.most == 1 else Repeat(inner, expr.least, expr.most)


def _seq(items: list[Expr]) -> Expr:
    found: list[Expr] = []
    for item in items:
        for part in item.items if isinstance(item, Seq) else (item,):
            last = found[-1] if found else _NOTHING
            if isinstance(part, Text) and isinstance(last, Text) and found:
                found[-1] = Text(last.text + part.text)
            elif isinstance(part, Repeat) and isinstance(part.item, Chars) and part.item == last:
                most = None if part.most is None else part.most + 1
                found[-1] = Repeat(last, part.least + 1, most)
            elif part != _NOTHING:
                found.append(part)
    if len(found) == 1:
        return found[0]
    return Seq(tuple(found)) if found else Text("")


def _alt(options: list[Expr]) -> Expr:
    found: dict[Expr, int | None] = {}
    for option in options:
        for part in option.options if isinstance(option, Alt) else (option,):
            found[part] = None
    # A way that leads to nothing at all makes the others optional.
    is_optional = found.pop(_NOTHING, _SOME) is None
    if not found:
        return _NOTHING
    whole = next(iter(found)) if len(found) == 1 else Alt(tuple(found))
    if is_optional and not _may_be_empty(whole):
        return Repeat(whole, 0, 1)
    return Alt((*found, _NOTHING)) if is_optional else whole


def _may_be_empty(expr: Expr) -> bool:
    match expr:
        case Text(text):
            return not text
        case Repeat(item, least, _):
            return least == 0 or _may_be_empty(item)
        case Seq(items):
            return all(_may_be_empty(item) for item in items)
        case Alt(options):
            return any(_may_be_empty(option) for option in options)
        case _:
            return False
