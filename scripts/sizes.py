#!/usr/bin/env python3
"""Print the longest files and functions of the package, to look at, not to fail on."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "goliath_local"
SHOWN = 15


def main() -> None:
    """Print two tables: lines, then the place."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    files = [(len(text.splitlines()), path) for path, text in sources.items()]
    functions = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, path, node)
        for path, text in sources.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    print(f"{len(files)} files, {sum(lines for lines, _ in files):,} lines")
    print("\nlongest files")
    for lines, path in sorted(files, reverse=True)[:SHOWN]:
        print(f"{lines:6}  {path.relative_to(PACKAGE.parent)}")
    print("\nlongest functions")
    for lines, path, node in sorted(functions, key=lambda row: -row[0])[:SHOWN]:
        print(f"{lines:6}  {path.relative_to(PACKAGE.parent)}:{node.lineno} {node.name}")


if __name__ == "__main__":
    main()
