"""Formats: what an automaton accepts is valid, and what it leaves out is known."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
from pathlib import Path

import pytest

from goliath_local.schema.regular import PATTERNS, compile_format

SUITE = (
    Path(__file__).parents[1] / "grammar" / "json-schema-test-suite" / "draft2020-12" / "format"
)

LEFT_OUT = {
    "hostname": ("xn--",),
    "time": (":60",),
    "date-time": (":60",),
    "duration": ("999999999999",),
    "email": ('"', "["),
    "uri": ("[",),
    "uri-reference": ("[",),
    "iri": ("[",),
    "iri-reference": ("[",),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_format_accepts_nothing_that_is_invalid(name: str) -> None:
    path = SUITE / f"{name}.json"
    if not path.exists():
        path = SUITE / "uri.json"
    for by_letter in (False, True):
        automaton = compile_format(name, by_letter=by_letter)
        assert automaton is not None
        for group in json.loads(path.read_text("utf-8")):
            for test in group["tests"]:
                text = test["data"]
                if not isinstance(text, str) or path.stem != name:
                    continue
                if test["valid"]:
                    is_left_out = any(mark in text for mark in LEFT_OUT.get(name, ()))
                    assert automaton.accepts(text) or is_left_out, text
                else:
                    assert not automaton.accepts(text), text


def test_every_day_of_four_centuries_is_a_date_and_no_other() -> None:
    automaton = compile_format("date")
    assert automaton is not None
    for year in (1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999):
        for month in range(14):
            for day in range(33):
                text = f"{year:04}-{month:02}-{day:02}"
                try:
                    dt.date(year, month, day)
                except ValueError:
                    assert not automaton.accepts(text), text
                else:
                    assert automaton.accepts(text), text


@pytest.mark.parametrize(
    "text",
    ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::1.2.3.4", "1::2:3", "1:2:3:4:5:6:7::", "::8:7:6:5"],
)
def test_an_address_that_python_reads_is_one(text: str) -> None:
    automaton = compile_format("ipv6")
    assert automaton is not None
    ipaddress.IPv6Address(text)
    assert automaton.accepts(text)
    assert not automaton.accepts(f"{text}:x")


@pytest.mark.parametrize("text", ["a@b.de", "first.last+tag@mail.example.org", "x@localhost"])
def test_a_usual_mail_address_is_one(text: str) -> None:
    automaton = compile_format("email")
    assert automaton is not None
    assert automaton.accepts(text)


def test_a_format_that_is_not_in_the_table_has_no_automaton() -> None:
    assert compile_format("x-path") is None
