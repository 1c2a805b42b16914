"""The first question of a turn, without asking it: for `--dry-run`, prewarming and bills.

Edge. An agent of its own plans with a model that only looks at the question and then stops.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from goliath_local.agent import create_agent
from goliath_local.cli.tracefile import request_json
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.model import CountingModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.cli.session import Parts
    from goliath_local.cli.terminal import Terminal
    from goliath_local.model import Model, Reply, Request
    from goliath_local.tools import Tool


class _Seen(RunCancelled):
    """The question was seen; nobody answers it."""


class _Onlooker:
    """A model that keeps the question and ends the run."""

    def __init__(self) -> None:
        self.request: Request | None = None

    async def generate(self, request: Request) -> Reply:
        self.request = request
        raise _Seen("seen")


async def first_request(
    ask: str, tools: Sequence[Tool], *, window: int, max_steps: int, facts: Any, memory: Any = None
) -> Request:
    """Return the first question that a turn would put to the model."""
    onlooker = _Onlooker()
    agent = create_agent(
        model=onlooker,
        tools=list(tools),
        window=window,
        max_steps=max_steps,
        facts=facts,
        memory=memory,
    )
    with contextlib.suppress(RunCancelled):
        await agent.run(ask)
    if onlooker.request is None:
        raise ConfigError("No question came to be asked. Allow at least one step: --max-steps 1")
    return onlooker.request


def bill(model: Model | None, request: Request) -> dict[str, int]:
    """Return tokens by part: counted by the model, or estimated where it cannot count."""
    if isinstance(model, CountingModel):
        return dict(model.count_request(request).by_part)
    from goliath_local.budget import estimate_tokens

    texts = [("examples", turn.user + turn.assistant) for turn in request.examples]
    texts += [(part.name, part.text) for part in (*request.system, *request.user)]
    totals: dict[str, int] = {}
    for name, text in texts:
        totals[name] = totals.get(name, 0) + estimate_tokens(text)
    return totals


async def show_first_prompt(parts: Parts, ask: str, terminal: Terminal, *, as_json: bool) -> None:
    """Print the first question and what it costs."""
    from goliath_local.cli.session import facts

    request = await first_request(
        ask,
        parts.tools,
        window=parts.ready.window,
        max_steps=parts.settings.max_steps,
        facts=facts,
    )
    costs = bill(parts.ready.model, request)
    if as_json:
        terminal.document({**request_json(request), "tokens": costs})
        return
    terminal.put(prompt_text(request))
    terminal.put()
    for line in bill_lines(costs, window=parts.ready.window):
        terminal.put(line)


def prompt_text(request: Request) -> str:
    """Return the question as a person reads it: system, examples, user."""
    turns = [f"[user]\n{t.user}\n[assistant]\n{t.assistant}" for t in request.examples]
    return "\n".join(["[system]", request.system_text, *turns, "[user]", request.user_text])


def bill_lines(costs: dict[str, int], *, window: int) -> list[str]:
    """Return the bill of a prompt, a line a part."""
    width = max(map(len, (*costs, "total")))
    lines = [f"{name:<{width}}  {tokens:>6,}" for name, tokens in costs.items()]
    total = sum(costs.values())
    return [*lines, f"{'total':<{width}}  {total:>6,} of {window:,}"]
