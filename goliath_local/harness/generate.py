"""The one gate to the model: every generation of a turn passes here.

Edge. Fits the draft, reports the budget, asks the model, and turns what goes wrong into a value;
only cancellation, a scripted model's complaint and, with extensions, an over-long prompt are
raised.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from goliath_local.budget import choose_counter, estimate_tokens, plan_budget
from goliath_local.errors import BudgetError, ContextFull, RunCancelled, ScriptError
from goliath_local.events import BudgetEvent, ModelEvent, RetryEvent
from goliath_local.extensions import settle
from goliath_local.harness.failures import read_failure
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.harness.settings import is_factory
from goliath_local.model import ScoringModel, Stage, Usage
from goliath_local.records import Reason, to_json

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from goliath_local.budget import BudgetPlan, Draft
    from goliath_local.harness.state import Turn
    from goliath_local.model import Model, Reply, Scoring

T = TypeVar("T")
OnText = Callable[[str], None]


async def ask_model(
    turn: Turn, draft: Draft, *, on_text: OnText | None = None
) -> Reply | Rejected | Escalation:
    """Return the model's reply to the draft, or what became of the question.

    Raises:
        BudgetError: the prompt is over its limit and extensions are registered.
        RunCancelled: the run was told to stop.
    """
    turn.cancel.raise_if_cancelled()
    found = await _prepared(turn, draft)
    if isinstance(found, Escalation | Rejected):
        return found
    model, plan = found
    await turn.emit(_budget_event(plan))
    if not plan.report.fits:
        return _over_limit(turn, plan)
    request = replace(
        plan.request,
        temperature=turn.settings.temperature,
        seed=turn.seed,
        cancel=turn.cancel,
        on_text=on_text,
    )

    async def generate() -> Reply:
        return await settle(model.generate(request), turn.cancel)

    reply = await _guarded(turn, generate)
    if not isinstance(reply, Escalation | Rejected):
        turn.usage = _sum(turn.usage, reply.usage)
        if draft.stage is Stage.ANSWER:
            turn.finish = reply.finish
        event = ModelEvent(
            stage=draft.stage.value, usage=reply.usage, finish=reply.finish, choices=reply.choices
        )
        await turn.emit(event)
    return reply


async def score(turn: Turn, scoring: Scoring) -> tuple[float, ...] | None:
    """Return what a model says of a text's probability; None where it cannot say, or fails.

    Raises:
        RunCancelled: the run was told to stop.
    """
    model: object = turn.settings.lasting_model
    if not isinstance(model, ScoringModel):
        return None
    asked = replace(scoring, cancel=turn.cancel)

    async def ask() -> tuple[float, ...]:
        said: tuple[float, ...] = await settle(model.score(asked), turn.cancel)
        found = tuple(map(float, said))
        is_sound = len(found) == len(scoring.openings) and all(map(isfinite, found))
        return found if is_sound else ()

    found = await _guarded(turn, ask)
    return None if isinstance(found, Escalation | Rejected) else found or None


async def with_one_retry(
    turn: Turn,
    stage: Stage,
    attempt: Callable[[int, str], Awaitable[T | Rejected | Escalation]],
    *,
    twice: Reason,
) -> T | Escalation:
    """Return what the attempt gives; a rejected reply is asked for once more, with its hint.

    Args:
        turn: the turn.
        stage: who asks.
        attempt: takes its number, 0 or 1, and the hint, empty at first.
        twice: the reason of the escalation when the second reply is rejected too.
    """
    first = await attempt(0, "")
    if not isinstance(first, Rejected):
        return first
    turn.cancel.raise_if_cancelled()
    await turn.emit(RetryEvent(stage=stage.value, attempt=1, reason=first.problem))
    second = await attempt(1, first.hint)
    if isinstance(second, Rejected):
        return Escalation(reason=twice, error=second.problem)
    return second


async def _prepared(turn: Turn, draft: Draft) -> tuple[Model, BudgetPlan] | Escalation | Rejected:
    async def prepare() -> tuple[Model, BudgetPlan] | Escalation:
        model = await _open(turn)
        if model is None:
            error = "There is no model. Give create_agent one, or a factory that returns one."
            return Escalation(reason=Reason.NO_MODEL, error=error)
        return model, await _fitted(turn, draft, model)

    return await _guarded(turn, prepare)


async def _open(turn: Turn) -> Model | None:
    source: Any = turn.settings.model
    if is_factory(source):
        source = await settle(source())
    found: Model | None = source
    return found


async def _fitted(turn: Turn, draft: Draft, model: Model) -> BudgetPlan:
    count = turn.settings.count_tokens
    if count is not None and is_async(count):
        count = _blocking(count)
    turn.counter = choose_counter(model, count)
    fit = partial(
        plan_budget,
        draft,
        window=turn.window,
        counter=turn.counter,
        retrieved_tokens=turn.budgets.retrieved_context_tokens,
    )
    return await counted(turn, fit)


async def counted(turn: Turn, size: Callable[[], T]) -> T:
    """Return what a sizing function returns; with an async counter it runs beside the loop."""
    count = turn.settings.count_tokens
    if count is not None and is_async(count):
        return await asyncio.to_thread(size)
    return size()


def loop_safe_count(turn: Turn) -> Callable[[str], int]:
    """Return the counter for code that runs in the loop: an async one would wait for itself."""
    count = turn.settings.count_tokens
    return estimate_tokens if count is not None and is_async(count) else turn.counter.text


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling the function gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - asks how it is called, not whether
    )


def _blocking(count: Callable[[str], Any]) -> Callable[[str], int]:
    loop = asyncio.get_running_loop()
    return lambda text: asyncio.run_coroutine_threadsafe(count(text), loop).result()


async def _guarded(turn: Turn, call: Callable[[], Awaitable[T]]) -> T | Escalation | Rejected:
    with turn.blame("model"):
        try:
            return await call()
        except (RunCancelled, asyncio.CancelledError, ScriptError):
            raise
        except Exception as error:  # noqa: BLE001 - any failure of a model is a value here
            turn.cancel.raise_if_cancelled()
            return read_failure(error)


def _over_limit(turn: Turn, plan: BudgetPlan) -> Escalation:
    report = plan.report
    if not turn.chain.is_empty:
        with turn.blame("budget"):
            raise BudgetError(report.stage.value, report.tokens, report.limit)
    full = ContextFull(
        needed_tokens=report.tokens,
        limit_tokens=report.limit,
        window_tokens=report.window,
        by_part=dict(report.by_part),
    )
    return Escalation(reason=Reason.CONTEXT_BUDGET, error=str(full))


def _budget_event(plan: BudgetPlan) -> BudgetEvent:
    report = plan.report
    return BudgetEvent(
        label=report.stage.value,
        tokens=report.tokens,
        limit=report.limit,
        source=report.source,
        window=report.window,
        output_cap=report.output_cap,
        trimmed=report.trimmed,
        report=to_json(report),
    )


def _sum(total: Usage, more: Usage) -> Usage:
    summed = {f.name: getattr(total, f.name) + getattr(more, f.name) for f in fields(Usage)}
    summed["first_token_s"] = total.first_token_s or more.first_token_s
    return Usage(**summed)
