"""The sections that several stages show, worded once.

Pure. System sections begin with their separator and user sections end with it, so that whatever
is dropped for room leaves no gap, and a leading run of parts stays the same from call to call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goliath_local.budget import Block, Brief, Fixed, Log, LogLine, Recent, compact_result
from goliath_local.harness.judge import original_of
from goliath_local.model import CountingModel, Part
from goliath_local.prompts import (
    exchange_parts,
    fact_lines,
    first_choice,
    log_line,
    render,
    schema_lines,
    second_choice,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goliath_local.budget import Section
    from goliath_local.harness.state import Turn
    from goliath_local.model import JsonSchema
    from goliath_local.records import StepRecord


def system(*named: tuple[str, str]) -> tuple[Section, ...]:
    """Return the system sections, each on a line of its own; empty ones are left out."""
    kept = [(name, text) for name, text in named if text.strip()]
    return tuple(
        Fixed(part=Part(name=name, text=text if at == 0 else f"\n{text}"))
        for at, (name, text) in enumerate(kept)
    )


def is_constrained(turn: Turn) -> bool:
    """Return whether replies are decoded under the schema, token by token, by this process.

    Only then is a schema narrowed to what can help: a scripted or remote model is shown the whole
    one.
    """
    return isinstance(turn.settings.lasting_model, CountingModel)


def facts(turn: Turn, *, with_days: bool = True) -> str:
    """Return the known facts with their heading, empty if there are none."""
    return fact_lines(turn.facts, with_days=with_days)


def schema(name: str, shape: JsonSchema, **slots: str) -> str:
    """Return a schema in words: the part of the system text that says what to fill in."""
    return render(name, lines=schema_lines(shape), **slots)


def conversation(turn: Turn) -> tuple[Section, ...]:
    """Return the rolling brief and the recent exchanges."""
    view = turn.view
    return (
        Brief(text=view.summary, before=render("shared.brief") + "\n", after="\n\n"),
        Recent(
            heading=render("shared.recent") + "\n",
            blocks=tuple(Block(lines=exchange_parts(exchange)) for exchange in view.recent),
            after="\n\n",
        ),
    )


def log(turn: Turn, steps: Sequence[StepRecord]) -> Log:
    """Return the step log of the steps shown; a pointer to a step that is not is resolved."""
    shown = {step.index for step in steps}
    lines = tuple(_line(step, _result(turn, step, shown)) for step in steps)
    return Log(lines=lines, heading=render("shared.log") + "\n", after="\n")


def closing(turn: Turn, *, request: str = "", hint: str = "") -> tuple[Section, ...]:
    """Return the ask, with what is wanted of it, and on a retry the hint after everything."""
    ask = "\n".join(filter(None, [render("shared.ask", ask=_asked(turn)), request]))
    parts = [Fixed(part=Part(name="ask", text=ask))]
    if hint:
        parts.append(Fixed(part=Part(name="hint", text=f"\n\n{hint}")))
    return tuple(parts)


def _asked(turn: Turn) -> str:
    """Return the ask; of two choices a small model is told the one whose turn it is."""
    if not is_constrained(turn):
        return turn.ask
    has_failed = any(step.failed and step.writes for step in turn.steps)
    return second_choice(turn.ask) if has_failed else first_choice(turn.ask)


def optional(name: str, text: str) -> tuple[Section, ...]:
    """Return one section and the blank line behind it, nothing when there is no text."""
    return (fixed(name, f"{text}\n\n"),) if text else ()


def fixed(name: str, text: str) -> Fixed:
    """Return one section that is shown whole."""
    return Fixed(part=Part(name=name, text=text))


def _line(step: StepRecord, result: str | None) -> LogLine:
    content = step.output_mode == "content" and step.result is not None
    short = compact_result(result or "")
    return LogLine(
        text=log_line(step, result=result) + "\n",
        short=log_line(step, result=short) + "\n",
        excerpt=result if content else None,
        omitted=log_line(step, result=render("results.omitted")) + "\n" if content else None,
    )


def _result(turn: Turn, step: StepRecord, shown: Iterable[int]) -> str | None:
    if not step.cached:
        return step.result
    original: Any = original_of(step, turn.steps)
    if original is None or original.index in shown:
        return step.result
    return str(original.result)
