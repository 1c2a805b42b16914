"""Two pictures of one run: seconds of a turn against its steps, tokens evaluated a step.

Edge: draws with matplotlib, which is in the extra `bench` only.

    python -m bench.plot bench/results/MACHINE-MODEL
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.measures import read_csv
from goliath_local.bench import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS = {"ours": "#0b6e4f", "server": "#c8553d", "binding": "#6b7a8f"}
NAMES = {
    "ours": "goliath-local",
    "server": "llama.cpp server, json_schema, caches on",
    "binding": "llama-cpp-python, response_format",
}


def draw(stem: Path) -> Path:
    """Draw `STEM-turns.csv` and `STEM-growth.csv` as `STEM.png`; return its path.

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    turns, growth = _rows(stem, "turns"), _rows(stem, "growth")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    _draw_turns(left, turns)
    _draw_growth(right, growth, turns)
    figure.suptitle(stem.name, fontsize=10)
    path = stem.with_name(f"{stem.name}.png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def seconds_by_steps(
    rows: Sequence[Mapping[str, str]], engine: str
) -> tuple[list[int], list[float]]:
    """Return the steps there are, ascending, and the median seconds of their turns."""
    found: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row["engine"] == engine and row["state"] in ("heads warm", "its own cache"):
            found[int(row["steps"])].append(float(row["turn_s"]))
    steps = sorted(found)
    return steps, [median(found[count]) for count in steps]


def _rows(stem: Path, name: str) -> list[dict[str, str]]:
    path = stem.with_name(f"{stem.name}-{name}.csv")
    return read_csv(path) if path.exists() else []


def _draw_turns(axes: Any, rows: Sequence[Mapping[str, str]]) -> None:
    for engine in ("binding", "server", "ours"):
        steps, seconds = seconds_by_steps(rows, engine)
        if steps:
            axes.plot(steps, seconds, "o-", color=COLOURS[engine], label=NAMES[engine])
    axes.set(xlabel="steps of the turn", ylabel="seconds, median", title="A turn, heads warm")
    axes.set_ylim(bottom=0)
    _finish(axes)


def _draw_growth(
    axes: Any, rows: Sequence[Mapping[str, str]], turns: Sequence[Mapping[str, str]]
) -> None:
    plain = [row for row in rows if row["memory_tokens"] == "0"]
    longest = max((int(row["turn_steps"]) for row in plain), default=0)
    steps = [row for row in plain if int(row["turn_steps"]) == longest]
    numbers = [int(row["step"]) for row in steps]
    for column, style, name in (
        ("prompt_tokens", "--", "tokens of the prompts"),
        ("evaluated_tokens", "o-", "tokens evaluated"),
    ):
        values = [int(row[column]) for row in steps]
        axes.plot(numbers, values, style, color=COLOURS["ours"], label=f"goliath-local: {name}")
    for engine in ("server", "binding"):
        per_step = [
            int(row["evaluated_tokens"]) / max(int(row["steps"]), 1)
            for row in turns
            if row["engine"] == engine and row["state"] in ("heads warm", "its own cache")
        ]
        if per_step:
            label = f"{NAMES[engine]}: evaluated, median of the turns"
            axes.axhline(median(per_step), color=COLOURS[engine], ls=":", label=label)
    axes.set(xlabel="step of one turn", ylabel="tokens", title=f"A turn of {longest} steps")
    axes.set_ylim(bottom=0)
    _finish(axes)


def _finish(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, frameon=False)


if __name__ == "__main__":
    print(draw(Path(sys.argv[1])))
