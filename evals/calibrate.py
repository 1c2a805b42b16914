"""Fits the score of a turn: `python -m evals.calibrate RECORD … [--check RECORD]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import goliath_local.confidence
from goliath_local.confidence import score_json
from goliath_local.errors import GoliathError
from goliath_local.evals.calibrate import RIDGE, calibrate, format_calibration
from goliath_local.evals.keeping import load_record

CARDS = Path(goliath_local.confidence.__file__).parent / "cards"
KEPT = ("turns", "wrong", "auc", "risk_coverage_area", "risk_at_80", "brier")


def main() -> int:
    """Fit, check, print; write the numbers where that was asked for."""
    args = arguments()
    record = [kept for path in args.records for kept in load_record(path)]
    others = load_record(args.check) if args.check else ()
    found = calibrate(record, others=others, ridge=args.ridge)
    print(format_calibration(found))
    if args.write:
        if found.score.model_sha256 is None:
            print("The record does not say which weights it is of; nothing was written.")
            return 2
        checked = {name: round(getattr(found.checked, name), 4) for name in KEPT}
        path = CARDS / f"{args.write}.json"
        path.write_text(json.dumps(score_json(found.score, **checked), indent=1) + "\n")
        print(f"\nwritten: {path}")
    return 0


def arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m evals.calibrate", description=__doc__)
    parser.add_argument(
        "records", type=Path, nargs="+", help="made with: python -m evals dev --out RECORD"
    )
    parser.add_argument(
        "--check", type=Path, help="fit on all of the records and check on this one, not on halves"
    )
    parser.add_argument("--ridge", type=float, default=RIDGE, help="pull towards no weight at all")
    parser.add_argument("--write", metavar="NAME", help="keep it for the card of that name")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        code = main()
    except GoliathError as error:
        sys.exit(f"{error}")
    sys.exit(code)
