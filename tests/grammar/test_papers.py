"""What is written down about grammars is what the code does today."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goliath_local.grammar import compile_schema

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "schemas.md"


def script(name: str) -> ModuleType:
    """The script of that name, loaded but not run."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_grammars_of_the_built_in_schemas_are_not_behind() -> None:
    assert script("write_grammars").behind() == []


def test_a_changed_or_left_over_grammar_file_is_noticed(tmp_path: Path) -> None:
    writer = script("write_grammars")
    for name, text in writer.written().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert writer.behind(tmp_path) == []
    (tmp_path / "plan.gbnf").write_text("root ::= [a-z]\n", encoding="utf-8")
    (tmp_path / "old.gbnf").write_text("", encoding="utf-8")
    assert writer.behind(tmp_path) == ["plan.gbnf", "old.gbnf"]


def test_the_support_table_is_not_behind() -> None:
    page = (ROOT / "docs" / "grammar.md").read_text("utf-8")
    assert script("write_grammar_docs").page(page) == page


def test_a_keyword_that_is_missing_from_the_page_is_noticed() -> None:
    page = (ROOT / "docs" / "grammar.md").read_text("utf-8")
    assert "| `uniqueItems` |" in page
    assert script("write_grammar_docs").page(page.replace("| `uniqueItems` |", "| `x` |")) == page


@pytest.mark.parametrize("block", re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.S))
def test_each_schema_on_the_page_for_small_models_compiles_wholly(block: str) -> None:
    grammar = compile_schema(json.loads(block))
    assert grammar.deferred == ()
    assert grammar.ignored == ()
