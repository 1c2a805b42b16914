"""Two processes that changed one memory: what both of them meant.

Pure. Whoever saves second finds that the stored state is no longer the one it started from. New
exchanges of both are kept, in the order of their times; what either side took out stays out.
There may then be more exchanges than usual: the next turn folds them.
"""

from __future__ import annotations

from typing import TypeAlias

from goliath_local.records import Exchange, MemoryState

_Key: TypeAlias = tuple[str, str, int | float]


def merge(*, base: MemoryState | None, theirs: MemoryState, ours: MemoryState) -> MemoryState:
    """Return the state to be saved.

    Args:
        base: what we started from; None when we never looked, and simply replace.
        theirs: what is stored now.
        ours: what we would like to save.
    """
    if base is None or theirs == base:
        return ours
    known, stored = _keys(base), _keys(theirs)
    own = [item for item in ours.recent if _key(item) not in known or _key(item) in stored]
    taken = {_key(item) for item in own} | known
    new = [item for item in theirs.recent if _key(item) not in taken]
    return MemoryState(
        summary=theirs.summary if ours.summary == base.summary else ours.summary,
        recent=tuple(sorted([*own, *new], key=lambda item: item.at)),
    )


def _keys(state: MemoryState) -> set[_Key]:
    return {_key(item) for item in state.recent}


def _key(exchange: Exchange) -> _Key:
    # Not the steps: a stored exchange may lack outputs that the one in memory has.
    return exchange.ask, exchange.answer, exchange.at
