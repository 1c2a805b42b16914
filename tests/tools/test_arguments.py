from __future__ import annotations

import datetime as dt
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, RootModel, model_validator

from goliath_local.errors import InvalidValue
from goliath_local.tools import (
    NotJson,
    Tool,
    argument_schema,
    canonical_equal,
    check_arguments,
    define_tool,
    json_copy,
    split_missing,
    takes_arguments,
    tool,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def with_properties(*names: str) -> Tool:
    properties = {name: {"type": "string"} for name in names}
    return define_tool(
        name="f",
        description="F.",
        execute=lambda *_: None,
        parameters={"type": "object", "properties": properties, "required": list(names)},
    )


def test_the_schema_is_the_properties_in_order_and_a_trailing_optional_missing() -> None:
    found = argument_schema(with_properties("b", "a"), description="What was not there.")
    assert list(found.schema["properties"]) == ["b", "a", "missing"]
    assert found.schema["required"] == ["b", "a"]
    assert found.schema["properties"]["missing"] == {
        "type": "string",
        "description": "What was not there.",
    }
    assert found.missing == "missing"


def test_a_tool_with_its_own_missing_parameter_receives_it_intact() -> None:
    found = argument_schema(with_properties("missing", "missing_values"))
    assert found.missing == "missing_values_2"
    reply = {"missing": "keys", "missing_values": "none", "missing_values_2": ""}
    assert split_missing(reply, found.missing) == (
        {"missing": "keys", "missing_values": "none"},
        "",
    )


def test_building_the_schema_leaves_that_of_the_tool_as_it_was() -> None:
    made = with_properties("a")
    argument_schema(made)
    assert list(made.parameters.properties) == ["a"]


def test_a_schema_that_is_no_object_gets_no_missing() -> None:
    made = define_tool(
        name="f", description="F.", execute=lambda *_: None, parameters={"type": "string"}
    )
    assert argument_schema(made).missing is None
    assert split_missing("text", None) == ("text", "")
    assert takes_arguments(made)


def test_only_a_tool_with_properties_takes_arguments() -> None:
    assert takes_arguments(with_properties("a"))
    assert not takes_arguments(with_properties())


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("the date", "the date"),
        ("  ", ""),
        (None, ""),
        (False, ""),
        ("None", ""),
        ("n/a", ""),
        ("null.", ""),
        (["day", "hour"], "day, hour"),
        ([], ""),
        (3, "3"),
    ],
)
def test_what_a_model_says_is_missing_is_read(said: Any, missing: str) -> None:
    assert split_missing({"a": "x", "missing": said}, "missing") == ({"a": "x"}, missing)


def test_arguments_that_do_not_fit_say_where() -> None:
    @tool
    def find(day: dt.date) -> None: ...

    with pytest.raises(InvalidValue) as caught:
        check_arguments(find, {"day": "soon"})
    assert caught.value.path == "/day"
    with pytest.raises(InvalidValue):
        check_arguments(find, {})
    with pytest.raises(InvalidValue):
        check_arguments(find, "soon")
    with pytest.raises(InvalidValue) as caught:
        check_arguments(with_properties("a"), {"a": 1})
    assert caught.value.path == "/a"


def test_transforms_run_exactly_once() -> None:
    ran: list[str] = []

    def shout(text: str) -> str:
        ran.append(text)
        return text + "!"

    @tool
    def find(text: Annotated[str, AfterValidator(shout)]) -> None: ...

    assert check_arguments(find, {"text": "eggs"}) == {"text": "eggs!"}
    assert ran == ["eggs"]


def test_an_empty_object_is_checked_for_a_tool_without_parameters() -> None:
    class Never(BaseModel):
        @model_validator(mode="after")
        def refuse(self) -> Any:
            raise ValueError("not today")

    never = define_tool(name="f", description="F.", execute=print, parameters=Never)
    assert not takes_arguments(never)
    with pytest.raises(InvalidValue, match="not today"):
        check_arguments(never, {})
    assert check_arguments(with_properties(), {}) == {}


@dataclass
class Point:
    x: int


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=15,
)


def test_key_order_does_not_hide_the_same_call_and_list_order_does() -> None:
    assert canonical_equal({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})
    assert not canonical_equal([1, 2], [2, 1])


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        (None, False, False),
        ("1", 1, False),
        (0.0, -0.0, True),
        ([], {}, False),
        ({"a": None}, {}, False),
        (dt.date(2026, 3, 1), "2026-03-01", True),
        ({"day": dt.date(2026, 3, 1)}, {"day": dt.date(2026, 3, 1)}, True),
        (Point(1), {"x": 1.0}, True),
        ((1, 2), [1, 2], True),
        (2**60, 2**60 + 1, False),
        (object(), object(), False),
    ],
)
def test_calls_are_compared_by_their_json(left: Any, right: Any, same: bool) -> None:
    assert canonical_equal(left, right) is same
    assert canonical_equal(right, left) is same


@given(JSON_VALUES)
def test_every_json_value_is_the_same_call_as_itself(value: Any) -> None:
    assert canonical_equal(value, json_copy(value))


@given(JSON_VALUES, JSON_VALUES, JSON_VALUES)
def test_being_the_same_call_passes_on(one: Any, two: Any, three: Any) -> None:
    if canonical_equal(one, two) and canonical_equal(two, three):
        assert canonical_equal(one, three)


@pytest.mark.parametrize(
    ("value", "copied"),
    [
        (Decimal("1.5"), "1.5"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("/a/b"), "/a/b"),
        (RootModel[int](3), 3),
        ({1: {"x"}}, {"1": ["x"]}),
        (math.nan, None),
        ([math.inf], [None]),
        (dt.timedelta(seconds=90), "PT1M30S"),
        (np.arange(3), [0, 1, 2]),
        ({"n": np.int64(3)}, {"n": 3}),
    ],
)
def test_values_with_a_json_form_are_copied_into_it(value: Any, copied: Any) -> None:
    assert json_copy(value) == copied


class Broken(dict[str, int]):
    """Breaks when looked at."""

    def items(self) -> Any:
        raise OSError("gone")


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "make", [object, Broken, lambda: b"bytes", lambda: print, lambda: {"a": [iter("ab")]}, _circle]
)
def test_a_value_without_a_json_form_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(NotJson):
        json_copy(make())


def test_a_copy_shares_nothing_with_its_original() -> None:
    original = {"a": [1]}
    copied = json_copy(original)
    original["a"].append(2)
    assert copied == {"a": [1]}
