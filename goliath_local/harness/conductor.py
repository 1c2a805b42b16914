"""The planning stage: from the ask and the log to one plan.

`request` and `read` are pure; `plan` drives them, with the hooks around and the one retry.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, cast

from goliath_local.budget import Draft, clip, estimate_tokens
from goliath_local.events import PlanEvent
from goliath_local.extensions import (
    AfterPlan,
    BeforePlan,
    Decided,
    Scope,
    patch_plan,
    patch_scope,
)
from goliath_local.harness import guided, judge, parts
from goliath_local.harness.fitting import MOST_LACKING, fits, fitted_choice, lacking, rival_fits
from goliath_local.harness.foregone import offer_now, plan_without_asking, tools_in
from goliath_local.harness.generate import ask_model, with_one_retry
from goliath_local.harness.offer import first_needed
from goliath_local.harness.outcome import Escalation, Planned, Rejected
from goliath_local.harness.plans import (
    BRIEF_CHARACTERS,
    opening_schema,
    planning_schema,
    read_plan,
    read_want,
)
from goliath_local.harness.sureness import fitted_score, turn_confidence
from goliath_local.harness.wanted import (
    names_what_it_changes,
    nearly_named,
    tool_by_name,
    want_instead,
    weighed_want,
)
from goliath_local.model import Stage
from goliath_local.prompts import (
    MenuItem,
    built_in_turns,
    changes_made,
    has_second_choice,
    is_conditional,
    needs_no_tool,
    render,
    tool_menu,
    wants_to_be_told,
)
from goliath_local.records import Plan, Reason

if TYPE_CHECKING:
    from goliath_local.harness.outcome import Ending
    from goliath_local.harness.state import Turn
    from goliath_local.model import Choice, ExampleTurn, JsonSchema, Reply
    from goliath_local.records import Want
    from goliath_local.tools import Tool

EXAMPLE_SHARE = 4
"""One part in so many of the window may go to the package's own worked examples."""


async def plan(turn: Turn) -> Planned | Ending:
    """Return the accepted plan of the next step, or what ends the turn instead."""

    async def attempt(number: int, hint: str) -> Planned | Decided | Rejected | Escalation:
        return await _attempt(turn, number, hint)

    accepted: Planned | Decided | Escalation = await with_one_retry(
        turn, Stage.CONDUCTOR, attempt, twice=Reason.PLAN_INVALID
    )
    if not isinstance(accepted, Planned):
        return accepted
    event = PlanEvent(
        index=len(turn.steps),
        kind=accepted.plan.kind,
        brief=accepted.plan.brief,
        tool=accepted.plan.tool,
        why=accepted.plan.why,
        confidence=accepted.confidence,
        choices=accepted.choices,
        fit=_fit_of(turn, accepted),
    )
    await turn.emit(event)
    turn.want = accepted.want or turn.want
    return _unsure(turn, accepted) or accepted


def _fit_of(turn: Turn, accepted: Planned) -> float | None:
    """Return the fit of the tool that the model's own first plan names, if it was weighed."""
    if turn.steps or not accepted.choices:
        return None
    return turn.fit.get(accepted.plan.tool or "")


def _unsure(turn: Turn, accepted: Planned) -> Escalation | None:
    least = turn.settings.min_confidence
    if fitted_score(turn) is None:
        return judge.low_confidence(accepted.confidence, least)
    # A fitted score speaks of whole turns: it is asked when the turn is about to be answered.
    is_closing = accepted.plan.kind == "answer"
    return judge.likely_wrong(turn_confidence(turn) if is_closing else None, least)


def request(turn: Turn, scope: Scope, *, hint: str = "", want: Want | None = None) -> Draft:
    """Return what the conductor is asked: which parts, which schema.

    Args:
        turn: as it stands.
        scope: the tools of this attempt.
        hint: why the last attempt was refused.
        want: what the reply has to say is wanted, in the first plan of a constrained model.
    """
    if parts.is_constrained(turn):
        return guided.plan_draft(
            turn,
            menu=_menu(turn, scope),
            context=scope.context_text,
            counter=_counter(turn),
            own=turn.settings.examples,
            schema=_guided_schema(turn, scope, want=want),
            hint=hint,
        )
    return Draft(
        stage=Stage.CONDUCTOR,
        system=parts.system(
            ("instructions", turn.instructions),
            ("task", render("conductor.task", max_steps=turn.settings.max_steps)),
            ("tools", _menu(turn, scope)),
            ("facts", parts.facts(turn)),
            ("context", scope.context_text),
        ),
        examples=_examples(turn),
        user=(
            *parts.conversation(turn),
            parts.log(turn, turn.steps),
            *parts.optional("changes", changes_made(turn.steps)),
            parts.fixed("counter", _counter(turn) + "\n\n"),
            *parts.closing(turn, request=render("conductor.choose"), hint=hint),
        ),
        schema=planning_schema(scope.tools),
    )


async def _attempt(
    turn: Turn, attempt: int, hint: str
) -> Planned | Rejected | Escalation | Decided:
    scope = await _scope(turn, attempt)
    if isinstance(scope, Decided):
        return scope
    found = await _think(turn, scope, hint)
    if not isinstance(found, Planned):
        return found
    return await _after_plan(turn, found, scope, attempt)


async def _scope(turn: Turn, attempt: int) -> Scope | Decided:
    return await turn.fold(
        "before_plan",
        Scope(tools=tuple(turn.settings.tools)),
        show=lambda run, scope: BeforePlan(
            run=run,
            ask=turn.ask,
            tools=turn.tool_infos(scope.tools),
            context_text=scope.context_text,
            steps=turn.shown_steps(),
            attempt=attempt,
        ),
        patch=patch_scope,
    )


async def _think(turn: Turn, scope: Scope, hint: str) -> Planned | Rejected | Escalation:
    plan = plan_without_asking(turn, scope)
    if plan is not None:
        return Planned(plan=plan)
    reply = await _ask(turn, scope, hint)
    if isinstance(reply, Escalation):
        return reply
    names = ", ".join(scope.tools)
    if isinstance(reply, Rejected):
        return Rejected(problem=reply.problem, hint=render("conductor.invalid", names=names))
    found = read_plan(reply.text, scope.tools)
    if isinstance(found, Rejected):
        return found
    found, choices = _amended(turn, reply.choices, found)
    return Planned(
        plan=_with_what_it_needs(turn, scope, found),
        confidence=judge.confidence(choices),
        choices=choices,
        want=None if turn.steps else read_want(reply.text),
    )


def _amended(
    turn: Turn, choices: tuple[Choice, ...], plan: Plan
) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan with the tool that its order names, or that the ask fits, and the choices.

    In the first plan, note which tool was nearly named.
    """
    if plan.tool is None or not parts.is_constrained(turn):
        return plan, choices
    tool, brief = tool_by_name(choices, plan.brief) or plan.tool, plan.brief
    if turn.steps:
        return replace(plan, tool=tool), choices
    fitted = fitted_choice(choices, rival_fits(turn, plan, choices)) if tool == plan.tool else None
    if fitted is not None and fitted.value != tool:
        # An order for another tool would mislead the worker; the ask itself does not.
        tool, brief = fitted.value, clip(turn.ask, BRIEF_CHARACTERS)
    if fitted is not None:
        choices = tuple(fitted if choice.path == fitted.path else choice for choice in choices)
    turn.nearly = nearly_named(choices, tool)
    return replace(plan, tool=tool, brief=brief), choices


async def _ask(turn: Turn, scope: Scope, hint: str) -> Reply | Rejected | Escalation:
    """Return the model's reply; asked again where what it says to be wanted is unlikely."""
    reply = await ask_model(turn, request(turn, scope, hint=hint))
    if isinstance(reply, Escalation | Rejected) or turn.steps:
        return reply
    if not parts.is_constrained(turn):
        return reply
    want = _plain_want(turn, scope, reply) or await _weighed_want(turn, scope, reply)
    if want is None:
        return reply
    held = await ask_model(turn, request(turn, scope, hint=hint, want=cast("Want", want.value)))
    if isinstance(held, Escalation | Rejected):
        return held
    return replace(held, choices=(want, *held.choices))


async def _weighed_want(turn: Turn, scope: Scope, reply: Reply) -> Choice | None:
    """Return what is likelier wanted after all, also by how well the ask fits the tools."""
    tools = tools_in(turn, scope)
    planned = read_plan(reply.text, scope.tools)
    is_known = bool(guided.known(turn))
    names_a_change = names_what_it_changes(turn.ask, tools.values())
    is_order = is_conditional(turn.ask) and not _is_to_be_answered(turn.ask)

    def weighed(nats: float) -> Choice | None:
        return weighed_want(
            reply.choices,
            is_known=is_known,
            names_a_change=names_a_change,
            is_order=is_order,
            lacking=nats,
        )

    settled = weighed(0.0)
    if settled is not None or isinstance(planned, Rejected):
        return settled
    # What was said before, or is told by a hook, the fit does not see; a tool left out may fit.
    is_whole = len(tools) == len(turn.settings.tools) and not scope.context_text
    may_lack = is_whole and not turn.view.recent
    is_open = may_lack and weighed(MOST_LACKING) is not None
    turn.fit = await fits(turn, tools, planned, reply.choices, is_open=is_open)
    return weighed(lacking(turn.fit, tools, planned=planned.tool)) if is_open else None


def _is_to_be_answered(ask: str) -> bool:
    return ask.rstrip().endswith(("?", "\uff1f")) or wants_to_be_told(ask)


def _plain_want(turn: Turn, scope: Scope, reply: Reply) -> Choice | None:
    """Return what is plainly wanted instead: talk, where the ask alone is enough."""
    told = (f"{tool.name} {tool.description}" for tool in tools_in(turn, scope).values())
    plan = read_plan(reply.text, scope.tools)
    if isinstance(plan, Rejected) or plan.kind != "tool":
        return None
    is_enough = needs_no_tool(plan.brief, turn.ask, tools="\n".join(told))
    return want_instead(reply.choices, "talk") if is_enough else None


def _with_what_it_needs(turn: Turn, scope: Scope, plan: Plan) -> Plan:
    """Return the plan with what its tool needs first in the tool's place; it becomes the goal."""
    if plan.tool is None or not parts.is_constrained(turn):
        return plan
    needed = first_needed(plan.tool, tools_in(turn, scope), turn.steps)
    if needed == plan.tool:
        return plan
    turn.goal = plan
    return replace(plan, tool=needed)


async def _after_plan(turn: Turn, found: Planned, scope: Scope, attempt: int) -> Planned | Decided:
    plan = await turn.fold(
        "after_plan",
        found.plan,
        show=lambda run, plan: AfterPlan(
            run=run,
            plan=plan,
            tools=turn.tool_infos(scope.tools),
            steps=turn.shown_steps(),
            attempt=attempt,
            confidence=found.confidence,
            choices=found.choices,
        ),
        patch=patch_plan(scope.tools),
    )
    if isinstance(plan, Decided):
        return plan
    if plan is found.plan:
        return found
    # Another plan than the model's: the model's evidence says nothing about it.
    return Planned(plan=plan)


def _menu(turn: Turn, scope: Scope) -> str:
    tools = [turn.settings.tools[name] for name in scope.tools]
    return tool_menu(
        [
            MenuItem(
                name=tool.name,
                description=tool.description,
                writes=tool.writes,
                requires=() if parts.is_constrained(turn) else tool.requires,
                parameters=_parameters(turn, tool),
            )
            for tool in tools
        ]
    )


def _parameters(turn: Turn, tool: Tool) -> tuple[str, ...]:
    return tuple(tool.parameters.properties) if parts.is_constrained(turn) else ()


def _examples(turn: Turn) -> tuple[ExampleTurn, ...]:
    own = turn.settings.examples
    if not turn.settings.built_in_examples:
        return own
    return (*_built_in(turn.window.tokens, turn.settings.max_steps), *own)


@cache
def _built_in(window_tokens: int, max_steps: int) -> tuple[ExampleTurn, ...]:
    # The estimate decides also for models that count, so that every model of one window is shown
    # the same examples.
    return built_in_turns(
        max_steps=max_steps,
        most_tokens=window_tokens // EXAMPLE_SHARE,
        count=estimate_tokens,
    )


def _counter(turn: Turn) -> str:
    used, most = len(turn.steps), turn.settings.max_steps
    text = render("conductor.counter", number=used + 1, max_steps=most)
    if judge.should_finish(used, most):
        text = f"{text} {render('conductor.finish')}"
    return text


def _guided_schema(turn: Turn, scope: Scope, *, want: Want | None) -> JsonSchema:
    tools = turn.settings.tools
    offered = offer_now(turn, scope)
    if turn.steps or not offered.tools:
        return planning_schema(
            offered.tools, closing=offered.closing, claims=guided.claims_now(turn)
        )
    named = tools_in(turn, scope)
    reads = tuple(
        name
        for name in offered.tools
        if not (tools[name].writes or tools[first_needed(name, named, turn.steps)].writes)
    )
    # What is to be done instead if it cannot be done: only trying it tells.
    only: Want | None = want or ("change" if has_second_choice(turn.ask) else None)
    return opening_schema(offered.tools, reads, look_first=is_conditional(turn.ask), only=only)
