"""JSONSchemaBench and the JSON Schema Test Suite: nothing too loose, little too tight."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.errors import InvalidValue
from goliath_local.grammar import Grammar, SchemaError, compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
SUITE = HERE / "json-schema-test-suite" / "draft2020-12"

# Groups that say formats are not asserted; we assert them.
ANNOTATION_ONLY = "format.json"


def verdict(grammar: Grammar, tests: Iterable[dict[str, Any]]) -> str:
    """`right`, or how the grammar and what is checked afterwards differ from the labels."""
    found = "right"
    for test in tests:
        text = json.dumps(test["data"], separators=(",", ":"), ensure_ascii=False)
        if passes(grammar, text, test["data"]) != test["valid"]:
            if not test["valid"]:
                return "too loose"
            found = "too tight"
    return found


def passes(grammar: Grammar, text: str, value: Any) -> bool:
    if not grammar.accepts(text):
        return False
    try:
        grammar.check(value)
    except InvalidValue:
        return False
    return True


def benchmark() -> Iterator[dict[str, Any]]:
    path = HERE / "jsonschemabench" / "schemas.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def groups() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(SUITE.rglob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            yield path.name, group


def tally(found: Iterable[tuple[str, Any, Iterable[dict[str, Any]]]]) -> dict[str, list[str]]:
    """What becomes of each named schema, by verdict; to refuse one that nothing fits is right."""
    verdicts: dict[str, list[str]] = {}
    for name, schema, tests in found:
        try:
            grammar = compile_schema(schema, closed=False)
        except SchemaError:
            is_right = not any(test["valid"] for test in tests)
            verdicts.setdefault("right" if is_right else "refused", []).append(name)
        else:
            verdicts.setdefault(verdict(grammar, tests), []).append(name)
    return verdicts


@pytest.mark.slow
def test_the_benchmark_sample_is_right_nearly_everywhere_and_nowhere_too_loose() -> None:
    found = tally((entry["id"], entry["schema"], entry["tests"]) for entry in benchmark())
    assert "too loose" not in found, found["too loose"]
    assert len(found["right"]) >= 291, Counter({k: len(v) for k, v in found.items()})


@pytest.mark.slow
def test_the_test_suite_is_right_mostly_and_nowhere_too_loose() -> None:
    found = tally(
        (f"{file}: {group['description']}", group["schema"], group["tests"])
        for file, group in groups()
    )
    assert "too loose" not in found, found["too loose"]
    assert len(found["right"]) >= 355, Counter({k: len(v) for k, v in found.items()})


def test_a_sixteenth_of_the_test_suite_is_right() -> None:
    chosen = [pair for pair in groups() if pair[0] != ANNOTATION_ONLY][::16]
    found = tally((group["description"], group["schema"], group["tests"]) for _, group in chosen)
    assert "too loose" not in found, found["too loose"]
    assert len(found["right"]) >= 0.85 * len(chosen), found
