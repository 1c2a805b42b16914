"""Counting texts, tools and prompts: with a model's tokenizer where one is installed.

Edge: may load the model.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goliath_local.budget import estimate_tokens, limits
from goliath_local.cancel import CancelToken
from goliath_local.cli.probe import bill, first_request
from goliath_local.cli.ready import find_model, load
from goliath_local.cli.session import facts
from goliath_local.errors import NoModel
from goliath_local.model import CountingModel, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goliath_local.cli.settings import Settings
    from goliath_local.cli.terminal import Terminal
    from goliath_local.model import Model
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What was counted."""

    texts: tuple[int, ...]
    parts: dict[str, int]
    """Tokens of a first prompt by part; empty when there are no tools."""

    per_tool: dict[str, int]
    """Tokens of each tool's line and schema."""

    counter: str
    """Who counted, in words."""

    is_exact: bool
    limits: tuple[tuple[str, int, int], ...]
    """Stage, most tokens of its prompt, most of its reply."""


def counted(
    settings: Settings,
    terminal: Terminal,
    *,
    texts: Sequence[str],
    tools: Sequence[Tool],
    estimate: bool,
) -> Count:
    """Return the tokens of the texts and of a first prompt with the tools."""
    return asyncio.run(_counted(settings, terminal, texts, tools, estimate=estimate))


async def _counted(
    settings: Settings,
    terminal: Terminal,
    texts: Sequence[str],
    tools: Sequence[Tool],
    *,
    estimate: bool,
) -> Count:
    model, name, close = await _counter(settings, terminal, estimate=estimate)
    try:
        is_exact = isinstance(model, CountingModel)
        count = model.count_text if isinstance(model, CountingModel) else estimate_tokens
        parts = await _parts(model, tools, settings) if tools else {}
        return Count(
            texts=tuple(count(text) for text in texts),
            parts=parts,
            per_tool={tool.name: _tool_tokens(tool, count) for tool in tools},
            counter=f"the tokenizer of {name}" if is_exact else "an estimate",
            is_exact=is_exact,
            limits=tuple(_limit(stage, settings.window) for stage in Stage),
        )
    finally:
        close()


async def _counter(
    settings: Settings, terminal: Terminal, *, estimate: bool
) -> tuple[Model | None, str, Callable[[], None]]:
    if estimate:
        return None, "", lambda: None
    try:
        found = find_model(settings)
    except NoModel:
        if settings.model != "default":
            raise
        return None, "", lambda: None
    ready = await load(found, settings, terminal, cancel=CancelToken())
    return ready.model, found.name, ready.close


async def _parts(model: Model | None, tools: Sequence[Tool], settings: Settings) -> dict[str, int]:
    request = await first_request(
        "",
        tools,
        model=model,
        window=settings.window,
        max_steps=settings.max_steps,
        facts=facts,
    )
    return bill(model, request)


def _tool_tokens(tool: Tool, count: Callable[[str], int]) -> int:
    from goliath_local.cli.terminal import json_text

    return count(f"{tool.name}: {tool.description}") + count(json_text(dict(tool.parameters.json)))


def _limit(stage: Stage, window: int) -> tuple[str, int, int]:
    found = limits(stage, window)
    return stage.value, found.limit, found.output_cap
