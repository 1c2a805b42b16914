"""Room for prompt heads: half of what the model leaves free, within bounds."""

from __future__ import annotations

import pytest

from goliath_local.evals.loading import room_beside

GIB = 2**30


@pytest.mark.parametrize(("free", "room"), [(1, 0), (2, 0), (4, 1), (10, 4), (100, 6)])
def test_half_of_what_the_model_leaves_free_is_for_heads(free, room):
    assert room_beside(2 * GIB, available_bytes=free * GIB) == room * GIB
