"""Measures this machine against named peers: `python -m bench [SECTION …]` (or `make bench`).

    python -m bench                              the usual run, all sections
    python -m bench --quick                      a look, in a few minutes
    python -m bench --full                       everything the targets ask for; takes hours
    python -m bench turns limit --peers /tmp/peers/bin/python

Results go to bench/results/MACHINE-MODEL.csv (figures), -turns.csv, -growth.csv and .png. What a
section is about stands at the top of its file.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench import agents, constraint, growth, limit, neighbour, sameness, starts, turns
from bench.amounts import PRESETS
from bench.answers import Failed
from bench.measures import line, of_other_sections, write_csv
from bench.recorded import prompts_sha256
from bench.run import Run, report, say, scratch_folder, skipped
from bench.subject import commit, find_subject, machine_name
from goliath_local.bench import Watch
from goliath_local.engine.native import native_build
from goliath_local.errors import GoliathError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measures import Measure

RESULTS = Path(__file__).parent / "results"
SECTIONS = {
    "limit": limit.measure,
    "turns": turns.measure,
    "start": starts.measure,
    "constraint": constraint.measure,
    "neighbour": neighbour.measure,
    "growth": growth.measure,
    "sameness": sameness.measure,
    "agents": agents.measure,
}
_ON_RECORDED = ("turns", "start", "constraint", "sameness", "agents")


def main() -> int:
    """Run the sections and keep the figures."""
    options = _options()
    try:
        subject = find_subject(options.model, threads=options.threads, seed=options.seed)
    except GoliathError as error:
        say(str(error))
        return 3
    amounts = PRESETS[options.amount]
    if options.same_requests is not None:
        amounts = replace(amounts, same_requests=options.same_requests)
    if options.turns is not None:
        few = -(-options.turns // 3)
        amounts = replace(
            amounts,
            turns=options.turns,
            binding_turns=min(amounts.binding_turns, few),
            again_turns=min(amounts.again_turns, few),
        )
    started = time.perf_counter()
    lines: list[dict[str, object]] = []
    stem = options.out / f"{machine_name()}-{subject.name}"
    with scratch_folder() as scratch:
        run = Run(
            subject=subject,
            amounts=amounts,
            scratch=scratch,
            peers_python=options.peers,
            requests_file=options.requests,
        )
        for name in options.sections or SECTIONS:
            lines += _section(name, run)
            _write(stem, lines, run)  # a run that is broken off keeps what it has
    say(f"{time.perf_counter() - started:.0f} s in all")
    print(f"{stem}.csv")
    _draw(stem)
    return 0


def _section(name: str, run: Run) -> list[dict[str, object]]:
    if name in _ON_RECORDED:
        _ = run.turns  # recorded before the section's own clock runs
    say(f"{name}:")
    watch = Watch()
    measures: list[Measure] = []
    try:
        measures.extend(report(measure) for measure in SECTIONS[name](run))
    except (GoliathError, Failed) as error:
        skipped(f"the rest of {name}", error)
    spell = watch.spell()
    # The section about neighbours makes its own, which is a child of ours and does not count.
    for doubt in spell.doubts:
        say(f"  not reliable: {doubt}")
    say(f"  {spell.seconds:.0f} s")
    doubts = "; ".join(spell.doubts)
    facts = {"reliable": "no" if doubts else "yes", "doubts": doubts}
    return [line(measure, facts) for measure in measures]


def _add_facts(lines: Sequence[dict[str, object]], run: Run) -> None:
    facts = {
        "model": run.subject.name,
        "model_sha256": run.subject.sha256,
        "prompts_sha256": prompts_sha256(run.turns) if run.was_recorded else "",
        "commit": commit(),
        "machine": machine_name(),
        "threads": run.subject.threads,
        "seed": run.subject.seed,
        "build": native_build(),
        "measured_at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    for one in lines:
        one.update(facts)


def _write(stem: Path, lines: Sequence[dict[str, object]], run: Run) -> None:
    _add_facts(lines, run)
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = stem.with_name(f"{stem.name}.csv")
    write_csv(path, [*lines, *of_other_sections(path, lines)])
    for table in run.tables:
        write_csv(stem.with_name(f"{stem.name}-{table.name}.csv"), table.rows)


def _draw(stem: Path) -> None:
    try:
        from bench.plot import draw

        print(draw(stem))
    except ImportError:
        skipped("the picture", 'matplotlib is missing: pip install -e ".[bench]"')


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "sections",
        nargs="*",
        choices=[[], *SECTIONS],
        metavar="SECTION",
        help=f"of {', '.join(SECTIONS)}; all when none is named",
    )
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="name of a card, or a path")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--quick",
        dest="amount",
        action="store_const",
        const="quick",
        default="usual",
        help="a few of each",
    )
    parser.add_argument(
        "--full",
        dest="amount",
        action="store_const",
        const="full",
        help="all that the targets ask for",
    )
    parser.add_argument("--peers", metavar="PYTHON", help="a Python that has pydantic-ai")
    parser.add_argument(
        "--requests",
        metavar="FILE",
        type=Path,
        help="keep the recorded turns there, and use them when they are there",
    )
    parser.add_argument(
        "--turns",
        metavar="N",
        type=int,
        help="whole turns of the section turns; a third of them by the slow peers",
    )
    parser.add_argument(
        "--same-requests", metavar="N", type=int, help="requests of the section sameness"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=RESULTS, help="where results go"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
