"""Whether a call may run: what the application, or the default, says.

Edge: the application's handler runs here. Only a clear yes is a yes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.events import ConfirmEvent
from goliath_local.extensions import settle
from goliath_local.harness.settings import ConfirmRequest

if TYPE_CHECKING:
    from goliath_local.harness.state import Turn
    from goliath_local.records import Json, Plan
    from goliath_local.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A decision about one call."""

    approved: bool
    reason: str | None = None


async def may_run(turn: Turn, tool: Tool, plan: Plan, arguments: Json) -> Answered:
    """Return the decision about this call, and report it.

    Args:
        turn: the turn.
        tool: what would run.
        plan: what it was planned for.
        arguments: a copy of the final arguments; the handler may change it freely.
    """
    handler = turn.options.confirm or turn.settings.confirm
    if handler is None:
        # Without anybody to ask, ordinary writes run; a tool that insists on a yes does not.
        answered = Answered(approved=not tool.requires_confirmation)
    else:
        request = ConfirmRequest(
            tool=tool.name,
            input=arguments,
            brief=plan.brief,
            why=plan.why,
            conversation_id=turn.options.conversation_id,
        )
        with turn.blame("confirm"):
            answered = _read(await settle(handler(request), turn.cancel))
    event = ConfirmEvent(tool=tool.name, approved=answered.approved, reason=answered.reason)
    await turn.emit(event)
    return answered


def needs_yes(tool: Tool) -> bool:
    """Return whether the tool asks before it runs: it writes, or insists."""
    return tool.writes or tool.requires_confirmation


def _read(said: Any) -> Answered:
    if isinstance(said, Mapping):
        reason = said.get("reason")
        text = reason if isinstance(reason, str) and reason.strip() else None
        return Answered(approved=said.get("approved") is True, reason=text)
    return Answered(approved=said is True)
