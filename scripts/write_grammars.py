"""Writes grammars/ from the built-in schemas, or says with --check whether they are behind.

For each built-in schema there is its NAME.schema.json and the NAME.gbnf made from it: evidence for
reviewers of what a model may write. Nothing reads them at run time.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.demo import demo_tools
from goliath_local.grammar import compile_schema
from goliath_local.harness import opening_schema, plan_schema_for, planning_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).resolve().parent.parent / "grammars"


def built_in() -> dict[str, Mapping[str, Any]]:
    """Return every schema that the package itself hands to a model, by name."""
    with tempfile.TemporaryDirectory() as folder:
        tools = demo_tools(Path(folder) / "demo.sqlite")
    names = [tool.name for tool in tools]
    return {
        "plan": planning_schema(names),
        "plan-first": opening_schema(names, [tool.name for tool in tools if not tool.writes]),
        "plan-without-tools": planning_schema([]),
        "plan-as-documented": plan_schema_for(names),
        **{f"arguments-{tool.name}": tool.parameters.json for tool in tools},
    }


def written() -> dict[str, str]:
    """Return the files of grammars/, by name."""
    found: dict[str, str] = {}
    for name, schema in built_in().items():
        grammar = compile_schema(schema)
        found[f"{name}.schema.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        found[f"{name}.gbnf"] = grammar.gbnf
    return found


def behind(folder: Path = FOLDER) -> list[str]:
    """Return the names of files that are not what they should be."""
    wanted = written()
    there = {path.name: path.read_text("utf-8") for path in folder.glob("*") if path.is_file()}
    names = [*wanted, *(name for name in there if name not in wanted)]
    return [name for name in names if there.get(name) != wanted.get(name)]


def main() -> int:
    """Write the folder anew, or with --check only compare; return the exit code."""
    wrong = behind()
    if "--check" in sys.argv[1:]:
        if wrong:
            print(f"grammars/ is behind: {', '.join(wrong)}. Run make grammars.")
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for name in wrong:
        text = written().get(name)
        if text is None:
            (FOLDER / name).unlink()
        else:
            (FOLDER / name).write_text(text, encoding="utf-8")
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
