"""Evals: fixtures in, figures out."""

from goliath_local.evals.compare import Comparison, compare, format_comparison
from goliath_local.evals.fixture import ExpectedCall, ExpectedTurn, Fixture, read_fixtures
from goliath_local.evals.perfect import perfect_model
from goliath_local.evals.report import Attempt, FixtureReport, Report, format_report, format_scores
from goliath_local.evals.run import run_evals
from goliath_local.evals.samples import fixtures, sample_tools
from goliath_local.evals.score import Fault, Problem, TurnOutcome, Verdict

__all__ = [
    "Attempt",
    "Comparison",
    "ExpectedCall",
    "ExpectedTurn",
    "Fault",
    "Fixture",
    "FixtureReport",
    "Problem",
    "Report",
    "TurnOutcome",
    "Verdict",
    "compare",
    "fixtures",
    "format_comparison",
    "format_report",
    "format_scores",
    "perfect_model",
    "read_fixtures",
    "run_evals",
    "sample_tools",
]
