from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goliath_local.bench import (
    Report,
    Row,
    Setup,
    compare,
    differences,
    read_report,
    render,
    render_comparison,
    save_report,
)
from goliath_local.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from pathlib import Path

SETUP = Setup(
    model="tiny q4_0",
    sha256="ab" * 32,
    size_bytes=1 << 30,
    parameters=1_500_000_000,
    threads=2,
    batch_tokens=512,
    gpu_layers="auto",
    flash_attention=False,
    build="llama-cpp-python 0.3.36",
    processor="Test 3000",
    version="0.1.0",
    seed=0,
    at="2026-01-01T00:00:00+00:00",
)
PROMPT = Row(test="pp512", unit="t/s", samples=(100.0, 102.0), prompt_tokens=512)
REPLY = Row(test="tg128 @ d2048", unit="t/s", samples=(20.0,), reply_tokens=128, depth_tokens=2048)
STEP = Row(test="turn: step, warm", unit="s", samples=(0.5, 0.7, 0.6))
REPORT = Report(setup=SETUP, rows=(PROMPT, REPLY, STEP))


def test_the_table_has_the_columns_of_llama_bench() -> None:
    text = render(REPORT, "md")
    heads = text.splitlines()[0]
    assert [head.strip() for head in heads.strip("|").split("|")] == [
        "model",
        "size",
        "params",
        "threads",
        "test",
        "t/s",
    ]
    assert "| tiny q4_0 | 1.00 GiB | 1.50 B |       2 |         pp512 | 101.00 ± 1.41 |" in text
    assert "turn: step, warm" in text


def test_all_lines_of_a_table_are_equally_wide() -> None:
    table = render(replace(REPORT, rows=(PROMPT, REPLY)), "md").split("\n\n")[0]
    assert len({len(line) for line in table.splitlines()}) == 1


def test_a_report_says_whether_it_can_be_relied_on_and_why_not() -> None:
    assert "reliable: true" in render(REPORT, "md")
    doubtful = replace(REPORT, doubts=("other programs used 40% of the processors",))
    assert "reliable: false (other programs used 40% of the processors)" in render(doubtful, "md")
    assert json.loads(render(doubtful, "json"))["reliable"] is False


def test_csv_carries_the_names_and_numbers_of_llama_bench() -> None:
    lines = list(csv.DictReader(io.StringIO(render(REPORT, "csv"))))
    assert [line["test"] for line in lines] == ["pp512", "tg128 @ d2048", "turn: step, warm"]
    assert (lines[0]["n_prompt"], lines[1]["n_gen"], lines[1]["n_depth"]) == ("512", "128", "2048")
    assert float(lines[0]["avg_ts"]) == 101.0
    assert float(lines[1]["avg_ns"]) == 128 / 20 * 1e9
    assert lines[2]["avg_ts"] == ""
    assert (lines[2]["avg"], lines[2]["unit"]) == ("0.6", "s")


def test_jsonl_is_one_test_a_line() -> None:
    lines = [json.loads(line) for line in render(REPORT, "jsonl").splitlines()]
    assert [line["test"] for line in lines] == ["pp512", "tg128 @ d2048", "turn: step, warm"]
    assert all(line["model_filename"] == "tiny q4_0" for line in lines)


def test_a_saved_report_reads_back_the_same(tmp_path: Path) -> None:
    save_report(REPORT, tmp_path / "report.json")
    assert read_report(tmp_path / "report.json") == REPORT


def test_what_is_no_saved_report_is_refused_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text('{"setup": {}, "rows": []}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"no saved benchmark.*/setup/model"):
        read_report(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match="no saved benchmark"):
        read_report(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_report(tmp_path / "nothing.json")


def test_a_report_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="--save"):
        save_report(REPORT, tmp_path / "no-such-folder" / "report.json")


def test_a_comparison_tells_better_from_worse_by_the_unit() -> None:
    after = replace(
        REPORT,
        rows=(
            replace(PROMPT, samples=(150.0, 152.0)),
            replace(STEP, samples=(1.1, 1.2, 1.15)),
        ),
    )
    faster, slower = compare(REPORT, after)
    assert (faster.change, round(faster.times, 1)) == ("better", 1.5)
    assert (slower.change, round(slower.times, 2)) == ("worse", 0.52)


def test_chance_is_not_called_a_change() -> None:
    (same,) = compare(REPORT, replace(REPORT, rows=(replace(PROMPT, samples=(101.0, 101.5)),)))
    assert same.change == "same"


def test_a_comparison_names_what_else_differs() -> None:
    other = replace(REPORT, setup=replace(SETUP, threads=1), doubts=("busy",))
    assert differences(REPORT, other) == ("threads: 2 before, 1 now", "not reliable now: busy")
    assert "threads: 2 before, 1 now" in render_comparison(REPORT, other)
