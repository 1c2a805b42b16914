"""How grammars from JSON schemas compare: ours, llama.cpp's converters, and other engines.

    python -m bench.grammar                                   ours and the binding's own converter
    python -m bench.grammar --peers /tmp/peers/bin/python     others too
    python -m bench.grammar --llama-cpp /tmp/peers/llama-cpp-converter
                                                              llama.cpp's own converter too

The others are not dependencies of this project. They go into an environment of their own:

    python -m venv /tmp/peers
    /tmp/peers/bin/pip install llguidance outlines-core regex xgrammar

llama.cpp's converter is a program of a few lines; `llama_cpp_converter.cpp` says how it is built.

One run asks all engines about the same schemas and texts, those in `tests/grammar`: the cases, a
sample of JSONSchemaBench, and the JSON Schema Test Suite. GBNF that others write is read by our
matcher, which the tests hold to llama.cpp's own sampler; what our reader refuses as a danger to
llama.cpp counts as refused. Of ours, what is left to check after decoding is part of the answer.
A refusal is right where nothing fits the schema. Times are marked as indicative unless the machine
was said to be quiet.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

from bench.grammar_data import Trial, benchmark_trials, case_trials, suite_trials
from bench.grammar_engines import Answer, Engine, converter, llama_cpp_converter, ours, peer
from bench.subject import commit, machine_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RESULTS = Path(__file__).parent / "results"
PEERS = ("llguidance", "xgrammar", "outlines-core")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one engine did with one set of trials."""

    engine: str
    version: str
    data: str
    total: int
    right: int
    refused: int
    too_loose: int
    too_tight: int
    over_budget: int
    compile_p50_ms: float
    compile_p95_ms: float
    check_us_byte: float
    times: str
    commit: str


def main() -> int:
    """Run the comparison, print it, and save it if asked to."""
    options = _options()
    sets = {
        "cases": list(case_trials()),
        "jsonschemabench": list(benchmark_trials()),
        "test-suite": list(suite_trials()),
    }
    rows: list[Row] = []
    for engine in _engines(options):
        if options.only not in (None, engine.name):
            continue
        for name, trials in sets.items():
            rows.append(measure(engine, name, trials, quiet=options.quiet_machine))
            print(_shown(rows[-1]), flush=True)
        engine.close()
    if options.save:
        print(_save(rows))
    return 0


def measure(engine: Engine, data: str, trials: Iterable[Trial], *, quiet: bool) -> Row:
    """Return what the engine does with all trials."""
    counts = dict.fromkeys(("right", "refused", "too_loose", "too_tight", "over_budget"), 0)
    compile_ms: list[float] = []
    feed_ms, size = 0.0, 0
    total = 0
    for trial in trials:
        total += 1
        said = engine.ask(trial)
        if said.reason is None:
            compile_ms.append(said.compile_ms)
            feed_ms += said.feed_ms
            size += sum(len(text.encode()) for text in trial.texts)
        for verdict in verdicts(trial, said):
            counts[verdict] += 1
    return Row(
        engine=engine.name,
        version=engine.version,
        data=data,
        total=total,
        **counts,
        compile_p50_ms=round(median(compile_ms), 2) if compile_ms else 0,
        compile_p95_ms=round(quantiles(compile_ms, n=20)[-1], 2) if len(compile_ms) > 1 else 0,
        check_us_byte=round(feed_ms * 1e3 / max(1, size), 2),
        times="quiet machine" if quiet else "indicative",
        commit=commit(),
    )


def verdicts(trial: Trial, said: Answer) -> Iterator[str]:
    """Yield what is to be said of an engine's answer: right, or all that is wrong with it."""
    if said.reason is not None:
        yield "right" if trial.must_refuse or not trial.accept else "refused"
        return
    wrong = set()
    reached = [text for text in trial.unreachable if said.said[text] != "refused"]
    if trial.must_refuse or reached or any(trial.takes(text, said.said) for text in trial.reject):
        wrong.add("too_loose")
    accepted = [trial.takes(text, said.said) for text in trial.accept]
    if accepted and not (any(accepted) if trial.any_accept else all(accepted)):
        wrong.add("too_tight")
    if not all(trial.leaves_open(text, said.said) for text in trial.incomplete):
        wrong.add("too_tight")
    if said.compile_ms > trial.max_compile_ms or said.gbnf_bytes > trial.max_gbnf_bytes:
        wrong.add("over_budget")
    yield from sorted(wrong) or ["right"]


def _engines(options: argparse.Namespace) -> Iterator[Engine]:
    yield ours()
    yield converter()
    if options.llama_cpp:
        yield llama_cpp_converter(options.llama_cpp)
    else:
        _skipped("llama.cpp's converter", "give --llama-cpp; see bench/llama_cpp_converter.cpp")
    for name in PEERS:
        found = peer(name, options.peers) if options.peers else None
        if found is not None:
            yield found
        else:
            _skipped(name, "not in the environment of --peers; see the top of bench/grammar.py")


def _skipped(name: str, why: str) -> None:
    print(f"{name:<22} left out: {why}", file=sys.stderr)


def _shown(row: Row) -> str:
    return (
        f"{row.engine:<22} {row.version:<10} {row.data:<16} right {row.right:>3} of {row.total}, "
        f"refused {row.refused}, too loose {row.too_loose}, too tight {row.too_tight}, "
        f"over budget {row.over_budget}; compile p50 {row.compile_p50_ms} p95 "
        f"{row.compile_p95_ms} ms, check {row.check_us_byte} µs a byte ({row.times})"
    )


def _save(rows: list[Row]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{machine_name()}-grammar.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(Row.__slots__))
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    return path


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peers", metavar="PYTHON", help="a Python that has the other engines")
    parser.add_argument(
        "--llama-cpp", metavar="PROGRAM", type=Path, help="llama.cpp's own converter"
    )
    parser.add_argument("--only", metavar="NAME", help="one engine")
    parser.add_argument("--save", action="store_true", help="write a CSV under bench/results")
    parser.add_argument(
        "--quiet-machine",
        action="store_true",
        help="nothing else runs: without this, times are marked as indicative",
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
