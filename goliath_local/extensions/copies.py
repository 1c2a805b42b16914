"""Copies for hooks: what they change in them changes nothing here.

Pure. Mappings, lists and our own records are copied all the way down; an opaque object of the
application is handed on as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from goliath_local.records import Exchange, FallbackRequest, MemoryState, StepRecord

_OURS = (StepRecord, Exchange, MemoryState, FallbackRequest)

T = TypeVar("T")


def copied(value: T) -> T:
    """Return the value with every mapping, list and record of it copied."""
    return cast("T", _copied(value))


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if type(value) is tuple:
        return tuple(_copied(item) for item in value)
    if isinstance(value, _OURS):
        fields = {f.name: _copied(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    return value
