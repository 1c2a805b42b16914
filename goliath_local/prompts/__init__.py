"""Every sentence the model is given, and the form of the step log."""

from goliath_local.prompts.claims import Claim, claims
from goliath_local.prompts.compare import comparisons, entry_count, fields_of, is_mark, name_of
from goliath_local.prompts.conditions import (
    asks_whether,
    condition_of,
    first_choice,
    has_second_choice,
    is_conditional,
    opens_with_condition,
    second_choice,
    wants_to_be_told,
)
from goliath_local.prompts.days import one_day, today_in
from goliath_local.prompts.examples import (
    Example,
    built_in_turns,
    example_turns,
    read_example,
)
from goliath_local.prompts.findings import Finding, entry_meant, finding, untold
from goliath_local.prompts.guided import (
    answer_turns,
    argument_turns,
    done_just_now,
    draft_lines,
    example_dates,
    plan_turns,
    seen_by_code,
)
from goliath_local.prompts.known import (
    known_already,
    shared_words,
    shares_a_word,
    stems_of,
    words_of,
)
from goliath_local.prompts.language import answer_language, is_english, is_english_instead
from goliath_local.prompts.log import action_block, changes_made, exchange_parts, log_line
from goliath_local.prompts.menu import MenuItem, fact_lines, schema_lines, tool_menu
from goliath_local.prompts.reckoning import needs_no_tool
from goliath_local.prompts.render import render
from goliath_local.prompts.spoken import spoken

__all__ = [
    "Claim",
    "Example",
    "Finding",
    "MenuItem",
    "action_block",
    "answer_language",
    "answer_turns",
    "argument_turns",
    "asks_whether",
    "built_in_turns",
    "changes_made",
    "claims",
    "comparisons",
    "condition_of",
    "done_just_now",
    "draft_lines",
    "entry_count",
    "entry_meant",
    "example_dates",
    "example_turns",
    "exchange_parts",
    "fact_lines",
    "fields_of",
    "finding",
    "first_choice",
    "has_second_choice",
    "is_conditional",
    "is_english",
    "is_english_instead",
    "is_mark",
    "known_already",
    "log_line",
    "name_of",
    "needs_no_tool",
    "one_day",
    "opens_with_condition",
    "plan_turns",
    "read_example",
    "render",
    "schema_lines",
    "second_choice",
    "seen_by_code",
    "shared_words",
    "shares_a_word",
    "spoken",
    "stems_of",
    "today_in",
    "tool_menu",
    "untold",
    "wants_to_be_told",
    "words_of",
]
