"""File tools called as an agent would, without one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from goliath_local.budget import estimate_tokens
from goliath_local.cancel import CancelToken
from goliath_local.filesystem import Filesystem, create_filesystem
from goliath_local.tools import ResultBudget, ToolContext

Call: TypeAlias = Callable[..., Awaitable[Any]]


@pytest.fixture
def context() -> Callable[..., ToolContext]:
    """A tool context with a result budget."""

    def make(max_tokens: int = 512, **fields: Any) -> ToolContext:
        budget = ResultBudget(max_tokens=max_tokens, count_tokens=estimate_tokens)
        known: dict[str, Any] = {
            "conversation_id": None,
            "context": None,
            "cancel": CancelToken(),
            "result_budget": budget,
            "steps": (),
            "recent": (),
        }
        return ToolContext(**(known | fields))

    return make


@pytest.fixture
def call(context: Callable[..., ToolContext]) -> Call:
    """Run a tool of a filesystem: `await call(files, "glob", pattern="/*")`."""

    async def run(files: Filesystem, name: str, *, max_tokens: int = 512, **given: Any) -> Any:
        tool = files.tools[name]
        tool.parameters.read(given)
        return await tool.execute(given, context(max_tokens))

    return run


@pytest.fixture
def files() -> Callable[..., Filesystem]:
    """All six tools over files in memory."""

    def make(seed: dict[str, str], **options: Any) -> Filesystem:
        from goliath_local.filesystem import in_memory_filesystem

        return create_filesystem(
            backend=in_memory_filesystem(seed), **({"read_only": False} | options)
        )

    return make
