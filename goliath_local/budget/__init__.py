"""Counting tokens, limits by stage, fitting a prompt, shortening results: one pure policy."""

from goliath_local.budget.counter import (
    ESTIMATE,
    Counter,
    CountText,
    choose_counter,
    counter_from_function,
    counter_from_model,
)
from goliath_local.budget.cut import clip, clip_tokens, clip_words
from goliath_local.budget.draft import Block, Brief, Draft, Fixed, Log, LogLine, Recent, Section
from goliath_local.budget.estimate import REQUEST_OVERHEAD_TOKENS, estimate_tokens
from goliath_local.budget.excerpts import compact_result, excerpt, omitted_excerpts
from goliath_local.budget.fit import LADDER, BudgetPlan, Trim, plan_budget
from goliath_local.budget.limits import (
    BRIEF_WORDS,
    DEFAULT_MAX_STEPS,
    DEFAULT_WINDOW,
    ERROR_CHARACTERS,
    EXCHANGES_KEPT,
    INVALID_ARGUMENT_CHARACTERS,
    LOG_ARGUMENT_CHARACTERS,
    MISSING_CHARACTERS,
    OLDER_RESULT_CHARACTERS,
    OUTPUT_CAPS,
    POLICY_VERSION,
    RESULT_CHARACTERS,
    Limits,
    ResultBudgets,
    Window,
    conversation_tokens,
    limits,
    result_budgets,
)
from goliath_local.budget.messages import fit_within, transcript_tokens
from goliath_local.budget.plain import plain
from goliath_local.budget.recent import RecentShown, select_recent
from goliath_local.budget.report import Report, Shortened
from goliath_local.budget.summarize import looks_like_error, summarize_tool_result

__all__ = [
    "BRIEF_WORDS",
    "DEFAULT_MAX_STEPS",
    "DEFAULT_WINDOW",
    "ERROR_CHARACTERS",
    "ESTIMATE",
    "EXCHANGES_KEPT",
    "INVALID_ARGUMENT_CHARACTERS",
    "LADDER",
    "LOG_ARGUMENT_CHARACTERS",
    "MISSING_CHARACTERS",
    "OLDER_RESULT_CHARACTERS",
    "OUTPUT_CAPS",
    "POLICY_VERSION",
    "REQUEST_OVERHEAD_TOKENS",
    "RESULT_CHARACTERS",
    "Block",
    "Brief",
    "BudgetPlan",
    "CountText",
    "Counter",
    "Draft",
    "Fixed",
    "Limits",
    "Log",
    "LogLine",
    "Recent",
    "RecentShown",
    "Report",
    "ResultBudgets",
    "Section",
    "Shortened",
    "Trim",
    "Window",
    "choose_counter",
    "clip",
    "clip_tokens",
    "clip_words",
    "compact_result",
    "conversation_tokens",
    "counter_from_function",
    "counter_from_model",
    "estimate_tokens",
    "excerpt",
    "fit_within",
    "limits",
    "looks_like_error",
    "omitted_excerpts",
    "plain",
    "plan_budget",
    "result_budgets",
    "select_recent",
    "summarize_tool_result",
    "transcript_tokens",
]
