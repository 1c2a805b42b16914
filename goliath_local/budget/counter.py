"""Who counts tokens: the model's own tokenizer, a function of the application, or the estimate.

Pure, given a deterministic counter. With a model that counts, everything is counted by it.
A function counts requests and results, the estimate then still measures brief and recent
conversation. Source: behaviour spec 4.1, and Counting in its README.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goliath_local.budget.cut import whole
from goliath_local.budget.estimate import REQUEST_OVERHEAD_TOKENS, estimate_tokens
from goliath_local.errors import ModelError
from goliath_local.model import CountingModel, PromptTokens

if TYPE_CHECKING:
    from goliath_local.model import JsonSchema, Part, Request

CountText: TypeAlias = Callable[[str], int]
CountSource: TypeAlias = Literal["tokenizer", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """Everything that is ever counted, by one source."""

    source: CountSource
    text: CountText
    """Tokens of a tool result or an excerpt."""

    conversation: CountText
    """Tokens of the brief and of the recent conversation."""

    request: Callable[[Request], PromptTokens]
    """The bill of a whole prompt."""


def choose_counter(model: Any = None, count_tokens: CountText | None = None) -> Counter:
    """Return the counter of a turn: the function if set, else the model's, else the estimate."""
    if count_tokens is not None:
        return counter_from_function(count_tokens)
    if isinstance(model, CountingModel):
        return counter_from_model(model)
    return ESTIMATE


def counter_from_model(model: CountingModel) -> Counter:
    """Return a counter that asks the model's tokenizer for every figure."""
    return Counter(
        source="tokenizer",
        text=lambda text: model.count_text(whole(text)),
        conversation=lambda text: model.count_text(whole(text)),
        request=model.count_request,
    )


def counter_from_function(count_tokens: CountText) -> Counter:
    """Return a counter around an application's function, whose figures are verified.

    The function sees one string: system text, examples, schema and user text, joined by blank
    lines. It raises `ModelError` when the function fails or returns no whole number ≥ 0.
    """
    count = verified(count_tokens)

    def bill(request: Request) -> PromptTokens:
        messages = _messages(request)
        text = "\n\n".join(text for _, text in messages if text)
        total = count(text)
        by_part = _apportion(total, _named_parts(request))
        return _with_template(total, by_part)

    return Counter(source="tokenizer", text=count, conversation=estimate_tokens, request=bill)


def verified(count_tokens: CountText) -> CountText:
    """Return the function with its failures and impossible figures raised as `ModelError`."""

    def count(text: str) -> int:
        try:
            found: Any = count_tokens(text)
        except Exception as error:
            message = (
                f"The token counter failed with {type(error).__name__}: {error}. "
                "Repair count_tokens, or leave it out."
            )
            raise ModelError(message) from error
        whole = isinstance(found, float) and found.is_integer()
        if isinstance(found, bool) or not (isinstance(found, int) or whole) or found < 0:
            message = (
                f"The token counter returned {found!r}, which is no whole number of tokens. "
                "Repair count_tokens, or leave it out."
            )
            raise ModelError(message)
        return int(found)

    return count


def _estimated_bill(request: Request) -> PromptTokens:
    total = sum(estimate_tokens(text) for _, text in _messages(request))
    by_part: dict[str, int] = {}
    for name, text in _messages(request):
        parts = {"system": request.system, "user": request.user}.get(name)
        named = [(part.name, part.text) for part in parts] if parts else [(name, text)]
        for part, tokens in _apportion(estimate_tokens(text), named).items():
            by_part[part] = by_part.get(part, 0) + tokens
    return _with_template(total, by_part)


def schema_text(schema: JsonSchema | None) -> str:
    """Return the schema as it is counted: compact JSON, empty when there is none."""
    if schema is None:
        return ""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=str)


def _messages(request: Request) -> list[tuple[str, str]]:
    examples = [text for turn in request.examples for text in (turn.user, turn.assistant)]
    return [
        ("system", request.system_text),
        *(("examples", text) for text in examples),
        ("schema", schema_text(request.schema)),
        ("user", request.user_text),
    ]


def _named_parts(request: Request) -> list[tuple[str, str]]:
    def named(parts: Sequence[Part]) -> list[tuple[str, str]]:
        return [(part.name, part.text) for part in parts]

    middle = [(name, text) for name, text in _messages(request) if name not in ("system", "user")]
    return [*named(request.system), *middle, *named(request.user)]


def _apportion(total: int, parts: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Share out a total over the parts in the ratio of their estimates; the sum is the total."""
    weights = [estimate_tokens(text) for _, text in parts]
    whole = sum(weights)
    shares: dict[str, int] = {}
    given = seen = 0
    for (name, _), weight in zip(parts, weights, strict=True):
        seen += weight
        upto = total * seen // whole if whole else 0
        shares[name] = shares.get(name, 0) + upto - given
        given = upto
    return {name: tokens for name, tokens in shares.items() if tokens}


def _with_template(tokens: int, by_part: dict[str, int]) -> PromptTokens:
    rest = tokens - sum(by_part.values()) + REQUEST_OVERHEAD_TOKENS
    return PromptTokens(
        total=tokens + REQUEST_OVERHEAD_TOKENS, by_part={**by_part, "template": rest}
    )


ESTIMATE = Counter(
    source="estimate",
    text=estimate_tokens,
    conversation=estimate_tokens,
    request=_estimated_bill,
)
"""The counter of a model that cannot count."""
