"""One turn from ask to answer, stage by stage, and the conversations that turns belong to."""

from goliath_local.harness.conversation import (
    SESSION_FALLBACK_AFTER,
    Conversation,
    Conversations,
)
from goliath_local.harness.deadline import deadline
from goliath_local.harness.fitting import scoring_of
from goliath_local.harness.plans import (
    opening_schema,
    plan_schema,
    plan_schema_for,
    planning_schema,
)
from goliath_local.harness.result import RunResult
from goliath_local.harness.settings import (
    Confirm,
    ConfirmRequest,
    Fallback,
    OnEvent,
    RunOptions,
    Settings,
    is_factory,
)
from goliath_local.harness.state import Turn, open_turn
from goliath_local.harness.stream import TurnStream
from goliath_local.harness.turn import run_turn, tell_failure
from goliath_local.harness.window import choose_window

__all__ = [
    "SESSION_FALLBACK_AFTER",
    "Confirm",
    "ConfirmRequest",
    "Conversation",
    "Conversations",
    "Fallback",
    "OnEvent",
    "RunOptions",
    "RunResult",
    "Settings",
    "Turn",
    "TurnStream",
    "choose_window",
    "deadline",
    "is_factory",
    "open_turn",
    "opening_schema",
    "plan_schema",
    "plan_schema_for",
    "planning_schema",
    "run_turn",
    "scoring_of",
    "tell_failure",
]
