"""Which results of a turn's tools the model saw only a part of.

Pure. What was left out is marked by an ellipsis in the text that the model was shown; a result
that merely has one of its own is found in the output as it stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.records import StepRecord

_MARK = "…"
KEPT_CHARACTERS = 1 << 20
"""Of one turn's outputs in its trace, which has a bound of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A tool's output, of which the model was shown a part."""

    index: int
    tool: str
    shown_characters: int
    output: str
    """All of it, as text."""

    @property
    def words(self) -> str:
        """Say what was shown of what."""
        return (
            f"{self.tool} gave {len(self.output):,} characters; "
            f"the model was shown {self.shown_characters:,}."
        )


def shortened_results(steps: Iterable[StepRecord]) -> tuple[Shortened, ...]:
    """Return the steps whose result was cut for the model, in order."""
    found = []
    for step in steps:
        result = step.result or ""
        if step.tool is None or not step.has_output or step.cached or _MARK not in result:
            continue
        whole = _text(step.output)
        if result not in whole and len(result) < len(whole):
            found.append(
                Shortened(
                    index=step.index,
                    tool=step.tool,
                    shown_characters=len(result),
                    output=whole,
                )
            )
    return tuple(found)


def outputs_json(found: Iterable[Shortened]) -> list[dict[str, Any]]:
    """Return what a trace keeps of them, so that nothing is lost by shortening."""
    room, rows = KEPT_CHARACTERS, []
    for one in found:
        kept = one.output[:room]
        room -= len(kept)
        rows.append(
            {
                "index": one.index,
                "tool": one.tool,
                "shownCharacters": one.shown_characters,
                "characters": len(one.output),
                "output": kept,
            }
        )
    return rows


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)
