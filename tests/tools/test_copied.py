"""Values that stand in the worked examples and nowhere in what was asked."""

from __future__ import annotations

from goliath_local.prompts import example_dates
from goliath_local.tools import define_tool, without_copied

DATE = min(example_dates())


def copied_from(arguments, *, seen, required=()):
    tool = define_tool(
        name="look",
        description="x",
        parameters={
            "type": "object",
            "properties": {"day": {"type": "string"}, "to": {"type": "string"}},
            "required": list(required),
        },
        execute=lambda args, context: None,
    )
    return without_copied(tool, arguments, copies=example_dates(), seen=seen)


def test_a_date_of_the_examples_is_taken_out():
    found = copied_from({"day": DATE, "to": "x"}, seen="what is on?", required=["to"])
    assert (found.value, found.missing) == ({"to": "x"}, ())


def test_a_required_date_of_the_examples_is_missing():
    assert copied_from({"to": DATE}, seen="what is on?", required=["to"]).missing == ("to",)


def test_a_date_that_was_told_stays_though_an_example_has_it():
    assert copied_from({"day": DATE}, seen=f"today: {DATE}").value == {"day": DATE}
