"""What a failed generation was: which class of failure, and so which reason.

Pure. The exception and its causes are read, typed failures first, then codes and messages; never a
tool's output. Source: behaviour spec 3.8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goliath_local.errors import (
    ContextFull,
    InvalidOutput,
    ModelRefused,
    ModelUnavailable,
    NoModel,
)
from goliath_local.harness.outcome import Escalation, Rejected
from goliath_local.records import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 8
"""Causes that are looked at; more than any library nests."""

_REFUSAL = re.compile(
    # Whole words: "thread-safety" and "type safety" are about programs, not about content.
    r"(?<!\w)guardrails?(?!\w)"
    r"|(?<!\w)content[ -]filter(?:s|ed|ing)?(?!\w)"
    r"|(?<![\w-])(?<!thread )(?<!type )(?<!memory )safety(?![\w-])"
    r"|(?<!\w)likely[ -]unsafe(?!\w)|(?<!\w)unsafe (?:content|output|prompt|request)(?!\w)"
)
_OVERFLOW_CODES = {"context window exceeded"}
_UNAVAILABLE_CODES = {"model unavailable", "unsupported os"}


def read_failure(error: BaseException) -> Escalation | Rejected:
    """Return what follows from an exception that a generation raised.

    A refusal wins over everything else, also as the cause of another error.
    """
    chain = tuple(_causes(error))
    if any(_is_refusal(one) for one in chain):
        return Escalation(reason=Reason.GUARDRAIL, error=describe(error))
    for one in chain:
        reason = _typed_reason(one)
        if reason is not None:
            return Escalation(reason=reason, error=describe(error))
    if any(isinstance(one, InvalidOutput) for one in chain):
        return Rejected(problem=str(error))
    return model_error(error)


def model_error(error: BaseException) -> Escalation:
    """Return what follows from a failure that is nothing more special."""
    return Escalation(reason=Reason.MODEL_ERROR, error=describe(error))


def describe(error: BaseException) -> str:
    """Return the error as `Type: message`."""
    return f"{type(error).__name__}: {error}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    # The depth also ends a chain that bites its own tail.
    current: BaseException | None = error
    for _ in range(_DEPTH):
        if current is None:
            return
        yield current
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)


def _is_refusal(error: BaseException) -> bool:
    if isinstance(error, ModelRefused):
        return True
    return any(_REFUSAL.search(_plain(text)) for text in (_code(error), str(error)))


def _typed_reason(error: BaseException) -> Reason | None:
    if isinstance(error, ContextFull) or _plain(_code(error)) in _OVERFLOW_CODES:
        return Reason.CONTEXT_BUDGET
    if isinstance(error, NoModel):
        return Reason.NO_MODEL
    if isinstance(error, ModelUnavailable) or _plain(_code(error)) in _UNAVAILABLE_CODES:
        return Reason.MODEL_UNAVAILABLE
    return None


def _code(error: BaseException) -> str:
    code = getattr(error, "code", "")
    return code if isinstance(code, str) else ""


def _plain(text: str) -> str:
    return text.lower().replace("_", " ")
