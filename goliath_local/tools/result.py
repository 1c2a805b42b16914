"""The model-facing text of a result, and its cap.

Edge, thinly: a tool's own formatter runs here. Source: behaviour spec 3.7.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.budget import RESULT_CHARACTERS, clip, excerpt, summarize_tool_result
from goliath_local.tools.call import run_callable
from goliath_local.tools.values import NotJson, json_copy

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.tools.tool import ResultBudget, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatted:
    """The text of a result, not yet capped."""

    text: str
    error: BaseException | None = None
    """Why the tool's own formatter could not do it; the call itself stands."""


async def format_result(
    tool: Tool, output: Any, *, completed: str, cancel: CancelToken
) -> Formatted:
    """Return the output as text: by the tool's formatter, else literally or summarised.

    Args:
        tool: whose formatter and mode apply.
        output: what the tool returned.
        completed: what to say when the formatter fails.
        cancel: stops the wait for a formatter.

    Raises:
        RunCancelled: the token was cancelled.
    """
    if tool.to_model_output is None:
        content = tool.output_mode == "content"
        return Formatted(text=_literal(output) if content else summarize_tool_result(output))
    result = await run_callable(tool.to_model_output, output, cancel=cancel)
    if result.error is None and isinstance(result.output, str):
        return Formatted(text=result.output)
    wrong = TypeError(f"to_model_output returned {type(result.output).__name__}, not a text.")
    return Formatted(text=completed, error=result.error or wrong)


def cap_result(tool: Tool, text: str, budget: ResultBudget) -> str:
    """Return the text as short as the tool's mode demands; binds formatters and hooks too.

    Raises:
        ConfigError: the budget of a content tool does not even hold the marker.
    """
    if tool.output_mode == "content":
        return excerpt(text, budget.max_tokens, count=budget.count_tokens)
    return clip(text, RESULT_CHARACTERS)


def _literal(output: Any) -> str:
    if isinstance(output, str):
        return output if output.strip() else summarize_tool_result(output)
    try:
        return json.dumps(json_copy(output), ensure_ascii=False, separators=(",", ":"))
    except NotJson:
        return summarize_tool_result(output)
