"""Whether one eval is better than another on the same fixtures, beyond chance.

Pure. The test is McNemar's, exact: only fixtures that changed sides count.
Source: McNemar 1947, "Note on the sampling error of the difference between correlated
proportions", Psychometrika 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Fixtures by what became of them, and how likely that is by chance alone."""

    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    same: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    p_value: float
    """Two-sided, 0 to 1; 1 where nothing changed."""


def compare(before: Mapping[str, bool], after: Mapping[str, bool]) -> Comparison:
    """Return what changed between two evals, each `fixture id → passed`."""
    shared = [name for name in before if name in after]
    fixed = tuple(name for name in shared if after[name] and not before[name])
    broken = tuple(name for name in shared if before[name] and not after[name])
    return Comparison(
        fixed=fixed,
        broken=broken,
        same=len(shared) - len(fixed) - len(broken),
        only_before=tuple(name for name in before if name not in after),
        only_after=tuple(name for name in after if name not in before),
        p_value=mcnemar_p(len(fixed), len(broken)),
    )


def mcnemar_p(fixed: int, broken: int) -> float:
    """Return the exact two-sided p-value of `fixed` against `broken` changes."""
    changed = fixed + broken
    if not changed:
        return 1.0
    ways = sum(comb(changed, k) for k in range(min(fixed, broken) + 1))
    return min(1.0, float(2 * ways / 2**changed))


def format_comparison(result: Comparison) -> str:
    """Return the comparison as text, the changed fixtures by name."""
    lines = [f"fixed   {name}" for name in result.fixed]
    lines += [f"broken  {name}" for name in result.broken]
    lines += [f"only in the first   {name}" for name in result.only_before]
    lines += [f"only in the second  {name}" for name in result.only_after]
    lines.append(
        f"{len(result.fixed)} fixed · {len(result.broken)} broken · {result.same} same · "
        f"p = {result.p_value:.3f} (McNemar, exact, two-sided)"
    )
    return "\n".join(lines)
