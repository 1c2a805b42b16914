"""The first question of a turn, without asking it: for `--dry-run`, prewarming and bills.

Edge. An agent of its own plans with a model that only looks at the question and then stops.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

from goliath_local.agent import create_agent
from goliath_local.cli.tracefile import request_json
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.model import CountingModel, Reply, Stage
from goliath_local.tools import takes_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goliath_local.cli.session import Parts
    from goliath_local.cli.terminal import Terminal
    from goliath_local.model import Model, Request
    from goliath_local.tools import Tool


_NOTHING: Final[Mapping[Stage, str]] = {}


class _Seen(RunCancelled):
    """The question was seen; nobody answers it."""


class _Onlooker:
    """A model that keeps a question and ends the run.

    Args:
        said: replies to the questions that come before it, by stage.
    """

    def __init__(self, said: Mapping[Stage, str]) -> None:
        self.request: Request | None = None
        self._said = said

    async def generate(self, request: Request) -> Reply:
        if request.stage in self._said:
            return Reply(text=self._said[request.stage])
        self.request = request
        raise _Seen("seen")


class _CountingOnlooker(_Onlooker):
    """The same in the place of a model that counts, which is asked in other words."""

    def __init__(self, said: Mapping[Stage, str], model: CountingModel) -> None:
        super().__init__(said)
        self.capabilities = model.capabilities
        self.count_text = model.count_text
        self.count_request = model.count_request


def _onlooker(said: Mapping[Stage, str], model: Model | None) -> _Onlooker:
    if isinstance(model, CountingModel):
        return _CountingOnlooker(said, model)
    return _Onlooker(said)


async def first_request(
    ask: str,
    tools: Sequence[Tool],
    *,
    model: Model | None,
    window: int,
    max_steps: int,
    facts: Any,
    memory: Any = None,
    said: Mapping[Stage, str] = _NOTHING,
) -> Request:
    """Return the first question that a turn would put to the model.

    Args:
        ask: what the user would say.
        tools: those of the turn.
        model: who would be asked; None: one that is remote.
        window: tokens.
        max_steps: most steps of the turn.
        facts: of the agent.
        memory: of the conversation.
        said: replies by stage; then the first question of another stage is returned.

    Raises:
        ConfigError: no question came to be asked.
    """
    onlooker = _onlooker(said, model)
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


async def opening_requests(tools: Sequence[Tool], **options: Any) -> list[Request]:
    """Return one question of each stage of a turn, a plan first: what they begin with is the same.

    Args:
        tools: those of the turns.
        options: as `first_request` takes them.
    """
    found = [await first_request("", tools, **options)]
    takers = [tool.name for tool in tools if takes_arguments(tool) and not tool.requires]
    plans = [_plan("question", tool=takers[0])] if takers else []
    for plan in [*plans, _plan("talk")] if tools else []:
        with contextlib.suppress(ConfigError):
            said = {Stage.CONDUCTOR: plan}
            found.append(await first_request("?", tools, said=said, **options))
    return found


def _plan(want: str, *, tool: str | None = None) -> str:
    kind = {"kind": "answer"} if tool is None else {"kind": "tool", "tool": tool}
    return json.dumps({"want": want, "brief": "-", **kind})


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
        model=parts.ready.model,
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
