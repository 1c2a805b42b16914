"""Which part of a set is played where there is no time for all of it.

Pure. The rule knows names, kinds and tool sets only, never how a case came out: within a kind the
order is that of the hash of the names, and the kinds take turns.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.evals.fixture import Fixture


class Named(Protocol):
    """Anything with an id and a kind: a fixture, a function-calling case."""

    @property
    def id(self) -> str:
        """Name."""
        ...

    @property
    def kind(self) -> str:
        """What it tries."""
        ...


Case = TypeVar("Case", bound=Named)


def subset(cases: Sequence[Case], count: int) -> tuple[Case, ...]:
    """Return so many cases, spread over all kinds, in the order of the set.

    A set that grows keeps most of its subset: the hash of a name does not depend on the others.
    """
    groups: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: _rank(case.id)):
        groups.setdefault(case.kind, []).append(case)
    kinds = list(dict.fromkeys(case.kind for case in cases))
    rounds = max((len(group) for group in groups.values()), default=0)
    drawn = [groups[kind][n] for n in range(rounds) for kind in kinds if n < len(groups[kind])]
    chosen = {case.id for case in drawn[:count]}
    return tuple(case for case in cases if case.id in chosen)


def of_few_tool_sets(fixtures: Sequence[Fixture], count: int) -> tuple[Fixture, ...]:
    """Return the fixtures of so many tool sets, in the order of the set."""
    names = {fixture.toolset for fixture in fixtures if fixture.toolset}
    chosen = set(sorted(names, key=_rank)[:count])
    return tuple(fixture for fixture in fixtures if fixture.toolset in chosen)


def _rank(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
