"""How steps and exchanges read in a prompt.

Pure. A line carries the step's own number (index + 1), so that a pointer to a step stays right in
a log that shows only some of them. Full outputs are never shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goliath_local.prompts.render import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.records import Exchange, StepRecord

ARGUMENT_CHARS = 120
"""Longest arguments of a log line; longer ones end in an ellipsis."""


def log_line(record: StepRecord, *, result: str | None = None) -> str:
    """Return one step as a line of the log; `result` stands in for the record's own."""
    number = record.index + 1
    if record.kind == "answer":
        return f"{number}. {record.text or ''}"
    shown = record.result if result is None else result
    arguments = _cut(_compact(record.input))
    return f"{number}. {record.tool}({arguments}) [{record.status}] → {shown or ''}"


def changes_made(
    records: Iterable[StepRecord],
    *,
    text: str = "conductor.changes",
    with_brief: bool = False,
    latest: int | None = None,
) -> str:
    """Return the sentence that names the changes already made, empty if there are none.

    Args:
        records: the turn's steps.
        text: which sentence.
        with_brief: say in front of each call what it was planned for.
        latest: name so many of the last ones, None for all.
    """
    made = [record for record in records if record.writes and record.status == "completed"]
    if latest is not None:
        made = made[-latest:]
    calls = "; ".join(
        (f"{record.brief} - " if with_brief and record.brief else "")
        + f"{record.tool}({_cut(_compact(record.input))})"
        for record in made
    )
    return render(text, calls=calls) if calls else ""


def exchange_parts(exchange: Exchange) -> tuple[str, ...]:
    """Return the user line, the assistant line and, after tool steps, the block of actions."""
    partial = f"{render('shared.partial')} " if exchange.best_effort else ""
    said = (
        render("shared.user", text=exchange.ask),
        partial + render("shared.assistant", text=exchange.answer),
    )
    actions = action_block(exchange)
    return (*said, actions) if actions else said


def action_block(exchange: Exchange) -> str:
    """Return the exchange's tool steps under their heading, empty if there were none."""
    lines = [log_line(step) for step in exchange.steps if step.kind == "tool"]
    return "\n".join([render("shared.actions"), *lines]) if lines else ""


def _compact(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str) -> str:
    return text if len(text) <= ARGUMENT_CHARS else text[: ARGUMENT_CHARS - 1] + "…"
