"""The gate of CI: `python -m evals.ci [--accept]`, or `make eval-ci`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from goliath_local.catalogue import locate_model, models_dir, verify_file
from goliath_local.errors import GoliathError
from goliath_local.evals import Report, ci, format_scores, run_evals
from goliath_local.evals.about import about_run
from goliath_local.evals.accepted import accepted_json, read_accepted
from goliath_local.evals.bfcl_run import run_bfcl
from goliath_local.evals.gate import format_gates
from goliath_local.evals.loading import load_for_eval
from goliath_local.evals.machinery import run_machinery
from goliath_local.evals.progress import Progress
from goliath_local.evals.sets import read_set
from goliath_local.evals.subset import of_few_tool_sets, subset

RESULTS = Path(__file__).parent / "results"
NOT_MET = 9
"""The exit code of a gate, as of the command."""


def main() -> int:
    """Play both models, judge, and accept where that was asked for."""
    args = arguments()
    started = time.perf_counter()
    gates = () if args.only == "quality" else machinery()
    played = None
    if args.only != "machinery":
        played = quality()
        path = RESULTS / f"ci-{ci.QUALITY_CARD}.json"
        accepted = (
            read_accepted(path.read_text(encoding="utf-8"), source=path.name)
            if path.exists()
            else None
        )
        gates += ci.judge_sound(played)
        if args.accept and all(gate.is_met for gate in gates):
            RESULTS.mkdir(exist_ok=True)
            path.write_text(accepted_json(ci.accepted_of(played)), encoding="utf-8")
            print(f"\naccepted: {path}")
        else:
            gates += ci.judge_quality(played, accepted)
        print(f"\n{format_scores(played.dev)}")
    print(f"\n{format_gates(gates)}\n{time.perf_counter() - started:.0f} s")
    return 0 if all(gate.is_met for gate in gates) else NOT_MET


def machinery():
    """Return the gates of the tiny model."""
    with pinned(ci.MACHINERY_CARD) as model:
        found = asyncio.run(run_machinery(model))
        dev = read_set("dev")
        some = of_few_tool_sets(dev.fixtures, ci.TOOL_SETS)
        report = asyncio.run(fixtures_of(model, subset(some, ci.MACHINERY_CASES), dev.toolsets))
    return ci.judge_machinery(found, report)


def quality() -> ci.Played:
    """Return what the small model did on the fixed parts of the sets."""
    dev = read_set("dev")
    cases = subset(read_set("bfcl/irrelevance").cases, ci.IRRELEVANCE_CASES)
    some = of_few_tool_sets(dev.fixtures, ci.TOOL_SETS)
    chosen = subset(some, ci.QUALITY_CASES)
    silent = [one for one in some if one.kind == ci.NO_CALL_KIND]
    with pinned(ci.QUALITY_CARD) as model:
        right = asyncio.run(fixtures_of(model, chosen, dev.toolsets))
        done = {fixture.id: fixture for fixture in right.fixtures}
        more = asyncio.run(
            fixtures_of(model, [one for one in silent if one.id not in done], dev.toolsets)
        )
        known = done | {fixture.id: fixture for fixture in more.fixtures}
        irrelevant = asyncio.run(cases_of(model, cases))
    no_call = Report(fixtures=(*(known[one.id] for one in silent), *irrelevant.fixtures))
    about = about_run(
        set_name="ci",
        model=ci.QUALITY_CARD,
        sha256=located(ci.QUALITY_CARD).card.sha256,
        seed=0,
    )
    return ci.Played(dev=right, no_call=no_call, about=about)


async def fixtures_of(model, chosen, toolsets) -> Report:
    """Play fixtures, a line each."""
    progress = Progress(total=len(chosen), clock=time.monotonic)

    def note(fixture, attempt) -> None:
        print(progress.line(fixture.id, attempt), file=sys.stderr)

    return await run_evals(model, chosen, toolsets=toolsets, on_attempt=note)


async def cases_of(model, chosen) -> Report:
    """Play function-calling cases, a line each."""
    progress = Progress(total=len(chosen), clock=time.monotonic)
    reports = []
    for case in chosen:
        reports.append(await run_bfcl(model, case))
        print(progress.line(case.id, reports[-1].last), file=sys.stderr)
    return Report(fixtures=tuple(reports))


def located(name: str):
    """Return where the card's file is."""
    return locate_model(name, models_dir())


def pinned(name: str):
    """Return the card's model, its bytes checked against the card's hash first."""
    found = located(name)
    verify_file(found.path, sha256=found.card.sha256)
    return load_for_eval(found)


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m evals.ci", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="keep this run as the record")
    parser.add_argument("--only", choices=["machinery", "quality"], help="one of the two models")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        code = main()
    except GoliathError as error:
        sys.exit(f"{error}")
    sys.exit(code)
