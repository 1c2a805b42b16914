"""Sentences of a grammar, drawn at random: to look at, and to test with.

Pure: the source of chance is handed in. Written without recursion, like everything that follows
rules as deep as somebody else made them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from goliath_local.grammar.lengths import NEVER, Lengths
from goliath_local.grammar.rules import Alt, Chars, Ref, Repeat, Seq, Text
from goliath_local.grammar.utf8 import characters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from goliath_local.grammar.rules import Expr, Rules

_FAMILIAR = ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x20, 0x20))
_FAMILIAR_SHARE = 0.9
_ANOTHER_ROUND = 0.75


def sample(rules: Rules, chance: Random, *, budget_bytes: int = 400) -> str:
    """Return a sentence of sound rules.

    Args:
        rules: the grammar; `verify` accepts it.
        chance: decides between alternatives, numbers of repetitions, and characters.
        budget_bytes: length from which on only the shortest way to the end is taken.
    """
    lengths = Lengths(rules)
    out: list[str] = []
    written = 0
    todo: list[Expr] = [Ref("root")]
    while todo:
        expr = todo.pop()
        tired = written > budget_bytes
        match expr:
            case Text(text):
                out.append(text)
                written += len(text)
            case Chars():
                out.append(_character(expr, chance))
                written += 1
            case Ref(name):
                todo.append(rules.by_name[name])
            case Seq(items):
                todo.extend(reversed(items))
            case Alt(options):
                todo.append(_option(options, lengths, None if tired else chance))
            case Repeat():
                times = _times(expr, lengths, None if tired else chance)
                todo.extend([expr.item] * times)
    return "".join(out)


def _option(options: Sequence[Expr], lengths: Lengths, chance: Random | None) -> Expr:
    """Return one of the options, the shortest without a chance."""
    if chance is None:
        return min(options, key=lengths.of)
    possible = [option for option in options if lengths.of(option) < NEVER]
    return possible[_weighted([_weight(option) for option in possible], chance)]


def _weight(option: Expr) -> int:
    """Return how likely an option is: any letter is likelier than the escapes beside it."""
    return 12 if isinstance(option, Chars) and _has_letters(option) else 1


@lru_cache(maxsize=256)
def _has_letters(chars: Chars) -> bool:
    return any(low <= 0x61 and high >= 0x7A for low, high in characters(chars))


def _times(repeat: Repeat, lengths: Lengths, chance: Random | None) -> int:
    """Return how often to repeat, as seldom as possible without a chance."""
    times = repeat.least
    if chance is None or lengths.of(repeat.item) == NEVER:
        return times
    while (repeat.most is None or times < repeat.most) and chance.random() < _ANOTHER_ROUND:
        times += 1
    return times


def _character(chars: Chars, chance: Random) -> str:
    """Return a character of the class, mostly a letter, a digit or a blank if it has any."""
    ranges = characters(chars)
    if chance.random() < _FAMILIAR_SHARE:
        narrowed = [
            (max(low, start), min(high, end))
            for start, end in ranges
            for low, high in _FAMILIAR
            if low <= end and start <= high
        ]
        ranges = tuple(narrowed) or ranges
    low, high = ranges[_weighted([high - low + 1 for low, high in ranges], chance)]
    return chr(chance.randint(low, high))


def _weighted(sizes: Sequence[int], chance: Random) -> int:
    return chance.choices(range(len(sizes)), weights=sizes)[0]
