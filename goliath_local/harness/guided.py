"""What a model is asked whose replies are decoded here, token by token, under the schema.

Pure. Such a model is small and can be trusted with the form, so its prompts go further than the
others': worked examples for every stage, as turns of the chat. Whatever differs from turn to turn
comes after them, so that they are evaluated once: facts in every prompt, for a date changes daily,
and in the worker's and the answer's also the tool (docs/decisions/0018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goliath_local.budget import Draft, estimate_tokens
from goliath_local.harness import parts
from goliath_local.model import Stage
from goliath_local.prompts import (
    answer_turns,
    argument_turns,
    claims,
    done_just_now,
    draft_lines,
    known_already,
    plan_turns,
    render,
    schema_lines,
    seen_by_code,
    spoken,
    today_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.harness.state import Turn
    from goliath_local.model import ExampleTurn, JsonSchema
    from goliath_local.prompts import Claim
    from goliath_local.records import Plan, StepRecord
    from goliath_local.tools import Tool

EXAMPLE_SHARE = 2
"""One part in so many of the window may go to the package's own worked plans."""

CHANGES_NAMED = 4
"""So many of the last changes are named again behind the log; all would be read anew each step."""


def plan_draft(
    turn: Turn,
    *,
    menu: str,
    context: str,
    counter: str,
    own: Sequence[ExampleTurn],
    schema: JsonSchema,
    hint: str,
) -> Draft:
    """Return the question for the next plan; `own` are the application's examples."""
    most = turn.window.tokens // EXAMPLE_SHARE
    examples = plan_turns(turn.settings.max_steps, most_tokens=most, count=estimate_tokens)
    built_in = examples if turn.settings.built_in_examples else ()
    return Draft(
        stage=Stage.CONDUCTOR,
        system=parts.system(
            ("instructions", turn.instructions),
            ("task", render("guided.plan", max_steps=turn.settings.max_steps)),
            ("tools", menu),
        ),
        examples=(*built_in, *own),
        user=(
            *parts.optional("facts", parts.facts(turn)),
            *parts.optional("context", context),
            *parts.conversation(turn),
            parts.log(turn, turn.steps),
            *parts.optional("seen", _seen(turn)),
            *parts.optional("changes", done_just_now(turn.steps, latest=CHANGES_NAMED)),
            *parts.optional("known", known(turn)),
            *parts.optional("spoken", "" if turn.steps else spoken(turn.ask)),
            parts.fixed("counter", counter + "\n\n"),
            *parts.closing(turn, request=render("conductor.choose"), hint=hint),
        ),
        schema=schema,
    )


def argument_draft(
    turn: Turn,
    tool: Tool,
    plan: Plan,
    *,
    steps: Sequence[StepRecord],
    schema: JsonSchema,
    hint: str,
) -> Draft:
    """Return the question for the arguments of one call."""
    lines = schema_lines(tool.parameters.json)
    return Draft(
        stage=Stage.WORKER,
        system=parts.system(
            ("instructions", turn.instructions), ("task", render("guided.arguments"))
        ),
        examples=argument_turns() if turn.settings.built_in_examples else (),
        user=(
            *parts.optional("facts", parts.facts(turn)),
            parts.fixed("schema", render("worker.schema", lines=lines, tool=tool.name) + "\n\n"),
            *parts.conversation(turn),
            parts.log(turn, steps),
            *parts.optional("spoken", spoken(turn.ask)),
            parts.fixed("order", render("guided.order", brief=plan.brief) + "\n"),
            *parts.closing(turn, hint=hint),
        ),
        schema=schema,
    )


def answer_draft(turn: Turn, *, point: str, why: str, hint: str) -> Draft:
    """Return the question for the answer in prose."""
    lines = draft_lines(point, why, done=turn.steps, want=turn.want) if point else ""
    draft = (parts.fixed("point", f"{lines}\n"),) if lines else ()
    return Draft(
        stage=Stage.ANSWER,
        system=parts.system(
            ("instructions", turn.instructions), ("task", render("guided.answer"))
        ),
        examples=answer_turns() if turn.settings.built_in_examples else (),
        user=(
            *parts.optional("facts", parts.facts(turn, with_days=False)),
            *parts.conversation(turn),
            parts.log(turn, turn.steps),
            *parts.optional("seen", _seen(turn)),
            *draft,
            *parts.closing(turn, hint=hint),
        ),
    )


def _seen(turn: Turn) -> str:
    return seen_by_code(turn.ask, turn.steps, is_conditional=turn.want == "change-if")


def known(turn: Turn) -> str:
    """Return what was said before and bears on the ask, for the first plan."""
    return "" if turn.steps else known_already(turn.ask, turn.facts, turn.view.recent)


def claims_now(turn: Turn) -> tuple[Claim, ...]:
    """Return what the reason for a conditional change may be, where plain code can compare.

    None once a change was tried: what was declined or failed is not to be tried again.
    """
    reads = [step for step in turn.steps if step.status == "completed" and not step.writes]
    was_tried = any(step.writes for step in turn.steps)
    if turn.want != "change-if" or was_tried or not reads:
        return ()
    return claims(turn.ask, reads[-1].result or "", today=today_in(turn.facts))
