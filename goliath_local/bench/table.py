"""A benchmark's report as text: a table, CSV, JSON.

Pure. Columns that llama-bench has too carry its names, so that what reads one reads the other;
rows that it does not know have their figure in `avg` with its `unit`.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goliath_local.bench.figures import deviation, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.bench.rows import Report, Row

Form: TypeAlias = Literal["md", "csv", "json", "jsonl"]


def render(report: Report, form: Form) -> str:
    """Return the report in one of its forms, without a line end at the end."""
    match form:
        case "md":
            return _markdown(report)
        case "csv":
            return _csv(report)
        case "json":
            return json.dumps(report_json(report), ensure_ascii=False, indent=2)
        case "jsonl":
            lines = [{**_shared(report), **_row(row)} for row in report.rows]
            return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)


def report_json(report: Report) -> dict[str, Any]:
    """Return all that the report knows, samples included, as a JSON object."""
    return {
        "setup": asdict(report.setup),
        "reliable": report.reliable,
        "doubts": list(report.doubts),
        "rows": [{**_row(row), "samples": list(row.samples)} for row in report.rows],
    }


def grid(heads: Sequence[str], lines: Sequence[Sequence[str]], *, right: Sequence[int]) -> str:
    """Return a Markdown table whose columns stand under each other.

    Args:
        heads: names of the columns.
        lines: their cells.
        right: columns whose cells end at the right.
    """
    widths = [max(len(line[at]) for line in (heads, *lines)) for at in range(len(heads))]

    def line_of(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rules = [
        f"{'-' * (width - 1)}:" if at in right else "-" * width for at, width in enumerate(widths)
    ]
    return "\n".join((line_of(heads), f"| {' | '.join(rules)} |", *map(line_of, lines)))


def shown(row: Row) -> str:
    """Return mean and deviation as llama-bench prints them: `27.31 ± 0.12`."""
    digits = 2 if row.mean < 1000 else 0
    return f"{row.mean:.{digits}f} ± {row.deviation:.{digits}f}"


def _markdown(report: Report) -> str:
    setup = report.setup
    speeds = [row for row in report.rows if row.unit == "t/s"]
    others = [row for row in report.rows if row.unit != "t/s"]
    tables = []
    if speeds:
        facts = (
            setup.model,
            f"{setup.size_bytes / 2**30:.2f} GiB",
            f"{setup.parameters / 1e9:.2f} B",
            str(setup.threads),
        )
        lines = [(*facts, row.test, shown(row)) for row in speeds]
        heads = ("model", "size", "params", "threads", "test", "t/s")
        tables.append(grid(heads, lines, right=(1, 2, 3, 4, 5)))
    if others:
        figures = [(row.test, shown(row), row.unit) for row in others]
        tables.append(grid(("test", "mean", "unit"), figures, right=(1,)))
    build = f"build: {setup.build}"
    return "\n\n".join((*tables, f"{build}\n{_verdict(report)}"))


def _verdict(report: Report) -> str:
    if report.reliable:
        return "reliable: true"
    return "\n".join(f"reliable: false ({doubt})" for doubt in report.doubts)


def _csv(report: Report) -> str:
    out = io.StringIO()
    lines = [{**_shared(report), **_row(row)} for row in report.rows]
    writer = csv.DictWriter(out, fieldnames=list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue().rstrip("\n")


def _shared(report: Report) -> dict[str, Any]:
    setup = report.setup
    return {
        "build": setup.build,
        "cpu_info": setup.processor,
        "model_filename": setup.model,
        "model_sha256": setup.sha256 or "",
        "model_size": setup.size_bytes,
        "model_n_params": setup.parameters,
        "n_batch": setup.batch_tokens,
        "n_threads": setup.threads,
        "n_gpu_layers": setup.gpu_layers,
        "flash_attn": int(setup.flash_attention),
        "goliath_local": setup.version,
        "seed": setup.seed,
        "test_time": setup.at,
        "reliable": report.reliable,
    }


def _row(row: Row) -> dict[str, Any]:
    is_speed = row.unit == "t/s"
    tokens = row.prompt_tokens or row.reply_tokens
    times_ns = [tokens / speed * 1e9 for speed in row.samples] if is_speed else []
    return {
        "test": row.test,
        "n_prompt": row.prompt_tokens,
        "n_gen": row.reply_tokens,
        "n_depth": row.depth_tokens,
        "avg_ns": round(mean(times_ns)) if times_ns else "",
        "stddev_ns": round(deviation(times_ns)) if times_ns else "",
        "avg_ts": round(row.mean, 6) if is_speed else "",
        "stddev_ts": round(row.deviation, 6) if is_speed else "",
        "avg": round(row.mean, 6),
        "stddev": round(row.deviation, 6),
        "unit": row.unit,
        "count": len(row.samples),
    }
