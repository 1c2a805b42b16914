"""How long and from where random tests search: two variables of the environment, for a night.

GOLIATH_TEST_EXAMPLES is how many examples each test tries that reads it here, and each property
without a number of its own; GOLIATH_TEST_SEED is where those with a seed begin.
"""

from __future__ import annotations

import os


def many(default: int) -> int:
    """How many examples to try."""
    return int(os.environ.get("GOLIATH_TEST_EXAMPLES") or default)


def first_seed(default: int) -> int:
    """The seed to begin with."""
    return int(os.environ.get("GOLIATH_TEST_SEED") or default)
