"""Makes rules short: what is written twice becomes one rule, what is used once moves to its place.

Pure. The language stays the same, and so do the places at which a text is told apart.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from goliath_local.grammar.rules import Alt, Chars, Expr, Ref, Repeat, Rules, Seq, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 12
"""Groups inside one another in one rule, so that no reader of GBNF runs out of stack."""

_LONGEST = 600
"""Parts of one rule, about; a longer one is not moved into another."""

_TINY = 12
"""Characters of a literal that is repeated rather than given a rule."""

_NOTHING = Text("")
_SOME = 0
_NUMBERED = re.compile(r"-\d+$")


def tidy(rules: Mapping[str, Expr]) -> Rules:
    """Return the rules, tidied, `root` first and the others as they are met."""
    merged = _merged(_reached(rules, {name: references(expr) for name, expr in rules.items()}))
    return Rules(_renamed(_moved(merged)))


def _merged(rules: dict[str, Expr]) -> dict[str, Expr]:
    """Return the rules simplified, with equal ones made one."""
    by_expr: dict[Expr, str] = {}
    instead: dict[str, Expr] = {}
    merged: dict[str, Expr] = {}
    # From the back, so that what a rule refers to was mostly seen before.
    for name, expr in reversed(tuple(rules.items())):
        whole = rebuilt(expr, instead)
        first = by_expr.setdefault(whole, name)
        if name not in (first, "root"):
            instead[name] = Ref(first)
        else:
            merged[name] = whole
    found = {}
    for name in rules:
        if name in merged:
            whole = merged[name]
            # A rule that was met before the one it is to refer to.
            late = any(other in instead for other in references(whole))
            found[name] = rebuilt(whole, instead) if late else whole
    return found


def _moved(rules: dict[str, Expr]) -> dict[str, Expr]:
    """Return the rules with what is used once, or is tiny, moved to where it is used."""
    refers = {name: references(expr) for name, expr in rules.items()}
    rules = _reached(rules, refers)
    uses = Counter(other for name in rules for other in refers[name])
    counted = {other for expr in rules.values() for other in _counted(expr)}
    instead: dict[str, Expr] = {}
    moved: dict[str, Expr] = {}
    depths: dict[str, int] = {}
    # From the back, for a rule that is used once comes after the one that uses it.
    for name, expr in reversed(tuple(rules.items())):
        taken = {other: instead[other] for other in refers[name] if other in instead}
        whole = rebuilt(expr, taken) if taken else expr
        size, depth = _measures(whole)
        if depth > _DEEPEST:
            for other in taken:
                if depths[other] > 1:
                    del instead[other]
            taken = {other: instead[other] for other in taken if other in instead}
            whole = rebuilt(expr, taken) if taken else expr
            size, depth = _measures(whole)
        moved[name], depths[name] = whole, depth
        if name == "root" or name in refers[name]:
            continue
        is_atom = isinstance(whole, Chars | Ref) or (
            isinstance(whole, Text) and (len(whole.text) <= _TINY or uses[name] == 1)
        )
        is_lone = uses[name] == 1 and name not in counted
        if is_atom or (is_lone and size <= _LONGEST and depth < _DEEPEST // 2):
            instead[name] = whole
    # Tiny rules may be used before they are met from the back.
    found = {}
    for name in rules:
        late = any(other in instead for other in references(moved[name]))
        found[name] = rebuilt(moved[name], instead) if late else moved[name]
    root = found["root"]
    if isinstance(root, Ref) and uses[root.name] == 1:
        found["root"] = found[root.name]
    return _reached(found, {name: references(expr) for name, expr in found.items()})


def rebuilt(expr: Expr, instead: Mapping[str, Expr]) -> Expr:
    """Return the expression without needless parts, with some rules written out."""
    kind = type(expr)
    if kind is Ref:
        return instead.get(expr.name, expr)  # type: ignore[union-attr]  # a Ref by its type
    if kind is Text or kind is Chars:
        return expr
    if kind is Seq:
        return _seq([rebuilt(item, instead) for item in expr.items])  # type: ignore[union-attr]
    if kind is Alt:
        return _alt([rebuilt(option, instead) for option in expr.options])  # type: ignore[union-attr]
    assert isinstance(expr, Repeat)
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


def references(expr: Expr) -> list[str]:
    """Return the names an expression refers to, in order, each as often as it does."""
    found: list[str] = []
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind is Ref:
            found.append(part.name)  # type: ignore[union-attr]  # a Ref by its type
        elif kind is Seq:
            waiting += part.items[::-1]  # type: ignore[union-attr]
        elif kind is Alt:
            waiting += part.options[::-1]  # type: ignore[union-attr]
        elif kind is Repeat:
            waiting.append(part.item)  # type: ignore[union-attr]
    return found


def _reached(rules: Mapping[str, Expr], refers: Mapping[str, list[str]]) -> dict[str, Expr]:
    """Return the rules that the root needs, in the order they are met."""
    found: dict[str, Expr] = {}
    waiting = ["root"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = rules[name]
            waiting += refers[name][::-1]
    return found


def _counted(expr: Expr) -> Iterator[str]:
    """Yield the names of rules that a count stands behind: llama.cpp counts their parts."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        match part:
            case Seq(items):
                waiting += items
            case Alt(options):
                waiting += options
            case Repeat(item, least, most):
                if least > 1 or (most is not None and most > 1):
                    yield from references(item)
                waiting.append(item)
            case _:
                pass


def _measures(expr: Expr) -> tuple[int, int]:
    """Return how many parts an expression has, and how deep they are inside one another."""
    size = depth = 0
    waiting = [(expr, 0)]
    while waiting:
        part, at = waiting.pop()
        size += 1
        depth = max(depth, at)
        match part:
            case Seq(items):
                waiting += [(item, at) for item in items]
            case Alt(options):
                waiting += [(option, at + 1) for option in options]
            case Repeat(item, _, _):
                waiting.append((item, at + 1))
            case _:
                pass
    return size, depth


def _renamed(rules: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the rules with the numbers of their names in order."""
    taken: set[str] = set()
    names: dict[str, Expr] = {}
    for name in rules:
        base = _NUMBERED.sub("", name)
        chosen, count = base, 1
        while chosen in taken:
            count += 1
            chosen = f"{base}-{count}"
        taken.add(chosen)
        names[name] = Ref(chosen)
    return {
        ref.name: _relabelled(rules[name], names)
        for name, ref in names.items()
        if isinstance(ref, Ref)
    }


def _relabelled(expr: Expr, names: Mapping[str, Expr]) -> Expr:
    kind = type(expr)
    if kind is Ref:
        return names[expr.name]  # type: ignore[union-attr]  # a Ref by its type
    if kind is Seq:
        return Seq(tuple([_relabelled(item, names) for item in expr.items]))  # type: ignore[union-attr]
    if kind is Alt:
        return Alt(tuple([_relabelled(option, names) for option in expr.options]))  # type: ignore[union-attr]
    if kind is Repeat:
        return Repeat(_relabelled(expr.item, names), expr.least, expr.most)  # type: ignore[union-attr]
    return expr
