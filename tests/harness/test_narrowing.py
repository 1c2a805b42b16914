"""What a model that is constrained token by token is offered, and how its arguments are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from goliath_local.grammar import compile_schema
from goliath_local.harness.guided import CHANGES_NAMED
from goliath_local.harness.offer import offer
from goliath_local.prompts import changes_made, done_just_now, fact_lines, is_conditional
from goliath_local.records import StepRecord
from goliath_local.tools import (
    argument_schema,
    check_arguments,
    define_tool,
    drop_unsaid,
    nothing_missing,
    spelled_out,
    without_unsaid_figures,
)


def offered(names, tools, steps, *, ask, want=None):
    return offer(names, tools, steps, ask=ask, want=want).tools


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
    ("ask", "left"),
    [
        ("Put eggs on my list.", ()),
        ("Put eggs on my list and call mom.", ("add",)),
        ("Eier auf die Liste, dann Milch", ("add",)),
        ("Put sand on my list.", ()),
    ],
)
def test_a_change_that_was_made_is_offered_again_only_when_the_ask_may_want_several(ask, left):
    assert offered(["add"], {"add": tool()}, [done()], ask=ask) == left


def test_after_the_one_change_that_was_asked_for_nothing_more_is_looked_up():
    tools = {"add": tool(), "look": tool("look", writes=False)}
    assert offered(list(tools), tools, [done()], ask="Put eggs on my list.") == ()
    assert offered(list(tools), tools, [], ask="Put eggs on my list.") == ("add", "look")


def test_who_asks_is_offered_no_change_and_a_conditional_change_is_made_once():
    tools = {"add": tool(), "look": tool("look", writes=False)}
    every = list(tools)
    assert offered(every, tools, [], ask="is it on?", want="question") == ("look",)
    asked = "add it if it is not there and say so"
    assert offered(every, tools, [], ask=asked, want="change-if") == tuple(every)
    assert offered(every, tools, [done()], ask=asked, want="change-if") == ()


def test_a_read_answered_twice_and_a_call_that_lacks_a_value_are_not_offered_again():
    look = tool("look", writes=False)
    twice = [
        StepRecord(index=0, kind="tool", brief="", tool="look", input={"title": "a"}),
        StepRecord(index=1, kind="tool", brief="", tool="look", input={"title": "a"}, cached=True),
    ]
    both = "is the one on and the other off?"
    assert offered(["look"], {"look": look}, twice[:1], ask=both) == ("look",)
    assert offered(["look"], {"look": look}, twice, ask=both) == ()
    lacking = [done(skipped=True, skip_reason="missing")]
    assert offered(["add"], {"add": tool()}, lacking, ask="add it") == ()


def looked(result, **more):
    return StepRecord(
        index=0, kind="tool", brief="", tool="look", input={"title": "a"}, result=result, **more
    )


@pytest.mark.parametrize(
    ("ask", "result", "left"),
    [
        ("is it on?", "1. name: a, on: true", ()),
        ("is it on?", "on: true", ()),
        ("is it on?", "none", ("look",)),
        ("are all of them on?", "on: true", ("look",)),
        ("is it on in Lindau, Kempten?", "on: true", ("look",)),
        ("lies beides", "on: true", ()),
    ],
)
def test_one_wish_looks_up_the_same_kind_of_thing_once_unless_nothing_was_found(ask, result, left):
    look = tool("look", writes=False)
    assert offered(["look"], {"look": look}, [looked(result)], ask=ask) == left


def test_a_text_may_be_read_on_page_by_page():
    look = replace(tool("look", writes=False), output_mode="content")
    assert offered(["look"], {"look": look}, [looked("1. a")], ask="what does it say?") == (
        "look",
    )


def test_a_value_that_only_the_user_knows_leaves_the_question_for_it():
    tools = {
        "add": tool(properties=("day",), required=("day",)),
        "look": tool("look", writes=False),
    }
    lacking = [done(skipped=True, skip_reason="missing")]
    found = offer(list(tools), tools, lacking, ask="add it")
    assert (found.tools, found.closing) == ((), ("answer",))


def test_a_lookup_that_lacks_a_value_leaves_the_other_lookups():
    tools = {name: tool(name, writes=False) for name in ("find", "list")}
    lacking = StepRecord(
        index=0, kind="tool", brief="", tool="find", input={}, skipped=True, skip_reason="missing"
    )
    assert offered(list(tools), tools, [lacking], ask="who wrote?") == ("list",)


@pytest.mark.parametrize("name", ["id", "room_id", "key"])
def test_a_value_that_a_lookup_gives_leaves_the_lookups(name):
    tools = {"add": tool(properties=(name,), required=(name,)), "look": tool("look", writes=False)}
    lacking = [done(skipped=True, skip_reason="missing")]
    found = offer(list(tools), tools, lacking, ask="add it")
    assert (found.tools, found.closing) == (("look",), ("answer", "escalate"))


@pytest.mark.parametrize("properties", [{}, {"day": True}])
def test_a_required_value_need_not_be_described_where_it_is_required(properties):
    schema = {"type": "object", "properties": properties, "required": ["day"]}
    add = define_tool(
        name="add",
        description="x",
        parameters=schema,
        execute=lambda args, context: None,
        writes=True,
    )
    lacking = [done(skipped=True, skip_reason="missing")]
    assert offer(["add"], {"add": add}, lacking, ask="add it").closing == ("answer",)


def test_an_error_that_names_another_tool_leaves_that_tool():
    tools = {name: tool(name, writes=False) for name in ("look", "read", "list")}
    failed = looked("Failed: The board is off. list shows the plan. Try again.", failed=True)
    found = offer(list(tools), tools, [failed], ask="which platform?")
    assert (found.tools, found.closing) == (("list",), ())


def test_an_error_that_names_none_leaves_all():
    tools = {name: tool(name, writes=False) for name in ("look", "read")}
    failed = looked("Failed: Nothing found for 'a'. Known: b.", failed=True)
    assert offered(list(tools), tools, [failed], ask="which platform?") == ("look", "read")


@pytest.mark.parametrize(
    ("ask", "conditional"),
    [
        ("if it rains, close the window", True),
        ("Falls es regnet, mach zu", True),
        ("close it unless it is hot", True),
        ("如果下雨就关窗", True),
        ("close the window", False),
        ("a gift for mom", False),
    ],
)
def test_a_condition_is_seen_in_the_ask(ask, conditional):
    assert is_conditional(ask) is conditional


@pytest.mark.parametrize("flag", ["failed", "skipped"])
def test_a_change_that_was_not_made_is_offered_again(flag):
    steps = [done(**{flag: True})]
    assert offered(["add"], {"add": tool()}, steps, ask="Put eggs there.") == ("add",)


def test_changes_made_are_named_and_others_are_not():
    assert changes_made([]) == ""
    assert changes_made([done(failed=True)]) == ""
    assert "add({})" in changes_made([done()])


def test_of_many_changes_the_last_are_named():
    made = [done(name=f"add_{number}") for number in range(CHANGES_NAMED + 2)]
    said = done_just_now(made, latest=CHANGES_NAMED)
    assert [f"add_{number}(" in said for number in range(len(made))] == [False] * 2 + [
        True
    ] * CHANGES_NAMED


def test_spelled_out_every_property_is_asked_for_by_name_or_the_missing_one_is_named():
    one = tool(properties=("title", "due"), required=("title",))
    complete, named = spelled_out(argument_schema(one)).schema["anyOf"]
    assert list(complete["properties"]) == ["missing", "title", "due"]
    assert complete["required"] == ["missing", "title", "due"]
    assert complete["properties"]["missing"] == {"const": ""}
    assert complete["properties"]["title"] == {"type": "string"}
    assert complete["properties"]["due"] == {"anyOf": [{"type": "null"}, {"type": "string"}]}
    assert named["properties"] == {"missing": {"type": "string", "enum": ["title"]}}


def test_where_nothing_may_be_missing_the_way_out_is_gone():
    shape = nothing_missing(spelled_out(argument_schema(tool())))
    (only,) = shape.schema["anyOf"]
    assert only["properties"]["missing"] == {"const": ""}


def test_spelled_out_a_tool_that_requires_nothing_can_miss_nothing():
    shape = spelled_out(argument_schema(tool(properties=("due",), required=())))
    assert list(shape.schema["properties"]) == ["due"]
    assert shape.missing is None


def test_an_optional_object_is_null_or_says_something():
    budget = {"type": "object", "properties": {"min": {"type": "number"}}}
    one = define_tool(
        name="find",
        description="x",
        parameters={
            "type": "object",
            "properties": {"budget": budget, "any": {"type": "object"}},
            "additionalProperties": False,
        },
        execute=lambda args, context: None,
    )
    shape = spelled_out(argument_schema(one)).schema
    grammar = compile_schema(shape)
    fits = {
        budget: grammar.accepts(f'{{"budget":{budget},"any":{{}}}}')
        for budget in ("null", "{}", '{"min":3}')
    }
    assert fits == {"null": True, "{}": False, '{"min":3}': True}


def chooser():
    return define_tool(
        name="list",
        description="x",
        parameters={
            "type": "object",
            "properties": {"place": {"type": "string", "enum": ["home", "at_work", "on"]}},
            "additionalProperties": False,
        },
        execute=lambda args, context: None,
    )


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("what is open at work?", ["at_work"]),
        ("HOME or at work", ["home", "at_work"]),
        ("what is going on?", None),
        ("my homework", None),
    ],
)
def test_choices_that_were_said_word_for_word_leave_no_others(said, left):
    place = spelled_out(argument_schema(chooser()), said=said).schema["properties"]["place"]
    assert place.get("enum") == left
    assert ("anyOf" in place) is (left is None)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("12:00", None),
        ("2026-04-15 07:00", None),
        (42, None),
        (2.5, None),
        (1, 1),
        (True, True),
        ("m3", "m3"),
        ("noon", "noon"),
    ],
)
def test_a_figure_is_taken_out_when_nobody_said_any(value, kept):
    found = without_unsaid_figures(tool(), {"title": value}, "set an alarm for me")
    assert found.value.get("title") == kept
    assert found.missing == (() if kept is not None else ("title",))


@pytest.mark.parametrize(
    "said",
    [
        "at 7",
        "at ten to six",
        "um halb acht",
        "demain",
        "七点",
        "कल सुबह",
        "on friday",
        "letzte Nacht",
    ],
)
def test_a_figure_stays_when_some_figure_was_said(said):
    assert without_unsaid_figures(tool(), {"title": "12:00"}, said).missing == ()


@pytest.mark.parametrize("said", ["svegliami alle sette", "väck mig klockan sju"])
def test_a_figure_stays_in_a_language_whose_figures_are_not_known(said):
    assert without_unsaid_figures(tool(), {"title": "07:00"}, said).missing == ()


def test_null_for_an_optional_value_is_no_value():
    one = tool(properties=("title", "due"), required=("title",))
    value = drop_unsaid(one, {"title": "eggs", "due": None})
    assert check_arguments(one, value) == {"title": "eggs"}


def test_a_fact_that_says_the_day_brings_the_days_around_it_by_name():
    lines = fact_lines({"today": "Tuesday 2026-12-29"})
    assert "today: Tuesday 2026-12-29" in lines
    assert "yesterday: 2026-12-28\ntomorrow: 2026-12-30 (Wednesday)\nThursday: 2026-12-31" in lines
    assert "Monday: 2027-01-04" in lines
    assert lines.count("Tuesday") == 1
    assert "tomorrow" not in fact_lines({"today": "Tuesday 2026-12-29"}, with_days=False)


@pytest.mark.parametrize("facts", [{"today": "Tuesday"}, {"born": "2026-12-29"}, {}])
def test_without_a_date_of_today_no_days_are_named(facts):
    assert "tomorrow" not in fact_lines(facts)


def test_a_date_that_does_not_exist_names_no_days():
    assert "tomorrow" not in fact_lines({"today": "2026-02-30"})


def answered(ask, result, *others, **more):
    look = tool("look", writes=False)
    tools = {each.name: each for each in (look, *others)}
    return offered([*tools], tools, [looked(result, **more)], ask=ask, want="question")


def test_a_question_with_one_wish_is_answered_from_the_first_lookup_that_found_something():
    other = tool("forecast", writes=False)
    assert answered("is it on?", "1. name: a, on: true", other) == ()
    assert answered("is it on?", "none", other) == ("look", "forecast")
    assert answered("is it on and dry?", "on: true", other) != ()
    assert answered("is it warmer than the hall?", "degrees: 20", other) != ()


def test_a_question_goes_on_when_another_lookup_builds_on_the_first():
    needs_it = replace(tool("read", writes=False), requires=("look",))
    assert answered("what does it say?", "1. name: a", needs_it) == ("read",)
    by_id = tool("read", writes=False, properties=("note_id",), required=("note_id",))
    assert answered("what does it say?", "1. name: a", by_id) == ("read",)


def test_a_question_goes_on_when_the_first_lookup_is_not_shown_whole():
    other = tool("forecast", writes=False)
    assert answered("which failed?", "1. name: a\n… 5 omitted\n7. name: b", other) != ()
    assert answered("what does it say?", "a page", other, output_mode="content") != ()
