"""Which states of an automaton mean the same.

Pure. Hopcroft's partition refinement, over the parts of the alphabet that are told apart.
Source: J. Hopcroft, An n log n algorithm for minimizing states in a finite automaton (1971).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from goliath_local.schema.regular.charsets import CharSet, holds, parts

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_MAX_WORK = 400_000


def minimal_blocks(
    steps: Sequence[Sequence[tuple[CharSet, int]]],
    accepting: Sequence[bool],
    tails: Sequence[Hashable],
) -> list[int]:
    """Return a number for each state; states with the same number accept the same texts.

    A state that leads nowhere counts as any other. A very large automaton is returned as it is:
    derivatives hardly ever make more states than are needed.
    """
    sets = list({held for row in steps for held, _ in row})
    if len(sets) * len(steps) > _MAX_WORK:
        return list(range(len(steps)))
    sources = _sources(steps, sets)
    block = _first_blocks(accepting, tails)
    members: list[set[int]] = [set() for _ in range(max(block) + 1)]
    for state, number in enumerate(block):
        members[number].add(state)
    waiting = list(range(len(members)))
    is_waiting = [True] * len(members)
    while waiting:
        number = waiting.pop()
        is_waiting[number] = False
        splitter = tuple(members[number])  # as it is now: it may be split itself
        for into in sources:
            touched: dict[int, set[int]] = defaultdict(set)
            for state in splitter:
                for source in into.get(state, ()):
                    touched[block[source]].add(source)
            for hit, found in touched.items():
                if len(found) == len(members[hit]):
                    continue
                _split(hit, found, block=block, members=members)
                is_waiting.append(False)
                smaller = len(members) - 1
                if not is_waiting[hit] and len(members[hit]) < len(members[smaller]):
                    smaller = hit
                is_waiting[smaller] = True
                waiting.append(smaller)
    return block


def _split(hit: int, found: set[int], *, block: list[int], members: list[set[int]]) -> None:
    members[hit] -= found
    for state in found:
        block[state] = len(members)
    members.append(found)


def _first_blocks(accepting: Sequence[bool], tails: Sequence[Hashable]) -> list[int]:
    known: dict[tuple[bool, Hashable], int] = {}
    return [
        known.setdefault((ends, tail), len(known))
        for ends, tail in zip(accepting, tails, strict=True)
    ]


def _sources(
    steps: Sequence[Sequence[tuple[CharSet, int]]], sets: list[CharSet]
) -> list[dict[int, list[int]]]:
    """Return, for each part of the alphabet, which states lead to a state by it."""
    letters = [part[0][0] for part in parts(tuple(sets))]
    by_set = {held: [i for i, code in enumerate(letters) if holds(held, code)] for held in sets}
    sources: list[dict[int, list[int]]] = [defaultdict(list) for _ in letters]
    for state, row in enumerate(steps):
        for held, target in row:
            for letter in by_set[held]:
                sources[letter][target].append(state)
    return [found for found in sources if found]
