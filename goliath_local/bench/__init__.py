"""How fast it is here: llama-bench's rows, whole turns, and whether the figures can be trusted.

The door of the room. `bench/` in the repository measures peers with the same pieces.
"""

from goliath_local.bench.compare import compare, differences, render_comparison
from goliath_local.bench.figures import deviation, differ, mean, median, outer_thirds, ratio
from goliath_local.bench.listening import Heard, Listener
from goliath_local.bench.measure import Subject, measure, peak_memory_bytes, processor_name
from goliath_local.bench.quiet import Spell, Watch
from goliath_local.bench.raw import Timed, Trials, measure_raw, verify_trials
from goliath_local.bench.rows import Report, Row, Setup, Unit
from goliath_local.bench.saved import read_report, save_report
from goliath_local.bench.table import Form, grid, render, report_json, shown
from goliath_local.bench.turn import constraint_ms, measure_turns

__all__ = [
    "Form",
    "Heard",
    "Listener",
    "Report",
    "Row",
    "Setup",
    "Spell",
    "Subject",
    "Timed",
    "Trials",
    "Unit",
    "Watch",
    "compare",
    "constraint_ms",
    "deviation",
    "differ",
    "differences",
    "grid",
    "mean",
    "measure",
    "measure_raw",
    "measure_turns",
    "median",
    "outer_thirds",
    "peak_memory_bytes",
    "processor_name",
    "ratio",
    "read_report",
    "render",
    "render_comparison",
    "report_json",
    "save_report",
    "shown",
    "verify_trials",
]
