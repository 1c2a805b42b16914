"""What plain code makes of arguments that were filled in: nothing stays that nobody said.

Pure, over the turn. The rules for single values are in `tools`; here stands what they are held to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.harness import parts
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.prompts import condition_of, example_dates, one_day, today_in
from goliath_local.prompts import spoken as spoken_in_numbers
from goliath_local.tools import (
    Checked,
    on_the_day,
    pronouns_in,
    unsaid_addresses,
    unsaid_texts,
    without_copied,
    without_unsaid_figures,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.model import Choice, Reply
    from goliath_local.tools import ArgumentSchema, Tool

GUESS_SHARE = 0.7
DOUBT_SHARE = 0.9
WRITE_SHARE = 0.8
"""Below the first, an optional choice that nobody said narrows no lookup; below the second, where
no choice was the next likeliest; below the third it is left to the tool that changes something.
Seen on the dev set: guesses at 0.61 to 0.84."""

TOSS_SHARE = 0.5
"""A required choice of a change below this is a toss-up: unless said, only the user knows it."""

MISSING_SHARE = 0.8
"""A value is called missing from this share on; below it the worker is to fill it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the arguments of a call may be taken from, and how sure the model was of them."""

    said: str
    """The ask, the conversation and the results."""

    facts: str = ""
    """What else the model was told."""

    day: dt.date | None = None
    """The one day that the ask names, if it does."""

    dates: str = ""
    """Where another date has to stand to be meant."""

    doubted: tuple[str, ...] = ()
    """Arguments that the model first called missing: their texts have to be said."""

    guessed: tuple[str, ...] = ()
    """Choices that the model was not sure of: unless said, they are none."""

    tossed: tuple[str, ...] = ()
    """Required choices that might as well have been others: unless said, they are missing."""


def heard_in(turn: Turn, tool: Tool, reply: Reply, *, doubted: tuple[str, ...]) -> Heard:
    """Return what the reply that fills in a call may be taken from."""
    said = _said(turn)
    return Heard(
        said=said,
        facts=parts.facts(turn),
        day=_day(turn, tool),
        # A change to a day that the ask names is not to the day of an entry that was found.
        dates=_spoken(turn) if tool.writes else said,
        doubted=doubted,
        guessed=_guessed(reply, tool),
        tossed=() if _was_asked(turn) else _tossed(reply, tool),
    )


def grounded(tool: Tool, value: dict[str, Any], heard: Heard) -> Checked:
    """Return the arguments without those that have no ground in what was said.

    A date that nobody said becomes the day that the ask names; figures, dates of the examples,
    addresses, words that only point at something, and choices by guess or toss-up are taken out.
    """
    required = tool.parameters.json.get("required", ())
    known = f"{heard.said}\n{heard.facts}"
    value = _without(value, unsaid_texts(value, heard.guessed, known))
    if heard.day is not None:
        value = on_the_day(value, heard.day, seen=heard.dates)
    # The schema may hold an address as well.
    made_up = unsaid_addresses(value, f"{known}\n{tool.parameters.json}")
    made_up += pronouns_in(value, required)
    made_up += unsaid_texts(value, heard.tossed, known)
    missing = tuple(name for name in made_up if name in required)
    value = _without(value, made_up)
    if missing:
        return Checked(value=value, missing=missing)
    found = without_copied(tool, value, copies=example_dates(), seen=known)
    if not found.missing:
        found = without_unsaid_figures(tool, found.value, heard.said)
    if found.missing:
        return found
    unsaid = unsaid_texts(found.value, heard.doubted, heard.said)
    return Checked(value=_without(found.value, unsaid), missing=unsaid)


def doubted_names(reply: Reply | Rejected | Escalation, shape: ArgumentSchema) -> tuple[str, ...]:
    """Return what the reply calls missing with a share that is not enough for it."""
    if isinstance(reply, Escalation | Rejected) or shape.missing is None:
        return ()
    path = f"/{shape.missing}"
    named = [choice for choice in reply.choices if choice.path == path and choice.value]
    return tuple(str(choice.value) for choice in named if choice.share < MISSING_SHARE)


def _without(value: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name not in names}


def _said(turn: Turn) -> str:
    results = [step.result or "" for step in turn.steps if not step.skipped]
    return "\n".join([*results, _spoken(turn)])


def _spoken(turn: Turn) -> str:
    view = turn.view
    said = [text for exchange in view.recent for text in (exchange.ask, exchange.answer)]
    return "\n".join([view.summary, *said, turn.ask, spoken_in_numbers(turn.ask)])


def _day(turn: Turn, tool: Tool) -> dt.date | None:
    """Return the one day that the ask names: in what has to hold for a lookup, else the rest."""
    today, condition = today_in(turn.facts), condition_of(turn.ask)
    if today is None:
        return None
    rest = turn.ask.replace(condition, " ") if condition else turn.ask
    if tool.writes:
        return one_day(rest, today)
    return one_day(condition or rest, today)


def _guessed(reply: Reply, tool: Tool) -> tuple[str, ...]:
    """Return the optional choices that the model was not sure of."""
    required = tool.parameters.json.get("required", ())
    paths = {f"/{name}": name for name in tool.parameters.properties if name not in required}
    return tuple(
        paths[choice.path]
        for choice in reply.choices
        if choice.path in paths and choice.share < _enough(tool, choice)
    )


def _was_asked(turn: Turn) -> bool:
    """Return whether the ask answers a question: it may say the choice in another language."""
    recent = turn.view.recent
    return bool(recent) and recent[-1].answer.rstrip().endswith(("?", "\uff1f"))


def _tossed(reply: Reply, tool: Tool) -> tuple[str, ...]:
    """Return the required choices of a change that the model might as well have made otherwise."""
    required = tool.parameters.json.get("required", ()) if tool.writes else ()
    unsure = {choice.path for choice in reply.choices if choice.share < TOSS_SHARE}
    return tuple(name for name in required if f"/{name}" in unsure)


def _enough(tool: Tool, choice: Choice) -> float:
    if choice.runner_up == "null":
        return DOUBT_SHARE
    return WRITE_SHARE if tool.writes else GUESS_SHARE
