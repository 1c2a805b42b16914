"""Dates, words and addresses that nobody said."""

from __future__ import annotations

import datetime as dt

import pytest

from goliath_local.tools import on_the_day, pronouns_in, unsaid_addresses

SATURDAY = dt.date(2026, 4, 18)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"date": "2026-04-20"}, {"date": "2026-04-18"}),
        ({"date": "2026-04-11"}, {"date": "2026-04-11"}),
        ({"date": "2026-99-99"}, {"date": "2026-04-18"}),
        ({"at": "2026-04-20T09:30", "to": "Ivo"}, {"at": "2026-04-18T09:30", "to": "Ivo"}),
        ({"date": "2026-04-18"}, {"date": "2026-04-18"}),
    ],
)
def test_a_date_that_nobody_said_is_the_day_that_was_said(arguments, found):
    assert on_the_day(arguments, SATURDAY, seen="what is on on Saturday?") == found


@pytest.mark.parametrize(
    "arguments",
    [
        {"from": "2026-04-17", "to": "2026-04-20"},
        {"date": "2026-04-15"},
        {"date": None, "to": "Ivo"},
        {"text": "on 2026-04-20"},
    ],
)
def test_of_two_dates_and_of_one_that_was_seen_none_is_changed(arguments):
    assert on_the_day(arguments, SATURDAY, seen="start: 2026-04-15") == arguments


def test_a_word_that_only_points_at_something_is_no_value():
    arguments = {"query": "This", "note": "that", "text": "this song", "count": 1}
    assert pronouns_in(arguments, ["query", "text", "count", "lost"]) == ("query",)


def test_a_mail_address_of_which_nobody_said_the_domain_is_made_up():
    arguments = {
        "email": "jonas.wirth@example.com",
        "site": "https://a.example/x",
        "other": "Ann@firm.com",
        "text": "write to jonas@c.example",
    }
    assert unsaid_addresses(arguments, "Jonas Wirth, ann at firm dot com") == ("email",)
