"""Expressions without needless parts, and what they refer to.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Seq, Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

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
    shape: tuple[Hashable, ...]
    """The expression but for the names; equal for those that differ in nothing else."""


def uses_of(expr: Expr) -> Uses:
    """Return what an expression refers to."""
    names: list[str] = []
    depths: list[int] = []
    counted: set[str] = set()
    shape: list[Hashable] = []
    deepest = 0
    waiting: list[tuple[Expr, int, bool]] = [(expr, 0, False)]
    while waiting:
        part, depth, is_counted = waiting.pop()
        if isinstance(part, Ref):
            shape.append(None)
            names.append(part.name)
            depths.append(depth)
            if is_counted:
                counted.add(part.name)
        elif isinstance(part, Text):
            shape.append(part.text)
        elif isinstance(part, Seq):
            shape.append(len(part.items))
            waiting += [(item, depth, is_counted) for item in part.items[::-1]]
        elif isinstance(part, Alt):
            shape.append(-len(part.options))
            waiting += [(option, depth + 1, is_counted) for option in part.options[::-1]]
        elif isinstance(part, Repeat):
            shape.append((part.least, part.most))
            many = part.least > 1 or (part.most is not None and part.most > 1)
            waiting.append((part.item, depth + 1, is_counted or many))
        else:
            shape.append(part)
        deepest = max(deepest, depth)
    return Uses(tuple(names), tuple(depths), frozenset(counted), len(shape), deepest, tuple(shape))


def rebuilt(expr: Expr, instead: Mapping[str, Expr]) -> Expr:
    """Return the expression with some rules written out, and no needless parts.

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
        return seq(*[rebuilt(item, instead) for item in expr.items])
    if isinstance(expr, Alt):
        return alt([rebuilt(option, instead) for option in expr.options])
    return repeat(rebuilt(expr.item, instead), expr.least, expr.most)


def seq(*items: Expr) -> Expr:
    """Return one after the other."""
    found: list[Expr] = []
    last: Expr = _NOTHING
    for item in items:
        for part in item.items if type(item) is Seq else (item,):
            if type(part) is Text:
                if not part.text:
                    continue
                if type(last) is Text and found:
                    last = found[-1] = Text(last.text + part.text)
                    continue
            elif type(part) is Repeat and type(last) is Chars and part.item == last:
                most = None if part.most is None else part.most + 1
                last = found[-1] = Repeat(last, part.least + 1, most)
                continue
            last = part
            found.append(part)
    if len(found) == 1:
        return last
    return Seq(tuple(found)) if found else _NOTHING


def alt(options: Iterable[Expr]) -> Expr:
    """Return any one of them."""
    found: dict[Expr, int | None] = {}
    for option in options:
        if isinstance(option, Alt):
            found |= dict.fromkeys(option.options)
        else:
            found[option] = None
    # A way that leads to nothing at all makes the others optional.
    is_optional = found.pop(_NOTHING, _SOME) is None
    if not found:
        return _NOTHING
    whole = next(iter(found)) if len(found) == 1 else Alt(tuple(found))
    if is_optional and not _may_be_empty(whole):
        return Repeat(whole, 0, 1)
    return Alt((*found, _NOTHING)) if is_optional else whole


def repeat(item: Expr, least: int, most: int | None) -> Expr:
    """Return the item so many times over."""
    if most == 0 or item == _NOTHING:
        return _NOTHING
    return item if least == most == 1 else Repeat(item, least, most)


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
