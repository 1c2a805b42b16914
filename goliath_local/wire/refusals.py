"""What a server's refusal means: which of the typed failures of a model it is.

Pure. Servers say the same things in different words; what they say is matched, never which model
it is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ContextFull, ModelError, ModelRefused, ModelUnavailable
from goliath_local.wire.chat import read_json
from goliath_local.wire.secrets import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.errors import HttpError

_OVERFLOW_CODES = {"exceed_context_size_error", "context_length_exceeded"}
_OVERFLOW = re.compile(
    r"exceeds? (the )?(available |maximum |model'?s? )*context|context (size|length|window)"
    r"[^.]{0,60}exceed|maximum context length|input length exceeds|prompt is too long",
    re.IGNORECASE,
)
_WINDOW = re.compile(r"context (?:length|size|window)\D{0,20}?(\d+)", re.IGNORECASE)
_FILTER = re.compile(r"\bcontent[ _](filter|policy)|\bcontent management policy\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")
_RESPONSE_FORMAT = re.compile(r"response_format|json_schema|\bgrammar\b", re.IGNORECASE)
_NOT_NOW = {408, 425, 429, 502, 503, 504}
_MESSAGE_CHARS = 300


def read_refusal(
    error: HttpError, *, window_tokens: int, secrets: Iterable[str] = ()
) -> ModelError:
    """Return what an answer outside 2xx means.

    Args:
        error: with the status and the body of the answer.
        window_tokens: the window as far as it is known, if the server does not say.
        secrets: what the server was sent and may repeat; it does not get into the message.
    """
    status = error.status or 0
    said, code, facts = _said(error.body, secrets)
    if code in _OVERFLOW_CODES or (status in {400, 413, 500} and _OVERFLOW.search(said)):
        return _context_full(said, facts, window_tokens)
    if _FILTER.search(code) or (status in {400, 403} and _FILTER.search(said)):
        return ModelRefused(f"The server declined: {said} Put the request differently.")
    told = f"{error.url} answered {status}{f': {said}' if said else '.'}"
    if status in {401, 403}:
        return ModelUnavailable(f"{told} Give the right api_key.")
    if status == 404:
        return ModelUnavailable(f"{told} Check base_url and the model's name.")
    if status in _NOT_NOW:
        return ModelUnavailable(f"{told} Try again later.")
    return ModelError(f"{told} See the server's log.")


def is_about_schema(error: HttpError) -> bool:
    """Return whether the server says that it cannot keep a reply to a schema."""
    said, code, _ = _said(error.body)
    is_refused = error.status in {400, 404, 422, 500, 501}
    return is_refused and bool(_RESPONSE_FORMAT.search(f"{said} {code}"))


def _said(body: bytes, secrets: Iterable[str] = ()) -> tuple[str, str, Mapping[str, Any]]:
    """Return the words, the code and all facts of an error; empty if there are none."""
    try:
        data = read_json(body)
    except ModelError:
        return "", "", {}
    error = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(error, str):
        return _sentence(error, secrets), "", {}
    if not isinstance(error, Mapping):
        return "", "", {}
    codes = [error.get("code"), error.get("type")]
    code = " ".join(code for code in codes if isinstance(code, str))
    known = next((name for name in _OVERFLOW_CODES if name in code), code)
    words = error.get("message", error.get("detail", ""))
    return _sentence(words if isinstance(words, str) else "", secrets), known, error


def _sentence(words: str, secrets: Iterable[str]) -> str:
    words = " ".join(without_secrets(words, secrets).split())[:_MESSAGE_CHARS]
    return words if not words or words.endswith((".", "!", "?")) else words + "."


def _context_full(said: str, facts: Mapping[str, Any], window_tokens: int) -> ContextFull:
    """Return the overflow, with the server's numbers where it gives them."""
    numbers = [int(number) for number in _NUMBERS.findall(said)]
    named = _WINDOW.search(said)
    window = _number(facts.get("n_ctx")) or (int(named[1]) if named else window_tokens)
    needed = _number(facts.get("n_prompt_tokens")) or max([window + 1, *numbers])
    return ContextFull(needed_tokens=needed, limit_tokens=window, window_tokens=window)


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
