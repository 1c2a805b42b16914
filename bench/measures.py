"""What was measured, one line each, and the bars it is held to.

Pure, but for writing the CSV. Column names carry the units: a line fills the column of its own.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from goliath_local.bench import deviation, median

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Unit: TypeAlias = Literal[
    "s", "ms", "tokens_per_s", "mb", "gb_per_s", "gflop_per_s", "ratio", "count", "tokens"
]
UNITS: Final[tuple[Unit, ...]] = (
    "s",
    "ms",
    "tokens_per_s",
    "mb",
    "gb_per_s",
    "gflop_per_s",
    "ratio",
    "count",
    "tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a figure has to reach."""

    least: float | None = None
    most: float | None = None

    def is_met(self, value: float) -> bool:
        """Return whether the value is on the right side."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )

    def __str__(self) -> str:
        return f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"


BARS: Final[Mapping[str, Bar]] = {
    "whole turns: binding over ours": Bar(least=4.0),
    "whole turns, heads warm: server over ours": Bar(least=1.3),
    "first answer of a new process: server over ours": Bar(least=3.0),
    "replies that differ, cold and warm: ours": Bar(most=0),
    "plan replies: constrained over free": Bar(least=1.0),
    "arguments of 3 or more fields: constrained over free": Bar(least=1.15),
    "constraint, a sampled token: ours": Bar(most=0.3),
    "first plan token: warm over cold": Bar(most=0.25),
    "first plan token: after a restart over warm": Bar(most=1.3),
    "decoding beside a busy process over alone: ours": Bar(least=0.45),
    "slowest token over median, beside a busy process: ours": Bar(most=10.0),
    "decoding: share of the bandwidth": Bar(least=0.75),
    "peak memory over file and KV cache: ours": Bar(most=200.0),
    "goliath-local --help": Bar(most=0.3),
    "goliath-local --help: native modules imported": Bar(most=0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One figure."""

    section: str
    name: str
    """What it is, and whose: the key of `BARS`."""

    unit: Unit
    samples: tuple[float, ...]
    note: str = ""

    @property
    def value(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def bar(self) -> Bar | None:
        """What it is held to, None when to nothing."""
        return BARS.get(self.name)

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None without one."""
        return None if self.bar is None else self.bar.is_met(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Lines of one kind that are more than a figure: a row a turn, a row a step."""

    name: str
    """Ends the file's name."""

    rows: tuple[Mapping[str, object], ...]


def shown(measure: Measure) -> str:
    """Return the figure as one line for people."""
    verdict = {True: "met", False: "NOT MET", None: ""}[measure.is_met]
    bar = f"  ({measure.bar}: {verdict})" if measure.bar else ""
    note = f"  {measure.note}" if measure.note else ""
    spread = f" ± {deviation(measure.samples):.3g}" if len(measure.samples) > 1 else ""
    return f"{measure.name:<58} {measure.value:>10.4g}{spread} {measure.unit}{bar}{note}"


def line(measure: Measure, facts: Mapping[str, object]) -> dict[str, object]:
    """Return the figure as a line of the CSV."""
    figures: dict[str, object] = {f"median_{unit}": "" for unit in UNITS}
    figures[f"median_{measure.unit}"] = f"{measure.value:.6g}"
    met = {True: "yes", False: "no", None: ""}[measure.is_met]
    return {
        "section": measure.section,
        "measure": measure.name,
        "samples": len(measure.samples),
        **figures,
        "deviation_same_unit": f"{deviation(measure.samples):.4g}",
        "bar": str(measure.bar) if measure.bar else "",
        "met": met,
        "note": measure.note,
        **facts,
    }


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write the rows; their keys are the columns."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(names), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_other_sections(path: Path, lines: Iterable[Mapping[str, object]]) -> list[dict[str, str]]:
    """Return what is saved of the sections that the lines do not hold; each row has its commit."""
    measured = {line["section"] for line in lines}
    saved = read_csv(path) if path.exists() else []
    return [row for row in saved if row["section"] not in measured]


def by_key(rows: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], Mapping[str, str]]:
    """Return saved figures by section and name."""
    return {(row["section"], row["measure"]): row for row in rows}
