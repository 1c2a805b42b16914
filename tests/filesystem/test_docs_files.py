from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_every_example_of_the_page_runs(block: str) -> None:
    exec(compile(block, PAGE.name, "exec"), {})


def test_the_page_has_its_two_examples() -> None:
    assert len(BLOCKS) == 2
