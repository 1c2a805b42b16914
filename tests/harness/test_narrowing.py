"""What a model that is constrained token by token is offered, and how its arguments are read."""

from __future__ import annotations

import pytest

from goliath_local.harness.judge import worth_offering
from goliath_local.prompts import changes_made, fact_lines
from goliath_local.records import StepRecord
from goliath_local.tools import (
    argument_schema,
    check_arguments,
    define_tool,
    drop_unsaid,
    has_every_required,
    spelled_out,
)


def tool(name="add", *, writes=True, properties=("title",), required=("title",)):
    return define_tool(
        name=name,
        description="x",
        parameters={
            "type": "object",
            "properties": {key: {"type": "string"} for key in properties},
            "required": list(required),
            "additionalProperties": False,
        },
        execute=lambda args, context: None,
        writes=writes,
    )


def done(name="add", **more):
    return StepRecord(index=0, kind="tool", brief="", tool=name, writes=True, input={}, **more)


@pytest.mark.parametrize(
    ("ask", "offered"),
    [
        ("Put eggs on my list.", ()),
        ("Put eggs on my list and call mom.", ("add",)),
        ("Eier auf die Liste, dann Milch", ("add",)),
        ("Put sand on my list.", ()),
    ],
)
def test_a_change_that_was_made_is_offered_again_only_when_the_ask_may_want_several(ask, offered):
    assert worth_offering(["add"], {"add": tool()}, [done()], ask=ask) == offered


def test_after_the_one_change_that_was_asked_for_nothing_more_is_looked_up():
    tools = {"add": tool(), "look": tool("look", writes=False)}
    assert worth_offering(list(tools), tools, [done()], ask="Put eggs on my list.") == ()
    assert worth_offering(list(tools), tools, [], ask="Put eggs on my list.") == ("add", "look")


@pytest.mark.parametrize("flag", ["failed", "skipped"])
def test_a_change_that_was_not_made_is_offered_again(flag):
    steps = [done(**{flag: True})]
    assert worth_offering(["add"], {"add": tool()}, steps, ask="Put eggs there.") == ("add",)


def test_changes_made_are_named_and_others_are_not():
    assert changes_made([]) == ""
    assert changes_made([done(failed=True)]) == ""
    assert "add({})" in changes_made([done()])


def test_spelled_out_every_property_is_asked_for_by_name_and_optional_ones_may_be_null():
    one = tool(properties=("title", "due"), required=("title",))
    shape = spelled_out(argument_schema(one))
    properties = shape.schema["properties"]
    assert list(properties) == ["title", "due", "missing"]
    assert shape.schema["required"] == ["title", "due"]
    assert properties["title"] == {"type": "string"}
    assert properties["due"] == {"anyOf": [{"type": "null"}, {"type": "string"}]}
    assert properties["missing"]["enum"] == ["", "title"]


def test_spelled_out_a_tool_that_requires_nothing_can_miss_nothing():
    shape = spelled_out(argument_schema(tool(properties=("due",), required=())))
    assert list(shape.schema["properties"]) == ["due"]
    assert shape.missing is None


def test_null_for_an_optional_value_is_no_value():
    one = tool(properties=("title", "due"), required=("title",))
    value = drop_unsaid(one, {"title": "eggs", "due": None})
    assert check_arguments(one, value) == {"title": "eggs"}


@pytest.mark.parametrize(
    ("value", "whole"), [({"title": "eggs"}, True), ({"title": " "}, False), ({}, False)]
)
def test_required_values_are_there_when_none_is_blank(value, whole):
    assert has_every_required(tool(), value) is whole


def test_a_fact_that_says_the_day_brings_the_days_after_it_by_name():
    lines = fact_lines({"today": "Tuesday 2026-12-29"})
    assert "today: Tuesday 2026-12-29" in lines
    assert "tomorrow: Wednesday 2026-12-30; then Thursday 2026-12-31, Friday 2027-01-01" in lines


@pytest.mark.parametrize("facts", [{"today": "Tuesday"}, {"born": "2026-12-29"}, {}])
def test_without_a_date_of_today_no_days_are_named(facts):
    assert "tomorrow" not in fact_lines(facts)


def test_a_date_that_does_not_exist_names_no_days():
    assert "tomorrow" not in fact_lines({"today": "2026-02-30"})
