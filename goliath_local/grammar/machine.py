"""States and the steps between them, cut down to those that lead to an end.

Pure.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

State = TypeVar("State", bound="Hashable")
Label = TypeVar("Label")


class TooManyStates(Exception):
    """There are more states than a grammar should have rules for."""


def living(
    start: State,
    steps: Callable[[State], list[tuple[Label, State]]],
    is_end: Callable[[State], bool],
    *,
    most: int,
) -> dict[State, list[tuple[Label, State]]]:
    """Return, for each state on some way from the start to an end, the steps of such ways.

    Raises:
        TooManyStates: there are more than `most`.
    """
    found: dict[State, list[tuple[Label, State]]] = {}
    sources: defaultdict[State, list[State]] = defaultdict(list)
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        found[state] = steps(state)
        if len(found) > most:
            raise TooManyStates
        for _, target in found[state]:
            sources[target].append(state)
            if target not in found:
                waiting.append(target)
    alive = {state for state in found if is_end(state)}
    spreading = list(alive)
    while spreading:
        for source in sources[spreading.pop()]:
            if source not in alive:
                alive.add(source)
                spreading.append(source)
    return {
        state: [step for step in row if step[1] in alive]
        for state, row in found.items()
        if state in alive
    }
