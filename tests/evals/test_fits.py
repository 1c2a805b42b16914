"""The figures of how well asks fit their tools."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from goliath_local.model import Scoring

fits: Any = importlib.import_module("evals.fits")


class Scorer:
    """Finds an ask as much likelier behind a description as they share words."""

    async def score(self, scoring: Scoring) -> tuple[float, ...]:
        said = set(scoring.text.lower().split())
        return tuple(2.0 * len(said & set(each.lower().split())) for each in scoring.openings)


def lines(*fixtures: dict[str, Any]) -> str:
    return "\n".join(json.dumps(each) for each in fixtures)


async def test_the_areas_are_by_kind_over_asks_that_need_no_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cases = tmp_path / "cases.jsonl"
    cases.write_text(
        lines(
            {"id": "tasks", "ask": "list my open tasks", "tools": ["list_tasks"]},
            {"id": "thanks", "kind": "no-tool", "ask": "thanks"},
            {"id": "either", "kind": "missing", "ask": "add", "tools": ["add_task"]}
            | {"alternatives": [[]]},
        ),
        encoding="utf-8",
    )
    found = await fits.weigh(Scorer(), [str(cases)])
    assert [(kind, needs) for _, kind, needs, _, _ in found] == [
        ("own", True),
        ("no-tool", False),
        ("missing", False),
    ]
    fits.show(found)
    told = capsys.readouterr().out
    assert "1 asks with a tool" in told
    assert "no-tool            1 without a tool, area under ROC 1.000" in told
