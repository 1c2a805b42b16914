"""Two results side by side: `python -m bench.compare BEFORE.csv AFTER.csv`.

Edge: reads two files and prints.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measures import UNITS, by_key, read_csv
from goliath_local.bench import grid, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FACTS = ("model_sha256", "machine", "threads", "prompts_sha256", "build", "seed")
_HIGH_IS_GOOD = ("tokens_per_s", "gb_per_s", "gflop_per_s")


def main() -> int:
    """Print the comparison."""
    if len(sys.argv) != 3:
        print("usage: python -m bench.compare BEFORE.csv AFTER.csv", file=sys.stderr)
        return 2
    before, after = (read_csv(Path(name)) for name in sys.argv[1:])
    print(rendered(before, after))
    return 0


def rendered(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> str:
    """Return a table of what both have, and what else differs."""
    known = by_key(before)
    lines = []
    for key, row in by_key(after).items():
        if key in known:
            lines += _line(known[key], row)
    heads = ("measure", "unit", "before", "after", "after / before", "")
    table = grid(heads, lines, right=(2, 3, 4)) if lines else "Nothing is in both."
    return "\n".join((table, *_other_differences(before, after)))


def _line(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, ...]]:
    for unit in UNITS:
        column = f"median_{unit}"
        if not (old.get(column) and new.get(column)):
            continue
        was, now = float(old[column]), float(new[column])
        noise = max(_number(old), _number(new))
        change = ""
        if unit not in ("ratio", "count", "tokens") and abs(now - was) > max(
            2 * noise, 0.02 * was
        ):
            change = "better" if (now > was) == (unit in _HIGH_IS_GOOD) else "worse"
        times = f"{ratio(now, was):.2f}" if was else "-"
        return [(new["measure"], unit, old[column], new[column], times, change)]
    return []


def _number(row: Mapping[str, str]) -> float:
    return float(row.get("deviation_same_unit") or 0)


def _other_differences(
    before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]
) -> list[str]:
    if not before or not after:
        return []
    found = []
    for fact in _FACTS:
        old, new = before[0].get(fact, ""), after[0].get(fact, "")
        if old != new:
            found.append(f"{fact}: {old} before, {new} after")
    for name, rows in (("before", before), ("after", after)):
        doubts = {row.get("doubts", "") for row in rows} - {""}
        found += [f"not reliable {name}: {doubt}" for doubt in sorted(doubts)]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
