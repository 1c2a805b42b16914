"""What follows when a turn leaves the normal path: by reason, and by whether there is a fallback.

Edge: the application's fallback is called here, at most once a turn.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goliath_local.errors import FallbackError
from goliath_local.events import EscalateEvent
from goliath_local.extensions import BeforeFallback, Decided, copied, patch_request, settle
from goliath_local.harness import answer
from goliath_local.harness.outcome import Escalation, Final
from goliath_local.records import FallbackRequest, Reason

if TYPE_CHECKING:
    from goliath_local.cancel import CancelToken
    from goliath_local.harness.state import Turn

DEVICE_FAILED = frozenset(
    {Reason.MODEL_ERROR, Reason.MODEL_UNAVAILABLE, Reason.CONTEXT_BUDGET, Reason.NO_MODEL}
)
"""The model could not do its part: it is not asked for a best effort, nor as a scribe."""

SILENT = DEVICE_FAILED | {Reason.ANSWER_INVALID}
"""Without a fallback these end in an empty text; every other reason in a best effort."""


async def escalate(turn: Turn, escalation: Escalation) -> Final | Decided:
    """Return the text the turn ends with, from the fallback or from what is left."""
    await turn.emit(EscalateEvent(reason=escalation.reason, error=escalation.error))
    if escalation.reason is Reason.GUARDRAIL:
        return _nothing()
    if turn.settings.fallback is not None:
        return await _hand_over(turn, escalation)
    if escalation.reason in SILENT:
        return _nothing()
    return await _best_effort(turn)


async def _hand_over(turn: Turn, escalation: Escalation) -> Final | Decided:
    request = FallbackRequest(
        ask=turn.ask,
        reason=escalation.reason,
        summary=turn.view.summary,
        recent=turn.view.recent,
        steps=tuple(turn.steps),
        error=escalation.error,
    )
    found = await turn.fold(
        "before_fallback",
        copied(request),
        show=lambda run, shown: BeforeFallback(run=run, request=shown),
        patch=patch_request,
    )
    if isinstance(found, Decided):
        return found
    turn.cancel.raise_if_cancelled()
    turn.handled_by = "cloud"
    turn.finish = "stop"
    with turn.blame("fallback"):
        text = await _call(turn, found)
    fold = escalation.reason not in DEVICE_FAILED
    return Final(text=text, fold=fold)


async def _call(turn: Turn, request: FallbackRequest) -> str:
    asked = _invoked(turn.settings.fallback, request, turn.cancel)
    said: Any = await settle(asked, turn.cancel)
    text = said.get("text") if isinstance(said, Mapping) else getattr(said, "text", said)
    if not isinstance(text, str):
        message = (
            f"The fallback returned {type(said).__name__}; "
            'return a text, or a mapping with a string "text".'
        )
        raise FallbackError(message)
    return text


def _invoked(fallback: Any, request: FallbackRequest, cancel: CancelToken) -> Any:
    """Call the fallback with the token when it takes one: as `cancel`, or as a second argument."""
    try:
        takes = inspect.signature(fallback)
    except (TypeError, ValueError):
        return fallback(request)
    if _binds(takes, request, cancel=cancel):
        return fallback(request, cancel=cancel)
    if _binds(takes, request, cancel):
        return fallback(request, cancel)
    return fallback(request)


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


async def _best_effort(turn: Turn) -> Final:
    found = await answer.best_effort(turn)
    if isinstance(found, Final):
        return found
    if found.reason in {Reason.GUARDRAIL, Reason.ANSWER_INVALID}:
        await turn.emit(EscalateEvent(reason=found.reason, error=found.error))
    return Final(text="", best_effort=True)


def _nothing() -> Final:
    return Final(text="")
