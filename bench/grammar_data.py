"""The schemas and texts of the grammar comparison, in one form.

A text counts as accepted when it is taken as written or without blanks between its tokens, and as
refused when it is taken in neither form. Texts that are not JSON, and those that let a model run
on, count as written.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TESTS = Path(__file__).parent.parent / "tests" / "grammar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One schema with what must and what must not get through."""

    name: str
    schema: Any
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    """Beginnings that must be reachable, and are no ends."""

    unreachable: tuple[str, ...] = ()
    """Beginnings that must be refused."""

    as_written: frozenset[str] = frozenset()
    """Texts of `reject` whose blanks are not to be changed."""

    must_refuse: bool = False
    any_accept: bool = False
    closed: bool = True
    max_compile_ms: float = float("inf")
    max_gbnf_bytes: float = float("inf")

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that an engine is to be asked about, each once."""
        spaced = (*self.accept, *self.reject, *self.incomplete)
        forms = (form for text in spaced for form in self.forms(text))
        return tuple(dict.fromkeys((*forms, *self.unreachable)))

    def forms(self, text: str) -> tuple[str, ...]:
        """Return the spellings in which a text is tried."""
        return (text,) if text in self.as_written else (text, without_blanks(text))

    def takes(self, text: str, said: Mapping[str, str]) -> bool:
        """Return whether an engine takes the text in one of its forms."""
        return any(said[form] == "whole" for form in self.forms(text))

    def leaves_open(self, text: str, said: Mapping[str, str]) -> bool:
        """Return whether the text is a beginning, and in no form an end."""
        found = {said[form] for form in self.forms(text)}
        return "open" in found and "whole" not in found


def case_trials() -> Iterator[Trial]:
    """Yield the cases in `tests/grammar/cases`."""
    for path in sorted((TESTS / "cases").glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        runaway = tuple(case.get("reject_runaway", ()))
        reject = (*case.get("reject", ()), *runaway)
        yield Trial(
            name=case["name"],
            schema=case["schema"],
            accept=tuple(case.get("accept", ())),
            reject=reject,
            incomplete=tuple(case.get("incomplete", ())),
            unreachable=_other_keys(case),
            as_written=frozenset({*runaway, *(text for text in reject if not is_json(text))}),
            must_refuse=case["expect"] == "error",
            any_accept=case.get("any_accept", False),
            max_compile_ms=case.get("max_compile_ms", float("inf")),
            max_gbnf_bytes=case.get("max_gbnf_kb", float("inf")) * 1024,
        )


def benchmark_trials() -> Iterator[Trial]:
    """Yield the sample of JSONSchemaBench."""
    with gzip.open(TESTS / "jsonschemabench" / "schemas.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            texts = [(test["valid"], _written(test["data"])) for test in entry["tests"]]
            yield Trial(
                name=entry["id"],
                schema=entry["schema"],
                accept=tuple(text for valid, text in texts if valid),
                reject=tuple(text for valid, text in texts if not valid),
                closed=False,
            )


def suite_trials() -> Iterator[Trial]:
    """Yield the groups of the JSON Schema Test Suite, draft 2020-12."""
    root = TESTS / "json-schema-test-suite" / "draft2020-12"
    for path in sorted(root.rglob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            texts = [(test["valid"], _written(test["data"])) for test in group["tests"]]
            yield Trial(
                name=f"{path.stem}: {group['description']}",
                schema=group["schema"],
                accept=tuple(text for valid, text in texts if valid),
                reject=tuple(text for valid, text in texts if not valid),
                closed=False,
            )


def is_json(text: str) -> bool:
    """Return whether the text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def without_blanks(text: str) -> str:
    """Return a JSON text without the blanks between its tokens."""
    out: list[str] = []
    is_inside = is_escaped = False
    for char in text:
        if is_inside or char not in " \t\r\n":
            out.append(char)
        if char == '"' and not is_escaped:
            is_inside = not is_inside
        is_escaped = is_inside and char == "\\" and not is_escaped
    return "".join(out)


def _other_keys(case: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the beginnings with a declared key that is not the first one wanted."""
    first = case.get("first_key")
    keys = (
        case["schema"].get("properties", ()) if first and isinstance(case["schema"], dict) else ()
    )
    return tuple("{" + json.dumps(key) for key in keys if key != first)


def _written(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)
