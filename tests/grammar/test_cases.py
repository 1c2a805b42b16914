"""The shared cases: faults seen in the field in systems that turn schemas into grammars."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from goliath_local.grammar import Grammar, SchemaError, compile_schema
from tests.grammar.readings import Readings

CASES = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
}
SLOW_MACHINE = 10
"""How many times longer a busy or slow machine may take; the bench measures the time itself."""

COMPILED = {name: case for name, case in CASES.items() if case["expect"] == "compile"}


def compact(text: str) -> str:
    """The text without blanks between its tokens; the tokens stay letter for letter."""
    found: list[str] = []
    inside = escaped = False
    for char in text:
        if inside:
            inside = escaped or char != '"'
            escaped = not escaped and char == "\\"
        elif char in " \t\r\n":
            continue
        elif char == '"':
            inside = True
        found.append(char)
    return "".join(found)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def accepts(grammar: Grammar, text: str) -> bool:
    return grammar.accepts(text) or (is_json(text) and grammar.accepts(compact(text)))


def model(case: dict[str, Any]) -> Any:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(case["pydantic"], case["name"], "exec", dont_inherit=True), names)
    return names["M"]


def sources(case: dict[str, Any]) -> list[Any]:
    return [case["schema"], *([model(case)] if "pydantic" in case else [])]


def test_all_cases_are_there() -> None:
    assert len(CASES) == 104


@pytest.mark.parametrize("name", COMPILED)
def test_a_case_lets_through_what_it_should(name: str) -> None:
    case = CASES[name]
    for source in sources(case):
        grammar = compile_schema(source)
        taken = [accepts(grammar, text) for text in case["accept"]]
        assert any(taken) if case.get("any_accept") else all(taken), list(
            zip(case["accept"], taken, strict=True)
        )


@pytest.mark.parametrize("name", COMPILED)
def test_a_case_stops_or_reports_what_it_must_not_let_through(name: str) -> None:
    case = CASES[name]
    for source in sources(case):
        grammar = compile_schema(source)
        reported = {keyword for _, keyword in grammar.deferred}
        is_reported = not reported.isdisjoint(case.get("keywords", ()))
        through = [text for text in case["reject"] if accepts(grammar, text)]
        assert not through or (case.get("post_validate") and is_reported), through


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "reject_runaway" in c])
def test_a_case_cannot_run_on(name: str) -> None:
    grammar = compile_schema(CASES[name]["schema"])
    assert not [text for text in CASES[name]["reject_runaway"] if grammar.accepts(text)]


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "reject_model" in c])
def test_a_model_knows_more_than_its_schema(name: str) -> None:
    case = CASES[name]
    grammar = compile_schema(model(case))
    assert not [text for text in case["reject_model"] if accepts(grammar, text)]


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "incomplete" in c])
def test_a_beginning_is_reached_and_is_no_end(name: str) -> None:
    grammar = compile_schema(CASES[name]["schema"])
    for text in CASES[name]["incomplete"]:
        reached = grammar.matcher().advance(compact_beginning(text).encode())
        assert reached is not None, text
        assert not reached.is_complete, text


def compact_beginning(text: str) -> str:
    return compact(text)


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if c.get("split_bytes")])
def test_a_text_byte_by_byte_is_the_same_text(name: str) -> None:
    grammar = compile_schema(CASES[name]["schema"])
    for text in [*CASES[name]["accept"], *CASES[name]["reject"]]:
        state = grammar.matcher()
        for byte in compact(text).encode():
            state = state and state.advance(bytes([byte]))
        assert bool(state and state.is_complete) == accepts(grammar, text), text


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c["expect"] == "error"])
def test_a_case_that_cannot_be_is_refused_with_its_place(name: str) -> None:
    with pytest.raises(SchemaError) as refused:
        compile_schema(CASES[name]["schema"])
    assert refused.value.reason
    assert str(refused.value).startswith(f"#{refused.value.pointer}: ")


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "max_gbnf_kb" in c])
def test_a_case_keeps_to_its_size(name: str) -> None:
    case = CASES[name]
    assert len(compile_schema(case["schema"]).gbnf) <= case["max_gbnf_kb"] * 1024


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "max_compile_ms" in c])
def test_a_case_compiles_in_its_time(name: str) -> None:
    case = CASES[name]
    compile_schema(case["schema"])
    spent = []
    for _ in range(3):
        start = time.process_time()
        compile_schema(case["schema"])
        spent.append((time.process_time() - start) * 1000)
    assert min(spent) <= case["max_compile_ms"] * SLOW_MACHINE


@pytest.mark.parametrize("name", [n for n, c in COMPILED.items() if "max_stacks" in c])
def test_a_case_is_read_in_few_ways_at_once(name: str) -> None:
    case = CASES[name]
    most = 0
    for text in case["accept"]:
        found: Readings | None = Readings(compile_schema(case["schema"]).rules)
        for char in compact(text):
            assert found is not None
            most = max(most, len(found.stacks))
            found = found.read(char)
    assert most <= case["max_stacks"], most
