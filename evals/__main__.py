"""Runs eval sets on a model: `python -m evals [SET …] [--model NAME] [--against plain]`."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import sys
import time
from pathlib import Path

from goliath_local.catalogue import locate_model, models_dir
from goliath_local.engine import native_tools_text
from goliath_local.errors import GoliathError
from goliath_local.evals import compare, format_comparison, format_report, format_scores, run_evals
from goliath_local.evals.about import about_run
from goliath_local.evals.baseline import run_baseline
from goliath_local.evals.bfcl_plain import run_bfcl_plain
from goliath_local.evals.bfcl_run import run_bfcl
from goliath_local.evals.loading import load_for_eval, template_variables
from goliath_local.evals.plain_forms import NativeForm
from goliath_local.evals.progress import Progress
from goliath_local.evals.record import RecordingModel
from goliath_local.evals.report import Report
from goliath_local.evals.results import attempt_json
from goliath_local.evals.sets import read_set

ALL = ("builtin", "dev")
TITLES = {"harness": "", "plain": " (plain loop)", "native": " (plain loop, native tools)"}


def main() -> int:
    """Run the sets and print their figures."""
    args = arguments()
    located = locate_model(args.model, models_dir())
    players = ["plain"] if args.baseline else ["harness", *args.against]
    with load_for_eval(located, seed=args.seed) as model:
        for name in args.sets or ALL:
            reports = {}
            for player in players:
                report = asyncio.run(play(model, name, args, player=player, located=located))
                if report is None:
                    print(f"\n{name} on {located.name}: its template has no place for tools.")
                    continue
                show(report, f"{name} on {located.name}{TITLES[player]}")
                reports[player] = {one.id: one.passed for one in report.fixtures}
            for player in args.against if not args.baseline else ():
                if player in reports:
                    print(f"\n{name}: from the{TITLES[player]} to the harness\n")
                    print(format_comparison(compare(reports[player], reports["harness"])))
    return 0


def show(report: Report, title: str) -> None:
    """Print a report under its title."""
    seconds = sorted(attempt.ms / 1000 for attempt in report.attempts)
    print(f"\n{title}\n\n{format_report(report)}\n\n{format_scores(report)}")
    print(f"median {seconds[len(seconds) // 2]:.2f} s, total {sum(seconds):.0f} s")


async def play(model, name: str, args, *, player: str, located) -> Report | None:
    """Play one set, writing a line for every attempt as it comes; None where that cannot be."""
    chosen = read_set(name)
    recorder = RecordingModel(model)
    form = None
    if player == "native":
        variables = template_variables(located)
        form = NativeForm(functools.partial(native_tools_text, located.path, variables=variables))
        if not form.is_usable():
            return None
    fixtures = [f for f in chosen.fixtures if not args.kind or f.kind in args.kind]
    fixtures = [f for f in fixtures if not args.only or f.id in args.only][: args.limit]
    cases = [c for c in chosen.cases if not args.only or c.id in args.only][: args.limit]
    progress = Progress(total=len(fixtures) * args.runs + len(cases), clock=time.monotonic)
    about = about_run(
        set_name=name,
        model=located.name,
        sha256=located.card.sha256 if located.card else None,
        seed=args.seed,
        player=player,
    )

    def note(fixture, attempt) -> None:
        calls, recorder.calls = recorder.calls, []
        if args.out:
            append(Path(args.out), attempt_json(fixture, attempt, calls, about=about))
        print(progress.line(fixture.id, attempt), file=sys.stderr)

    if cases:
        reports = []
        for case in cases:
            one = run_bfcl if player == "harness" else run_bfcl_plain
            reports.append(await one(recorder, case))
            note(case, reports[-1].attempts[0])
        return Report(fixtures=tuple(reports), metadata=about)
    common = {"runs": args.runs, "toolsets": chosen.toolsets, "on_attempt": note}
    if player == "harness":
        return await run_evals(recorder, fixtures, metadata=about, **common)
    return await run_baseline(recorder, fixtures, form=form, **common)


def append(path: Path, record: dict) -> None:
    """Append one record to a JSONL file."""
    with path.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record, ensure_ascii=False) + "\n")


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("sets", nargs="*", help="builtin, dev, bfcl/NAME or a JSONL file")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append")
    parser.add_argument("--only", action="append")
    parser.add_argument("--baseline", action="store_true", help="the plain loop instead")
    parser.add_argument(
        "--against",
        action="append",
        choices=["plain", "native"],
        default=[],
        help="play this plain loop too, and compare",
    )
    parser.add_argument("--out", help="JSONL file that every attempt is appended to")
    return parser.parse_args()


if __name__ == "__main__":
    start = time.perf_counter()
    try:
        code = main()
    except GoliathError as error:
        sys.exit(f"{error}")
    print(f"{time.perf_counter() - start:.0f} s in all", file=sys.stderr)
    sys.exit(code)
