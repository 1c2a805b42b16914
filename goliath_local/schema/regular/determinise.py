"""From an expression, or a list of texts, to its minimal automaton.

Pure. The states are the derivatives of the expression; those that lead nowhere are cut off, those
that mean the same are made one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from goliath_local.schema.regular.algebra import Kind, Language, is_run
from goliath_local.schema.regular.automaton import Automaton, Tail
from goliath_local.schema.regular.charsets import CharSet, parts, united
from goliath_local.schema.regular.minimal import minimal_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goliath_local.schema.regular.algebra import Algebra

MAX_STATES = 3000
"""Most states of one automaton; a pattern that needs more is left to be checked afterwards."""

_Rows: TypeAlias = list[list[tuple[CharSet, int]]]


class TooManyStates(Exception):
    """The automaton would be larger than is useful in a grammar."""


def determinise(
    algebra: Algebra, language: Language, *, max_states: int = MAX_STATES
) -> Automaton:
    """Return the minimal automaton of the language.

    Raises:
        TooManyStates: it has more states than allowed.
    """
    if language.kind is Kind.AUTOMATON and language.args[1] == 0:
        made: Automaton = language.args[0]
        return made
    numbers = {language: 0}
    order = [language]
    steps: list[dict[int, list[tuple[int, int]]]] = []
    for state in order:
        found: dict[int, list[tuple[int, int]]] = {}
        steps.append(found)
        if is_run(state):
            continue
        for held in parts(algebra.firsts(state)):
            target = algebra.after(state, held[0][0])
            if target is algebra.nothing:
                continue
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
                if len(order) > max_states:
                    raise TooManyStates
            found.setdefault(numbers[target], []).extend(held)
    tails = [_tail(state) for state in order]
    accepting = [state.has_empty for state in order]
    return _finished(
        [[(united(held), target) for target, held in found.items()] for found in steps],
        accepting,
        tails,
    )


def _tail(state: Language) -> Tail | None:
    if not is_run(state):
        return None
    body, least, most = state.args
    return Tail(body.args[0], least, most)


def of_texts(texts: Iterable[str]) -> Automaton:
    """Return the minimal automaton of a finite set of texts."""
    trie: list[dict[str, int]] = [{}]
    ends: set[int] = set()
    for text in texts:
        at = 0
        for char in text:
            following = trie[at].get(char)
            if following is None:
                following = trie[at][char] = len(trie)
                trie.append({})
            at = following
        ends.add(at)
    # Children come after their parents, so one pass from the back finds equal endings.
    canonical: dict[tuple[bool, tuple[tuple[str, int], ...]], int] = {}
    block = [0] * len(trie)
    for state in range(len(trie) - 1, -1, -1):
        key = (state in ends, tuple((char, block[t]) for char, t in sorted(trie[state].items())))
        block[state] = canonical.setdefault(key, state)
    return _merged(
        [[((((ord(c), ord(c)),)), t) for c, t in row.items()] for row in trie],
        [state in ends for state in range(len(trie))],
        [None] * len(trie),
        block,
    )


def _finished(steps: _Rows, accepting: list[bool], tails: Sequence[Tail | None]) -> Automaton:
    alive = _alive(steps, accepting, tails)
    steps = [
        [(held, target) for held, target in row if alive[target]] if alive[state] else []
        for state, row in enumerate(steps)
    ]
    return _merged(steps, accepting, tails, minimal_blocks(steps, accepting, tails))


def _alive(steps: _Rows, accepting: list[bool], tails: Sequence[Tail | None]) -> list[bool]:
    sources: list[list[int]] = [[] for _ in steps]
    for state, row in enumerate(steps):
        for _, target in row:
            sources[target].append(state)
    alive = [ends or tails[state] is not None for state, ends in enumerate(accepting)]
    waiting = [state for state, lives in enumerate(alive) if lives]
    while waiting:
        for source in sources[waiting.pop()]:
            if not alive[source]:
                alive[source] = True
                waiting.append(source)
    return alive


def _merged(
    steps: _Rows, accepting: list[bool], tails: Sequence[Tail | None], block: Sequence[int]
) -> Automaton:
    """Return the automaton of the blocks that can be reached, the start first."""
    example: dict[int, int] = {}
    for state, number in enumerate(block):
        example.setdefault(number, state)
    numbers = {block[0]: 0}
    order = [block[0]]
    rows: list[tuple[tuple[CharSet, int], ...]] = []
    for number in order:
        held_by: dict[int, list[tuple[int, int]]] = {}
        for held, target in steps[example[number]]:
            if block[target] not in numbers:
                numbers[block[target]] = len(order)
                order.append(block[target])
            held_by.setdefault(numbers[block[target]], []).extend(held)
        rows.append(
            tuple(
                [
                    (tuple(held) if len(held) == 1 else united(held), target)
                    for target, held in held_by.items()
                ]
            )
        )
    picked = [example[number] for number in order]
    return Automaton(
        tuple(rows), tuple(accepting[s] for s in picked), tuple(tails[s] for s in picked)
    )
