"""Memory as the text that is stored.

Pure. camelCase by `records.to_json`; ASCII only, so that any text survives any store. Outputs
over the limit are left out of the stored copy, as are those without a JSON form.
Source: behaviour spec 7.4.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goliath_local.records import to_json

if TYPE_CHECKING:
    from goliath_local.records import Exchange, Json, MemoryState, StepRecord

OUTPUT_BYTES = 64 * 1024
"""Longest JSON of one output that is stored."""


def memory_text(state: MemoryState, *, output_bytes: int = OUTPUT_BYTES, **extra: Json) -> str:
    """Return the state as one JSON text.

    Args:
        state: what is remembered.
        output_bytes: longest JSON of one output, in bytes of UTF-8.
        extra: further keys that stand before it; None is left out.
    """
    kept = replace(
        state, recent=tuple(_stored(exchange, output_bytes) for exchange in state.recent)
    )
    named = {key: value for key, value in extra.items() if value is not None}
    return _dumped({**named, **to_json(kept)}, ascii_only=True)


def _stored(exchange: Exchange, output_bytes: int) -> Exchange:
    return replace(exchange, steps=tuple(_step(step, output_bytes) for step in exchange.steps))


def _step(step: StepRecord, output_bytes: int) -> StepRecord:
    kept = step
    if step.has_output and _size(step.output, output_bytes) > output_bytes:
        kept = replace(kept, output=None, has_output=False)
    if step.input is not None and _size(step.input, output_bytes) > output_bytes:
        kept = replace(kept, input=None)
    return kept


def _size(value: Json, too_large: int) -> int:
    try:
        text = _dumped(value, ascii_only=False)
    except (TypeError, ValueError, RecursionError):
        return too_large + 1
    return len(text.encode("utf-8", "surrogatepass"))


def _dumped(value: Any, *, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False)
