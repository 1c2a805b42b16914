"""What a constraint costs, and what it saves: our engine, constrained against free.

Edge. The same prompt is asked with its schema and without one, free text to the same number of
tokens. What choosing costs is told by each reply: the seconds outside the network.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bench.measures import Measure
from bench.run import skipped
from goliath_local.bench import ratio
from goliath_local.model import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.run import Run
    from goliath_local.engine import LocalModel
    from goliath_local.model import Request, Usage

SECTION = "constraint"
FIELDS = 3
_LEAST_TOKENS = 8


class Kind(NamedTuple):
    """Replies of one kind."""

    name: str
    requests: tuple[Request, ...]


def measure(run: Run) -> Iterator[Measure]:
    """Yield speeds and costs."""
    kinds = [kind for kind in chosen(run) if kind.requests]
    with run.ours() as ours:
        costs: list[float] = []
        free_costs: list[float] = []
        for kind in kinds:
            yield from _kind(ours.model, kind, run.amounts.rounds, costs, free_costs)
    for name, samples in (
        ("constraint, a sampled token: ours", costs),
        ("free text, choosing a token: ours", free_costs),
    ):
        if samples:
            yield Measure(section=SECTION, name=name, unit="ms", samples=tuple(samples))


def chosen(run: Run) -> Iterator[Kind]:
    """Yield plans, and arguments of at least three fields, as many as wanted of each."""
    plans, arguments = [], []
    for turn in run.turns:
        for request, reply in zip(turn.requests, turn.replies, strict=True):
            if request.stage is Stage.CONDUCTOR:
                plans.append(request)
            elif request.stage is Stage.WORKER and field_count(reply) >= FIELDS:
                arguments.append(request)
    count = run.amounts.constraint_requests
    yield Kind("plan replies", tuple(_spread(plans, count)))
    if len(arguments) < count:
        skipped("some arguments", f"only {len(arguments)} recorded replies have {FIELDS} fields")
    yield Kind("arguments of 3 or more fields", tuple(_spread(arguments, count)))


def field_count(text: str) -> int:
    """Return how many fields the JSON object has, 0 for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return 0
    return len(value) if isinstance(value, dict) else 0


def _kind(
    model: LocalModel, kind: Kind, rounds: int, costs: list[float], free_costs: list[float]
) -> Iterator[Measure]:
    ratios, constrained, free, forced = [], [], [], []
    for round_ in range(-1, rounds):  # the first is not counted: grammars are compiled
        with_schema = [_ask(model, request) for request in kind.requests]
        without = [
            _ask(model, replace(request, schema=None, max_tokens=max(usage.completion_tokens, 2)))
            for request, usage in zip(kind.requests, with_schema, strict=True)
        ]
        without = [usage for usage in without if usage.completion_tokens >= _LEAST_TOKENS]
        if round_ < 0 or not without:
            continue
        constrained.append(_speed(with_schema))
        free.append(_speed(without))
        ratios.append(ratio(constrained[-1], free[-1]))
        forced.append(
            ratio(
                sum(usage.forced_tokens for usage in with_schema),
                sum(usage.completion_tokens for usage in with_schema),
            )
        )
        costs.append(_cost_ms(with_schema))
        free_costs.append(_cost_ms(without))
    for name, unit, samples in (
        ("constrained", "tokens_per_s", constrained),
        ("free", "tokens_per_s", free),
        ("constrained over free", "ratio", ratios),
        ("share of forced tokens", "ratio", forced),
    ):
        full = f"{kind.name}: {name}"
        yield Measure(section=SECTION, name=full, unit=unit, samples=tuple(samples))


def _ask(model: LocalModel, request: Request) -> Usage:
    return asyncio.run(model.generate(request)).usage


def _speed(usages: Sequence[Usage]) -> float:
    seconds = sum(usage.decode_s for usage in usages)
    return ratio(sum(usage.completion_tokens for usage in usages), seconds)


def _cost_ms(usages: Sequence[Usage]) -> float:
    sampled = sum(usage.completion_tokens - usage.forced_tokens for usage in usages)
    return ratio(sum(usage.choosing_s for usage in usages) * 1000, sampled)


def _spread(things: Sequence[Request], count: int) -> list[Request]:
    count = min(count, len(things))
    return [things[at * len(things) // count] for at in range(count)] if count else []
