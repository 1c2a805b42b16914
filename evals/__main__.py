"""Runs eval sets on a model: `python -m evals [SET …] [--model NAME] [--baseline]`."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from goliath_local.catalogue import locate_model, models_dir
from goliath_local.engine import EngineSettings, load_model
from goliath_local.evals import format_report, format_scores, run_evals
from goliath_local.evals.baseline import run_baseline
from goliath_local.evals.bfcl_run import run_bfcl
from goliath_local.evals.record import RecordingModel
from goliath_local.evals.report import Report
from goliath_local.evals.results import attempt_json
from goliath_local.evals.sets import read_set

ALL = ("builtin", "dev")


def main() -> int:
    """Run the sets and print their figures."""
    args = arguments()
    located = locate_model(args.model, models_dir())
    card = located.card
    settings = EngineSettings(
        deterministic=True,
        seed=args.seed,
        template_variables=dict(card.template_variables) if card else {},
    )
    model = load_model(
        located.path, name=located.name, sha256=card.sha256 if card else None, settings=settings
    )
    with model:
        for name in args.sets or ALL:
            report = asyncio.run(play(model, name, args))
            print(f"\n{name} on {located.name}{' (plain loop)' if args.baseline else ''}\n")
            print(format_report(report))
            print()
            print(format_scores(report))
            seconds = sorted(attempt.ms / 1000 for attempt in report.attempts)
            print(f"median {seconds[len(seconds) // 2]:.2f} s, total {sum(seconds):.0f} s")
    return 0


async def play(model, name: str, args: argparse.Namespace) -> Report:
    """Play one set, writing a line for every attempt as it comes."""
    chosen = read_set(name)
    recorder = RecordingModel(model)
    done = []

    def note(fixture, attempt) -> None:
        done.append(fixture.id)
        calls, recorder.calls = recorder.calls, []
        if args.out:
            append(Path(args.out), attempt_json(fixture, attempt, calls))
        word = "pass" if attempt.passed else "FAIL"
        why = "; ".join(problem.text for problem in attempt.problems)[:200]
        print(
            f"{len(done):4} {word} {fixture.id:28} {attempt.ms / 1000:5.1f}s {why}",
            file=sys.stderr,
        )

    fixtures = [f for f in chosen.fixtures if not args.kind or f.kind in args.kind]
    fixtures = [f for f in fixtures if not args.only or f.id in args.only][: args.limit]
    if chosen.cases:
        reports = []
        for case in chosen.cases[: args.limit]:
            reports.append(await run_bfcl(recorder, case))
            note(case, reports[-1].attempts[0])
        return Report(fixtures=tuple(reports))
    player = run_baseline if args.baseline else run_evals
    return await player(
        recorder, fixtures, runs=args.runs, toolsets=chosen.toolsets, on_attempt=note
    )


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
    parser.add_argument("--out", help="JSONL file that every attempt is appended to")
    return parser.parse_args()


if __name__ == "__main__":
    start = time.perf_counter()
    code = main()
    print(f"{time.perf_counter() - start:.0f} s in all", file=sys.stderr)
    sys.exit(code)
