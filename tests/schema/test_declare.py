"""How values of a declared schema are read."""

from __future__ import annotations

import pytest

from goliath_local.errors import InvalidValue
from goliath_local.schema import declare


@pytest.mark.parametrize("text", ["10:00:00Z", "23:59:60+01:30", "20:21:18.1889z"])
def test_a_time_may_have_an_offset(text: str) -> None:
    assert declare({"type": "string", "format": "time"}).read(text) == text


def test_a_format_is_asserted() -> None:
    with pytest.raises(InvalidValue):
        declare({"type": "string", "format": "date"}).read("2024-02-30")
