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
    kind = type(expr)
    if kind is Text or kind is Chars:
        return expr
    if isinstance(expr, Ref):
        try:
            return instead[expr.name]
        except KeyError:
            return expr
    if isinstance(expr, Seq):
        return seq(*[rebuilt(item, instead) for item in expr.items])
    if isinstance(expr, Alt):
        return alt([rebuilt(option, instead) for option in expr.options])
    assert isinstance(expr, Repeat)
    return repeat(rebuilt(expr.item, instead), expr.least, expr.most)


def seq(*items: Expr) -> Expr:
    """Return one after the other."""
    found: list[Expr] = []
    for item in items:
        inner = item.items if type(item) is Seq else (item,)
        if not inner:
            continue
        last, part = found[-1] if found else None, inner[0]
        if type(part) is Text and (type(last) is Text or not part.text):
            if part.text and type(last) is Text:
                found[-1] = Text(last.text + part.text)
        elif type(part) is Repeat and type(last) is Chars and part.item == last:
            most = None if part.most is None else part.most + 1
            found[-1] = Repeat(last, part.least + 1, most)
        else:
            found.append(part)
        # The rest of a sequence was put together before.
        found += inner[1:]
    if len(found) == 1:
        return found[0]
    return Seq(tuple(found)) if found else _NOTHING


def alt(options: Iterable[Expr]) -> Expr:
    """Return any one of them."""
    found: list[Expr] = []
    is_optional = False
    for option in options:
        for one in option.options if type(option) is Alt else (option,):
            # A way that leads to nothing at all makes the others optional.
            if type(one) is Text and not one.text:
                is_optional = True
            else:
                found.append(one)
    if not _begin_apart(found):
        found = list(dict.fromkeys(found))
    if not found:
        return _NOTHING
    whole = found[0] if len(found) == 1 else Alt(tuple(found))
    if is_optional and not _may_be_empty(whole):
        return Repeat(whole, 0, 1)
    return Alt((*found, _NOTHING)) if is_optional else whole


def _begin_apart(options: list[Expr]) -> bool:
    """Return whether surely no two are equal; a quick look at their beginnings is cheaper."""
    seen: set[str] = set()
    for option in options:
        first = option.items[0] if type(option) is Seq and option.items else option
        if type(first) is Text:
            seen.add(first.text)
        elif type(first) is Ref:
            seen.add(f"\0{first.name}")
        else:
            return len(options) < 2
    return len(seen) == len(options)


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
