"""How long and from where random tests search: two variables of the environment, for a night.

GOLIATH_TEST_EXAMPLES is how many examples each test tries that reads it here, and each property
without a number of its own; GOLIATH_TEST_SEED is where those with a seed begin.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def many(default: int) -> int:
    """How many examples to try."""
    return int(os.environ.get("GOLIATH_TEST_EXAMPLES") or default)


def slow_after(number: int, values: Iterable[Any]) -> list[Any]:
    """The values as parameters: the first ones in the plain run, all in the slow one."""
    return [
        pytest.param(value, marks=[pytest.mark.slow] if at >= number else [])
        for at, value in enumerate(values)
    ]


def first_seed(default: int) -> int:
    """The seed to begin with."""
    return int(os.environ.get("GOLIATH_TEST_SEED") or default)
