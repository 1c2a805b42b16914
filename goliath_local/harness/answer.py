"""The closing stage: prose, a structured answer, or the best that can be said after a stall.

`request` and the readers are pure; `close` and `best_effort` drive them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from goliath_local.budget import INVALID_ARGUMENT_CHARACTERS, Draft, clip
from goliath_local.errors import InvalidValue
from goliath_local.harness import guided, parts
from goliath_local.harness.generate import ask_model, with_one_retry
from goliath_local.harness.outcome import Escalation, Final, Rejected
from goliath_local.harness.replies import NotJsonText, read_json
from goliath_local.harness.telling import (
    Said,
    completed,
    is_in_english_instead,
    is_the_ask,
    plain_answer,
    undone,
    verified,
)
from goliath_local.model import Stage
from goliath_local.prompts import render
from goliath_local.records import Plan, Reason
from goliath_local.schema import narrowed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.schema import Declared

    Attempt: TypeAlias = Callable[[int, str], Awaitable[Said | Rejected | Escalation]]


async def close(turn: Turn, plan: Plan) -> Final | Escalation:
    """Return the answer that the plan closes the turn with."""
    # Without a planning call there is no plan of the model's own to go by.
    point = plan.brief if turn.settings.tools else ""
    plain = plain_answer(turn, plan.why or "") if _is_plain_prose(turn) else ""
    if plain:
        return Final(text=_spoken(turn, plain)[0], brief=plan.brief)
    said = await _say(turn, point=point, why=plan.why or "", twice=_twice(turn))
    if isinstance(said, Escalation):
        return said
    text, output = said
    return Final(text=text, output=output, brief=plan.brief)


def _spoken(turn: Turn, text: str) -> Said:
    """Return an answer made by code, given away as if it had come from the model."""
    if turn.options.on_text is not None:
        turn.options.on_text(text)
    return text, None


def _is_plain_prose(turn: Turn) -> bool:
    return turn.output is None and parts.is_constrained(turn)


async def best_effort(turn: Turn) -> Final | Escalation:
    """Return what can be said of a turn that stalled; blank prose is not asked for again."""
    if turn.output is None:
        reply = await ask_model(turn, request(turn, stalled=True), on_text=turn.options.on_text)
        if isinstance(reply, Escalation):
            return reply
        text = "" if isinstance(reply, Rejected) else reply.text.strip()
        return Final(text=text, best_effort=True)
    said = await _say(turn, stalled=True, twice=Reason.ANSWER_INVALID)
    if isinstance(said, Escalation):
        return said
    return Final(text=said[0], output=said[1], best_effort=True)


def request(
    turn: Turn, *, stalled: bool = False, point: str = "", why: str = "", hint: str = ""
) -> Draft:
    """Return what the answer stage is asked.

    Args:
        turn: the turn.
        stalled: the best that can be said is wanted, not an answer.
        point: what the conductor planned to tell, which it read from the same results.
        why: the reason that it gave.
        hint: what was wrong with the last reply.
    """
    if turn.output is None and not stalled and parts.is_constrained(turn):
        return guided.answer_draft(turn, point=point, why=why, hint=hint)
    kind = "prose" if turn.output is None else "structured"
    name = f"answer.best-effort-{kind}" if stalled else f"answer.{kind}"
    shape = turn.output.json if turn.output is not None else None
    return Draft(
        stage=Stage.ANSWER,
        system=parts.system(
            ("instructions", turn.instructions),
            ("schema", "" if shape is None else parts.schema("answer.schema", shape)),
            ("task", render(name)),
            ("facts", parts.facts(turn)),
        ),
        user=(
            *parts.conversation(turn),
            parts.log(turn, turn.steps),
            *parts.optional("point", render("answer.point", brief=point) if point else ""),
            *parts.closing(turn, hint=hint),
        ),
        schema=shape,
    )


def read_prose(text: str) -> Said | Rejected:
    """Return the prose, trimmed, unless it is blank."""
    said = text.strip()
    if not said:
        return Rejected(problem="the answer is blank", hint=render("answer.blank"))
    return said, None


def read_structured(text: str, output: Declared) -> Said | Rejected:
    """Return the reply and the value it is, transforms run once."""
    try:
        return text.strip(), output.read(read_json(text))
    except NotJsonText as error:
        return _invalid(str(error))
    except InvalidValue as error:
        return replace(_invalid(str(error)), place=error.path)


async def _say(
    turn: Turn, *, stalled: bool = False, point: str = "", why: str = "", twice: Reason
) -> Said | Escalation:
    attempt = (
        _prose_attempt(turn, point=point, why=why)
        if turn.output is None
        else _structured_attempt(turn, turn.output, stalled=stalled, point=point, why=why)
    )
    return await with_one_retry(turn, Stage.ANSWER, attempt, twice=twice)


def _prose_attempt(turn: Turn, *, point: str, why: str) -> Attempt:
    first: list[Said] = []

    async def attempt(_: int, hint: str) -> Said | Rejected | Escalation:
        plain = undone(turn, first[0][0], why) if first else ""
        if plain:
            return _spoken(turn, plain)
        draft = request(turn, point=point, why=why, hint=hint)
        reply = await ask_model(turn, draft, on_text=turn.options.on_text)
        if isinstance(reply, Escalation):
            return reply
        said = read_prose("" if isinstance(reply, Rejected) else reply.text)
        if isinstance(said, Rejected) or not parts.is_constrained(turn):
            return said
        if hint:
            return completed(turn, _better(turn, said, first))
        first.append(said)
        return verified(turn, said, why)

    return attempt


def _better(turn: Turn, said: Said, first: Sequence[Said]) -> Said:
    """Return the second answer, or the first one.

    Asked for another language, a small model may say the ask once more.
    """
    was_english = first and is_in_english_instead(turn, first[0][0])
    return first[0] if was_english and is_the_ask(turn, said[0]) else said


def _structured_attempt(
    turn: Turn, output: Declared, *, stalled: bool, point: str, why: str
) -> Attempt:
    # The text that did not fit, and the place where it did not.
    refused: list[tuple[str, str]] = []

    async def attempt(_: int, hint: str) -> Said | Rejected | Escalation:
        draft = request(turn, stalled=stalled, point=point, why=why, hint=hint)
        for text, place in refused:
            draft = _going_on(draft, text, place)
        reply = await ask_model(turn, draft, on_text=turn.options.on_text)
        if isinstance(reply, Escalation):
            return reply
        if isinstance(reply, Rejected):
            return _invalid(reply.problem)
        found = read_structured(reply.text, output)
        if isinstance(found, Rejected) and found.place is not None and parts.is_constrained(turn):
            refused.append((reply.text, found.place))
        return found

    return attempt


def _going_on(draft: Draft, text: str, place: str) -> Draft:
    """Return the draft in which a refused text can only be gone on with from what was sound."""
    schema = narrowed(draft.schema, read_json(text), place) if draft.schema else None
    return draft if schema is None else replace(draft, schema=schema)


def _twice(turn: Turn) -> Reason:
    return Reason.EMPTY_ANSWER if turn.output is None else Reason.ANSWER_INVALID


def _invalid(problem: str) -> Rejected:
    clipped = clip(problem, INVALID_ARGUMENT_CHARACTERS)
    return Rejected(problem=clipped, hint=render("answer.invalid", problem=clipped))
