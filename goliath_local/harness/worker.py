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
from goliath_local.harness.grounded import Heard, doubted_names, grounded, heard_in
from goliath_local.harness.near_miss import near_miss
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.harness.replies import NotJsonText, read_json
from goliath_local.model import Stage
from goliath_local.prompts import render
from goliath_local.records import Reason
from goliath_local.schema import narrowed
from goliath_local.tools import (
    ArgumentSchema,
    argument_schema,
    check_arguments,
    drop_unsaid,
    nothing_missing,
    spelled_out,
    split_missing,
    takes_arguments,
    with_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.records import Plan, StepRecord
    from goliath_local.tools import Tool


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
        doubted = doubted_names(reply, shape)
        if doubted:
            shape = nothing_missing(shape)
            reply = await ask_model(turn, request(turn, tool, plan, shape, hint=hint))
        if isinstance(reply, Escalation):
            return reply
        if isinstance(reply, Rejected):
            return _rejected(reply.problem)
        if not parts.is_constrained(turn):
            return read(reply.text, tool, shape)
        heard = heard_in(turn, tool, reply, doubted=doubted)
        found = read_spelled_out(reply.text, tool, shape, heard)
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
    text: str, tool: Tool, shape: ArgumentSchema, heard: Heard
) -> Arguments | Rejected:
    """Return the arguments of a reply to the spelled-out schema.

    A required value that is named as missing is not in the reply; what nobody said is taken out.
    """
    try:
        value, missing = split_missing(read_json(text), shape.missing)
        value = drop_unsaid(tool, value)
        if missing:
            return Missing(names=missing, value=value)
        if isinstance(value, dict):
            found = grounded(tool, value, heard)
            if found.missing:
                return Missing(names=", ".join(found.missing), value=found.value)
            value = found.value
        return Filled(value=check_arguments(tool, value))
    except NotJsonText as error:
        return _rejected(str(error))
    except InvalidValue as error:
        return replace(_rejected(str(error)), place=error.path)


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
