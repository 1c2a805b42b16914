"""The argument-filling stage: from one plan to the arguments of one tool, nothing else.

`request` and `read` are pure; `fill` drives them, with the one retry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.budget import INVALID_ARGUMENT_CHARACTERS, Draft, clip
from goliath_local.errors import InvalidValue
from goliath_local.harness import guided, judge, parts
from goliath_local.harness.generate import ask_model, with_one_retry
from goliath_local.harness.near_miss import near_miss
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.harness.replies import NotJsonText, read_json
from goliath_local.model import Stage
from goliath_local.prompts import condition_of, example_dates, one_day, render, today_in
from goliath_local.prompts import spoken as spoken_in_numbers
from goliath_local.records import Reason
from goliath_local.schema import narrowed
from goliath_local.tools import (
    ArgumentSchema,
    Checked,
    argument_schema,
    check_arguments,
    drop_unsaid,
    nothing_missing,
    on_the_day,
    pronouns_in,
    spelled_out,
    split_missing,
    takes_arguments,
    unsaid_addresses,
    unsaid_texts,
    with_value,
    without_copied,
    without_unsaid_figures,
)

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.model import Choice, Reply
    from goliath_local.records import Plan, StepRecord
    from goliath_local.tools import Tool


GUESS_SHARE = 0.7
DOUBT_SHARE = 0.9
WRITE_SHARE = 0.8
"""Below the first, an optional choice that nobody said narrows no lookup; below the second, where
no choice was the next likeliest; below the third it is left to the tool that changes something.
Seen on the dev set: guesses at 0.61 to 0.84."""

MISSING_SHARE = 0.8
"""A value is called missing from this share on; below it the worker is to fill it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Validated arguments."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Required values could not be found."""

    names: str
    value: Any
    """What was filled in nevertheless, not validated."""


Arguments: TypeAlias = Filled | Missing


async def fill(turn: Turn, tool: Tool, plan: Plan) -> Arguments | Escalation:
    """Return the arguments of the call, or why there are none."""
    is_widened, turn.widened = turn.widened == tool.name, None
    if is_widened or not takes_arguments(tool):
        return _parameterless(tool)

    # The text that did not fit, and the place where it did not.
    refused: list[tuple[str, str]] = []

    async def attempt(number: int, hint: str) -> Arguments | Rejected | Escalation:
        shape = _wanted(turn, tool, refused)
        if number == 0 and parts.is_constrained(turn):
            shape = _corrected(turn, tool, shape)
        reply = await ask_model(turn, request(turn, tool, plan, shape, hint=hint))
        doubted = _doubted(reply, shape)
        if doubted:
            shape = nothing_missing(shape)
            reply = await ask_model(turn, request(turn, tool, plan, shape, hint=hint))
        if isinstance(reply, Escalation):
            return reply
        if isinstance(reply, Rejected):
            return _rejected(reply.problem)
        if not parts.is_constrained(turn):
            return read(reply.text, tool, shape)
        found = read_spelled_out(
            reply.text,
            tool,
            shape,
            said=_said(turn),
            facts=parts.facts(turn),
            day=_day(turn, tool),
            # A change to a day that the ask names is not to the day of an entry that was found.
            dates=_spoken(turn) if tool.writes else "",
            doubted=doubted,
            guessed=_guessed(reply, tool),
        )
        if number == 0 and isinstance(found, Filled):
            found = _in_vain(tool, found, turn.steps) or found
        if isinstance(found, Rejected) and found.place is not None:
            refused.append((reply.text, found.place))
        return found

    return await with_one_retry(turn, Stage.WORKER, attempt, twice=Reason.TOOL_ARGS_INVALID)


def request(turn: Turn, tool: Tool, plan: Plan, shape: ArgumentSchema, *, hint: str = "") -> Draft:
    """Return what the worker is asked: one tool's schema, and only what concerns this call."""
    if parts.is_constrained(turn):
        steps = relevant(tool, turn.steps)
        return guided.argument_draft(turn, tool, plan, steps=steps, schema=shape.schema, hint=hint)
    rules = render("worker.rules", missing=shape.missing or "the reply")
    return Draft(
        stage=Stage.WORKER,
        system=parts.system(
            ("instructions", turn.instructions),
            ("facts", parts.facts(turn)),
            ("schema", parts.schema("worker.schema", tool.parameters.json, tool=tool.name)),
            ("order", render("worker.order", brief=plan.brief)),
            ("task", rules),
        ),
        user=(
            *parts.conversation(turn),
            parts.log(turn, relevant(tool, turn.steps)),
            *parts.closing(turn, hint=hint),
        ),
        schema=shape.schema,
    )


def relevant(tool: Tool, steps: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
    """Return the steps the worker sees: those of the prerequisites, else the latest."""
    if tool.requires:
        return tuple(step for step in steps if step.tool in tool.requires)
    return tuple(steps[-1:])


def read(text: str, tool: Tool, shape: ArgumentSchema) -> Arguments | Rejected:
    """Return the arguments that the reply is, or why it is none."""
    try:
        value, missing = split_missing(read_json(text), shape.missing)
        if missing:
            return Missing(names=missing, value=value)
        return Filled(value=check_arguments(tool, value))
    except (NotJsonText, InvalidValue) as error:
        return _rejected(str(error))


def read_spelled_out(
    text: str,
    tool: Tool,
    shape: ArgumentSchema,
    *,
    said: str,
    facts: str = "",
    day: dt.date | None = None,
    dates: str = "",
    doubted: Sequence[str] = (),
    guessed: Sequence[str] = (),
) -> Arguments | Rejected:
    """Return the arguments of a reply to the spelled-out schema.

    A required value that is named as missing is not in the reply; a figure that nobody said is
    taken out, and so is a date of the examples.

    Args:
        text: the reply.
        tool: whose arguments they are.
        shape: the schema that was asked for.
        said: the ask, the conversation and the results.
        facts: what else the model was told.
        day: the one day that the ask names, if it does.
        dates: where another date has to stand to be meant; by default in what was said.
        doubted: arguments that the model first called missing: their texts have to be said.
        guessed: choices that the model was not sure of: unless said, they are none.
    """
    try:
        value, missing = split_missing(read_json(text), shape.missing)
        value = drop_unsaid(tool, value)
        if missing:
            return Missing(names=missing, value=value)
        if isinstance(value, dict):
            value = _without(value, unsaid_texts(value, guessed, f"{said}\n{facts}"))
            if day is not None:
                value = on_the_day(value, day, seen=dates or said)
            found = _grounded(tool, value, said=said, facts=facts, doubted=doubted)
            if found.missing:
                return Missing(names=", ".join(found.missing), value=found.value)
            value = found.value
        return Filled(value=check_arguments(tool, value))
    except NotJsonText as error:
        return _rejected(str(error))
    except InvalidValue as error:
        return replace(_rejected(str(error)), place=error.path)


def _grounded(
    tool: Tool, value: dict[str, Any], *, said: str, facts: str, doubted: Sequence[str]
) -> Checked:
    """Return the arguments without those that have no ground in what was said."""
    required = tool.parameters.json.get("required", ())
    made_up = unsaid_addresses(value, f"{said}\n{facts}\n{tool.parameters.json}") + pronouns_in(
        value, required
    )
    if made_up:
        missing = tuple(name for name in made_up if name in required)
        value = _without(value, made_up)
        if missing:
            return Checked(value=value, missing=missing)
    found = without_copied(tool, value, copies=example_dates(), seen=f"{said}\n{facts}")
    if not found.missing:
        found = without_unsaid_figures(tool, found.value, said)
    if found.missing:
        return found
    unsaid = unsaid_texts(found.value, doubted, said)
    return Checked(value=_without(found.value, unsaid), missing=unsaid)


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


def _doubted(reply: Reply | Rejected | Escalation, shape: ArgumentSchema) -> tuple[str, ...]:
    """Return what the reply calls missing with a share that is not enough for it."""
    if isinstance(reply, Escalation | Rejected) or shape.missing is None:
        return ()
    path = f"/{shape.missing}"
    named = [choice for choice in reply.choices if choice.path == path and choice.value]
    return tuple(str(choice.value) for choice in named if choice.share < MISSING_SHARE)


def _guessed(reply: Reply, tool: Tool) -> tuple[str, ...]:
    """Return the optional choices that the model was not sure of."""
    required = tool.parameters.json.get("required", ())
    paths = {f"/{name}": name for name in tool.parameters.properties if name not in required}
    return tuple(
        paths[choice.path]
        for choice in reply.choices
        if choice.path in paths and choice.share < _enough(tool, choice)
    )


def _enough(tool: Tool, choice: Choice) -> float:
    if choice.runner_up == "null":
        return DOUBT_SHARE
    return WRITE_SHARE if tool.writes else GUESS_SHARE


def _in_vain(tool: Tool, found: Filled, steps: Sequence[StepRecord]) -> Rejected | None:
    """Return why this very call would lead nowhere, None when it was not made before."""
    failed = judge.failed_before(tool, found.value, steps)
    if failed is not None:
        hint = render("guided.failed-before", message=failed.result or "")
        return Rejected(problem=f"the arguments of step {failed.index + 1} failed", hint=hint)
    fruitless = judge.fruitless_before(tool, found.value, steps)
    if fruitless is not None:
        problem = f"the arguments of step {fruitless.index + 1} found nothing"
        return Rejected(problem=problem, hint=render("guided.found-nothing"))
    return None


def _wanted(turn: Turn, tool: Tool, refused: Sequence[tuple[str, str]]) -> ArgumentSchema:
    """Return what the worker is asked to fill, without what was refused before."""
    shape = _shape(tool)
    if parts.is_constrained(turn):
        shape = spelled_out(shape, said=turn.ask)
    for text, place in refused:
        shape = _narrowed(shape, text, place)
    return shape


def _corrected(turn: Turn, tool: Tool, shape: ArgumentSchema) -> ArgumentSchema:
    """Return the schema with the value that the last call of this tool almost had."""
    last = turn.steps[-1] if turn.steps else None
    miss = near_miss(last) if last is not None and last.tool == tool.name else None
    return shape if miss is None else with_value(shape, miss.argument, miss.value)


def _narrowed(shape: ArgumentSchema, text: str, place: str) -> ArgumentSchema:
    """Return the schema in which a refused text can only be gone on with from what was sound."""
    schema = narrowed(shape.schema, read_json(text), place, free=shape.missing)
    return shape if schema is None else replace(shape, schema=schema)


def _shape(tool: Tool) -> ArgumentSchema:
    shape = argument_schema(tool, description=render("worker.missing"))
    # The title says whose arguments they are; a scripted model matches its `tool_call` by it.
    return ArgumentSchema(schema={"title": tool.name, **_untitled(shape)}, missing=shape.missing)


def _untitled(shape: ArgumentSchema) -> dict[str, Any]:
    return {key: value for key, value in shape.schema.items() if key != "title"}


def _parameterless(tool: Tool) -> Arguments | Escalation:
    try:
        return Filled(value=check_arguments(tool, {}))
    except InvalidValue as error:
        return Escalation(reason=Reason.TOOL_ARGS_INVALID, error=str(error))


def _rejected(problem: str) -> Rejected:
    clipped = clip(problem, INVALID_ARGUMENT_CHARACTERS)
    return Rejected(problem=clipped, hint=render("worker.invalid", problem=clipped))
