"""Where in a JSON text we are, after every byte of it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.json_cursor import JsonCursor, Place

TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-99, 99), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def scalars(value: Any, pointer: str = "") -> list[tuple[str, str]]:
    """Return pointer and JSON of every scalar, in the order of the text."""
    if isinstance(value, dict):
        steps = [(k.replace("~", "~0").replace("/", "~1"), v) for k, v in value.items()]
    elif isinstance(value, list):
        steps = [(str(index), item) for index, item in enumerate(value)]
    else:
        return [(pointer, json.dumps(value))]
    return [found for step, item in steps for found in scalars(item, f"{pointer}/{step}")]


@given(TREES, st.booleans())
def test_every_scalar_is_found_at_its_pointer_and_offset(tree: Any, spaced: bool):
    text = json.dumps(tree, separators=None if spaced else (",", ":"))
    cursor, starts = JsonCursor(), {}
    for byte in text.encode():
        cursor.feed(bytes([byte]))
        place = cursor.place
        if place is not None and text[place.start : place.start + 1] not in ("", " ", "{", "["):
            starts.setdefault(place.start, place.pointer)
    expected = scalars(tree)
    found = [
        (pointer, json.dumps(json.JSONDecoder().raw_decode(text, start)[0]))
        for start, pointer in sorted(starts.items())
        if start < len(text) and text[start] not in "]}"
    ]
    assert found == expected


def test_a_value_that_comes_next_has_its_place_already():
    cursor = JsonCursor()
    cursor.feed(b'{"kind":')
    assert cursor.place == Place("/kind", 8)
    cursor.feed(b'"to')
    assert cursor.place == Place("/kind", 8)


def test_a_key_is_not_a_value():
    cursor = JsonCursor()
    cursor.feed(b'{"ki')
    assert cursor.place is None


def test_a_copy_goes_its_own_way():
    cursor = JsonCursor()
    cursor.feed(b'{"a":[')
    twin = cursor.copy()
    twin.feed(b"1,2")
    assert cursor.place == Place("/a/0", 6)
    assert twin.place == Place("/a/1", 8)
