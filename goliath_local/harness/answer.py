"""The closing stage: prose, a structured answer, or the best that can be said after a stall.

`request` and the readers are pure; `close` and `best_effort` drive them.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from goliath_local.budget import INVALID_ARGUMENT_CHARACTERS, Draft, clip
from goliath_local.errors import InvalidValue
from goliath_local.harness import guided, parts
from goliath_local.harness.generate import ask_model, with_one_retry
from goliath_local.harness.outcome import Escalation, Final, Rejected
from goliath_local.harness.replies import NotJsonText, read_json
from goliath_local.model import Stage
from goliath_local.prompts import Finding, claims, finding, opens_with_condition, render, untold
from goliath_local.records import Plan, Reason
from goliath_local.schema import narrowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.records import StepRecord
    from goliath_local.schema import Declared

_LEAST_REPEATED = 12
"""Characters from which on an answer is told to repeat the ask; `ok` is an answer."""

_SAME = 0.92
"""From this likeness on an answer without a change is the ask in other endings."""

Said: TypeAlias = tuple[str, Any]
"""The text, and for a structured answer the validated value."""


async def close(turn: Turn, plan: Plan) -> Final | Escalation:
    """Return the answer that the plan closes the turn with."""
    # Without a planning call there is no plan of the model's own to go by.
    point = plan.brief if turn.settings.tools else ""
    said = await _say(turn, point=point, why=plan.why or "", twice=_twice(turn))
    if isinstance(said, Escalation):
        return said
    text, output = said
    return Final(text=text, output=output, brief=plan.brief)


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
    # The text that did not fit, and the place where it did not.
    refused: list[tuple[str, str]] = []

    async def attempt(_: int, hint: str) -> Said | Rejected | Escalation:
        draft = request(turn, stalled=stalled, point=point, why=why, hint=hint)
        for text, place in refused:
            draft = _going_on(draft, text, place)
        reply = await ask_model(turn, draft, on_text=turn.options.on_text)
        if isinstance(reply, Escalation):
            return reply
        if turn.output is None:
            said = read_prose("" if isinstance(reply, Rejected) else reply.text)
            if isinstance(said, Rejected) or stalled or not parts.is_constrained(turn):
                return said
            return _told_at_last(turn, said, why) if hint else _telling(turn, said, why)
        if isinstance(reply, Rejected):
            return _invalid(reply.problem)
        found = read_structured(reply.text, turn.output)
        if isinstance(found, Rejected) and found.place is not None and parts.is_constrained(turn):
            refused.append((reply.text, found.place))
        return found

    return await with_one_retry(turn, Stage.ANSWER, attempt, twice=twice)


def _going_on(draft: Draft, text: str, place: str) -> Draft:
    """Return the draft in which a refused text can only be gone on with from what was sound."""
    schema = narrowed(draft.schema, read_json(text), place) if draft.schema else None
    return draft if schema is None else replace(draft, schema=schema)


def _telling(turn: Turn, said: Said, why: str) -> Said | Rejected:
    """Return the answer, unless it repeats the ask or leaves out what it is about."""
    text, changed, lacking = said[0], _has_changed(turn), _lacking(turn)
    if lacking and not _is_question(text):
        return _leaves_out(render("guided.ask-for", names=", ".join(lacking)))
    is_still_open = turn.want == "change-if" and not changed and opens_with_condition(text)
    if is_still_open or _repeats(text, turn.ask, almost=not changed):
        hint = render("guided.repeats")
        if why and not changed:
            hint = render("guided.repeats-unchanged", why=why)
        return Rejected(problem="the answer repeats the ask", hint=hint)
    decided = _untold_claim(turn, text, why)
    if decided:
        return _leaves_out(render("guided.found", entry=decided))
    values = _left_out(turn, text)
    if values:
        name = "guided.which" if turn.alike else "guided.say"
        return _leaves_out(render(name, values=", ".join(values)))
    found = _unsaid_finding(turn, text)
    if found is not None:
        return _leaves_out(render("guided.found", entry=found.in_words()))
    return _with_more(turn, said, _also(turn, text))


def _told_at_last(turn: Turn, said: Said, why: str) -> Said:
    """Return the second answer, with what it is about behind it if that is still untold."""
    text, decided = said[0], _untold_claim(turn, said[0], why)
    values, lacking, found = _left_out(turn, text), _lacking(turn), _unsaid_finding(turn, text)
    if values:
        more = render("guided.about", values=", ".join(values))
    elif lacking and not _is_question(text):
        more = render("guided.asking", names=", ".join(lacking))
    elif decided or found is not None:
        more = render("guided.found-too", entry=decided or (found.in_words() if found else ""))
    else:
        more = _also(turn, text)
    return _with_more(turn, said, more)


def _also(turn: Turn, text: str) -> str:
    """Return what else was found, where an answer tells some of it only; empty if nothing."""
    entries = "; ".join(entry.in_words() for entry in untold(turn.ask, text, turn.steps))
    return render("guided.also", entries=entries) if entries else ""


def _with_more(turn: Turn, said: Said, more: str) -> Said:
    if not more:
        return said
    if turn.options.on_text is not None:
        turn.options.on_text(f" {more}")
    return f"{said[0]} {more}", said[1]


def _leaves_out(hint: str) -> Rejected:
    return Rejected(problem="the answer leaves out what it is about", hint=hint)


def _left_out(turn: Turn, text: str) -> tuple[str, ...]:
    if turn.alike:
        told = all(name.casefold() in text.casefold() for name in turn.alike)
        return () if told else turn.alike
    return left_out(text, turn.steps, ask=turn.ask)


def _lacking(turn: Turn) -> tuple[str, ...]:
    """Return the values which only the user knows, for want of which a change was not made."""
    last = turn.steps[-1] if turn.steps else None
    if last is None or not last.writes or last.skip_reason != "missing" or turn.alike:
        return ()
    given = last.input if isinstance(last.input, dict) else {}
    required = turn.settings.tools[last.tool or ""].parameters.json.get("required", ())
    return tuple(name.replace("_", " ") for name in required if name not in given)


def _unsaid_finding(turn: Turn, text: str) -> Finding | None:
    """Return what the last step found, where a turn without a change tells nothing of it."""
    if turn.alike or _has_changed(turn):
        return None
    found = finding(turn.ask, turn.steps)
    return found if found is not None and not found.is_told(text) else None


def _untold_claim(turn: Turn, text: str, why: str) -> str:
    """Return the comparison by which a change was left undone, where its number is untold."""
    reads = [step for step in turn.steps if step.status == "completed" and not step.writes]
    if turn.want != "change-if" or _has_changed(turn) or not reads:
        return ""
    found = [claim for claim in claims(turn.ask, reads[-1].result or "") if claim.text == why]
    return why if found and found[0].value not in text.replace(",", ".") else ""


def _has_changed(turn: Turn) -> bool:
    return any(step.writes and step.status == "completed" for step in turn.steps)


def _is_question(text: str) -> bool:
    return any(mark in text for mark in "?\uff1f")


def _repeats(text: str, ask: str, *, almost: bool) -> bool:
    """Return whether the answer is nothing but words of the ask, in their order.

    Args:
        text: the answer.
        ask: what was asked.
        almost: other endings of the words make no difference.
    """
    said, asked = (" ".join(re.findall(r"\w+", each.casefold())) for each in (text, ask))
    if len(said) < _LEAST_REPEATED:
        return False
    return said in asked or (almost and _likeness(said, asked) >= _SAME)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _twice(turn: Turn) -> Reason:
    return Reason.EMPTY_ANSWER if turn.output is None else Reason.ANSWER_INVALID


def left_out(text: str, steps: Sequence[StepRecord], *, ask: str) -> tuple[str, ...]:
    """Return what the last change was about in the words of the ask, when none of it is told."""
    last = steps[-1] if steps else None
    if last is None or not last.writes or last.status != "completed":
        return ()
    values = last.input.values() if isinstance(last.input, dict) else ()
    asked = [
        v for v in values if isinstance(v, str) and len(v) > 2 and v.casefold() in ask.casefold()
    ]
    told = any(value.casefold() in text.casefold() for value in asked)
    return () if told else tuple(asked)


def _invalid(problem: str) -> Rejected:
    clipped = clip(problem, INVALID_ARGUMENT_CHARACTERS)
    return Rejected(problem=clipped, hint=render("answer.invalid", problem=clipped))
