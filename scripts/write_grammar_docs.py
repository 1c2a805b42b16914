"""Writes the tables in docs/grammar.md from the code, or with --check says if they are behind."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from goliath_local.schema import KEYWORDS, Support
from goliath_local.schema.regular import PATTERNS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "grammar.md"


def keyword_table() -> str:
    """Return the support of every keyword as a table, by support."""
    rows = ["| keyword | support | note |", "|---|---|---|"]
    for support in Support:
        for name, keyword in KEYWORDS.items():
            if keyword.support is support:
                rows.append(f"| `{name}` | {support.value} | {keyword.note} |")
    return "\n".join(rows)


def format_list() -> str:
    """Return the formats that have an automaton, as a sentence part."""
    return ", ".join(f"`{name}`" for name in PATTERNS)


def page(text: str) -> str:
    """Return the page with its tables as they are today."""
    for name, table in (("keywords", keyword_table()), ("formats", format_list())):
        block = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        text = block.sub(lambda match, table=table: match[1] + table + match[2], text)
    return text


def main() -> int:
    """Write the page anew, or with --check only compare; return the exit code."""
    before = PAGE.read_text("utf-8")
    after = page(before)
    if "--check" in sys.argv[1:]:
        if before != after:
            print("docs/grammar.md is behind. Run scripts/write_grammar_docs.py.")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
