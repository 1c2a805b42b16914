"""Two reports side by side: what became faster, what slower, what only differs by chance.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from goliath_local.bench.figures import differ, ratio
from goliath_local.bench.rows import IS_BETTER_HIGH
from goliath_local.bench.table import grid, shown

if TYPE_CHECKING:
    from goliath_local.bench.rows import Report, Row

Change: TypeAlias = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One test in both reports."""

    before: Row
    after: Row

    @property
    def times(self) -> float:
        """How many times as good it is now: 2 is twice the speed, or half the time."""
        old, new = self.before.mean, self.after.mean
        return ratio(new, old) if IS_BETTER_HIGH[self.after.unit] else ratio(old, new)

    @property
    def change(self) -> Change:
        """What is to be said of it."""
        if not differ(self.before.samples, self.after.samples):
            return "same"
        return "better" if self.times > 1 else "worse"


def compare(before: Report, after: Report) -> tuple[Compared, ...]:
    """Return the tests that both reports have, in the order of the later one."""
    known = {(row.test, row.unit): row for row in before.rows}
    return tuple(
        Compared(before=known[row.test, row.unit], after=row)
        for row in after.rows
        if (row.test, row.unit) in known
    )


def differences(before: Report, after: Report) -> tuple[str, ...]:
    """Return what else differs between two reports, so that no other cause is overlooked."""
    names = ("model", "sha256", "processor", "threads", "batch_tokens", "gpu_layers", "build")
    found = [
        f"{name}: {old} before, {new} now"
        for name in names
        if (old := getattr(before.setup, name)) != (new := getattr(after.setup, name))
    ]
    for name, report in (("before", before), ("now", after)):
        found += [f"not reliable {name}: {doubt}" for doubt in report.doubts]
    return tuple(found)


def render_comparison(before: Report, after: Report) -> str:
    """Return both reports as one table, and what else differs."""
    lines = [
        (
            one.after.test,
            one.after.unit,
            shown(one.before),
            shown(one.after),
            f"{one.times:.2f}",
            one.change,
        )
        for one in compare(before, after)
    ]
    heads = ("test", "unit", "before", "now", "times as good", "change")
    table = grid(heads, lines, right=(2, 3, 4)) if lines else "No test is in both reports."
    return "\n".join((table, *differences(before, after)))
