"""Tools: declared, checked, called, and their results as text."""

from goliath_local.tools.arguments import (
    ArgumentSchema,
    argument_schema,
    check_arguments,
    drop_unsaid,
    nothing_missing,
    spelled_out,
    split_missing,
    takes_arguments,
    with_value,
)
from goliath_local.tools.call import (
    CallResult,
    ToolTimeout,
    call_tool,
    describe,
    resolve_input,
    run_callable,
)
from goliath_local.tools.declare import ToolOptions, define_tool, tool
from goliath_local.tools.figures import (
    Checked,
    says_figure,
    without_copied,
    without_unsaid_figures,
)
from goliath_local.tools.grounding import on_the_day, pronouns_in, unsaid_addresses, unsaid_texts
from goliath_local.tools.result import Formatted, cap_result, format_result
from goliath_local.tools.tool import (
    Execute,
    FormatOutput,
    Preview,
    ResultBudget,
    Tool,
    ToolContext,
    tools_by_name,
)
from goliath_local.tools.values import NotJson, canonical_equal, json_copy

__all__ = [
    "ArgumentSchema",
    "CallResult",
    "Checked",
    "Execute",
    "FormatOutput",
    "Formatted",
    "NotJson",
    "Preview",
    "ResultBudget",
    "Tool",
    "ToolContext",
    "ToolOptions",
    "ToolTimeout",
    "argument_schema",
    "call_tool",
    "canonical_equal",
    "cap_result",
    "check_arguments",
    "define_tool",
    "describe",
    "drop_unsaid",
    "format_result",
    "json_copy",
    "nothing_missing",
    "on_the_day",
    "pronouns_in",
    "resolve_input",
    "run_callable",
    "says_figure",
    "spelled_out",
    "split_missing",
    "takes_arguments",
    "tool",
    "tools_by_name",
    "unsaid_addresses",
    "unsaid_texts",
    "with_value",
    "without_copied",
    "without_unsaid_figures",
]
