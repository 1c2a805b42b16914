from __future__ import annotations

import datetime as dt
import enum
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from goliath_local.budget import looks_like_error, summarize_tool_result

JOBS = [{"job": n, "state": "denied by quota" if n == 8 else "ok"} for n in range(1, 13)]
LOG = [f"module {n} built in 0.41 s, nothing to say about it".ljust(54, ".") for n in range(1, 61)]
LOG[39] = "module 40 failed: missing header zeta.h"
WIDE = [{"id": n, "title": "T" * 100, "who": "W" * 100} for n in range(1, 10)]

EXAMPLES: list[tuple[str, Any, str]] = [
    ("1", None, "done"),
    ("2", "   ", "(no output)"),
    ("3", [], "none"),
    ("4a", True, "true"),
    ("4b", 42, "42"),
    ("4c", 3.0, "3"),
    ("5", "All quiet in the greenhouse.", "All quiet in the greenhouse."),
    ("6", ["north", "south", "east"], "1. north\n2. south\n3. east"),
    (
        "7",
        [
            {"id": "p1", "name": "Basil", "thirsty": True, "pot": {"size": 12}},
            {"id": "p2", "name": "Mint", "thirsty": False},
        ],
        "1. id: p1, name: Basil, thirsty: true\n2. id: p2, name: Mint, thirsty: false",
    ),
    (
        "8",
        [f"shelf {n}" for n in range(1, 8)],
        "\n".join(f"{n}. shelf {n}" for n in range(1, 8)),
    ),
    (
        "9",
        [f"shelf {n}" for n in range(1, 11)],
        "1. shelf 1\n2. shelf 2\n3. shelf 3\n4. shelf 4\n5. shelf 5\n… 3 omitted\n"
        "9. shelf 9\n10. shelf 10",
    ),
    (
        "10",
        JOBS,
        "\n".join(f"{n}. job: {n}, state: ok" for n in range(1, 6))
        + "\n… 5 omitted\n8. job: 8, state: denied by quota\n"
        "11. job: 11, state: ok\n12. job: 12, state: ok",
    ),
    (
        "11",
        {
            "city": "Oslo",
            "temp": -3.5,
            "gust": None,
            "tags": ["snow", "wind"],
            "station": {"id": 17, "open": True},
        },
        "city: Oslo\ntemp: -3.5\ngust:\ntags: 1. snow\n2. wind\nstation: id: 17, open: true",
    ),
    (
        "12",
        {"rows": [{"n": 1}, {"n": 2}], "meta": {"deep": {"x": 1}}},
        "rows: 1. n: 1\n2. n: 2\nmeta: deep: x: 1",
    ),
    ("13", {"note": "z" * 200, "ok": False}, "note: " + "z" * 79 + "…\nok: false"),
    (
        "14",
        {"ids": list(range(1, 40))},
        "ids: 1. 1\n2. 2\n3. 3\n4. 4\n5. 5\n… 32 omitted\n38. 38\n39. 39",
    ),
    ("15", "Q" * 700, "Q" * 599 + "…"),
    ("16", [[1, 2], [3]], "1. 1, 2\n2. 3"),
    (
        "17",
        WIDE,
        "\n".join(f"{n}. id: {n}, title: " + "T" * 62 + "…" for n in range(1, 6))
        + "\n… 2 omitted\n"
        + "\n".join(f"{n}. id: {n}, title: " + "T" * 62 + "…" for n in (8, 9)),
    ),
    (
        "18",
        "\n".join(LOG),
        "\n".join([*LOG[:7], "… 51 omitted", LOG[39], LOG[58], LOG[59]]),
    ),
    ("19", {}, "none"),
]


@pytest.mark.parametrize(
    ("value", "text"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_the_worked_examples_hold_exactly(value: Any, text: str) -> None:
    assert summarize_tool_result(value) == text
    assert len(text) <= 600


def test_worked_example_20_is_cut_to_its_own_cap() -> None:
    assert summarize_tool_result("y" * 5000, 100) == "y" * 99 + "…"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=120),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=40,
)


@given(JSON_VALUES, st.integers(0, 700))
def test_a_summary_is_never_longer_than_its_cap(value: Any, cap: int) -> None:
    assert len(summarize_tool_result(value, cap)) <= cap


@given(JSON_VALUES)
def test_the_same_value_gives_the_same_summary(value: Any) -> None:
    assert summarize_tool_result(value) == summarize_tool_result(value)


@given(st.integers(0, 40), st.integers(10, 200))
def test_an_error_line_and_the_last_two_lines_survive_the_cut(place: int, width: int) -> None:
    lines = [f"line {n} ".ljust(width, ".") for n in range(43)]
    lines[place] = f"line {place} failed"
    text = summarize_tool_result("\n".join(lines))
    shown = text.splitlines()
    assert f"line {place} failed" in shown
    assert [line[:8].strip(" .") for line in shown[-2:]] == ["line 41", "line 42"]


def test_an_error_in_the_middle_of_a_long_list_keeps_its_true_number() -> None:
    items = [f"row {n}" for n in range(1, 31)]
    items[16] = "Timed out while reading"
    assert "\n17. Timed out while reading\n" in summarize_tool_result(items)


def test_the_marker_counts_the_error_lines_that_are_shown_as_well() -> None:
    items = [f"row {n}" for n in range(1, 31)]
    items[16] = "fatal"
    assert "… 23 omitted" in summarize_tool_result(items)


def test_the_blank_end_of_a_log_is_not_its_tail() -> None:
    text = summarize_tool_result("\n".join(LOG) + "\n\n")
    assert text.splitlines()[-2:] == LOG[58:]


def test_only_the_last_three_errors_survive_a_cut() -> None:
    lines = [f"step {n} error {'x' * 60}" for n in range(30)] + ["a", "b"]
    shown = summarize_tool_result("\n".join(lines)).splitlines()
    assert [line.split()[1] for line in shown if "error" in line][-3:] == ["27", "28", "29"]


def test_below_200_characters_a_long_text_is_simply_cut() -> None:
    assert summarize_tool_result("\n".join(LOG), 199).endswith("…")
    assert "omitted" not in summarize_tool_result("\n".join(LOG), 199)


@pytest.mark.parametrize(
    "line",
    [
        "Error: no",
        "two errors",
        "an EXCEPTION",
        "exceptions",
        "it failed",
        "fail",
        "fails",
        "failure",
        "failures",
        "fatal",
        "denied",
        "refused",
        "Traceback (most recent call last)",
        "timeout",
        "time out",
        "time-out",
        "timed out",
    ],
)
def test_a_line_that_speaks_of_an_error_is_seen(line: str) -> None:
    assert looks_like_error(line)


@pytest.mark.parametrize("line", ["terror", "infallible", "refuse", "failsafe", "time", "ok"])
def test_a_line_that_only_contains_such_letters_is_not(line: str) -> None:
    assert not looks_like_error(line)


class Mood(enum.Enum):
    CALM = "calm"


@dataclass
class Plant:
    name: str
    height: int | None = None


class Pot(BaseModel):
    size: int
    glaze: str = "blue"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (("a", "b"), "1. a\n2. b"),
        ({"b", "a"}, "1. a\n2. b"),
        (frozenset({2, "x"}), "1. 2\n2. x"),
        (deque(["a"]), "1. a"),
        (range(2), "1. 0\n2. 1"),
        (Plant("Basil"), "name: Basil\nheight:"),
        (Pot(size=3), "size: 3\nglaze: blue"),
        ([Pot(size=3)], "1. size: 3, glaze: blue"),
        (dt.date(2026, 3, 1), "2026-03-01"),
        ({"at": dt.datetime(2026, 3, 1, 8, tzinfo=dt.UTC)}, "at: 2026-03-01T08:00:00+00:00"),
        (Mood.CALM, "calm"),
        (b"abc", "(3 bytes)"),
        (bytearray(b"a"), "(1 byte)"),
        (Decimal("1.50"), "1.50"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (float("inf"), "inf"),
        ({2: "a", None: "b", True: "c"}, "2: a\nnull: b\ntrue: c"),
        ([None, "", 0], "1.\n2.\n3. 0"),
        ({"a": {}, "b": []}, "a: none\nb: none"),
    ],
)
def test_python_values_are_summarised_like_the_json_they_stand_for(value: Any, text: str) -> None:
    assert summarize_tool_result(value) == text


def test_a_value_that_breaks_when_looked_at_is_named() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    circle: list[Any] = []
    circle.append(circle)
    assert summarize_tool_result(Mute()) == "(Mute that cannot be shown: RuntimeError)"
    assert summarize_tool_result(circle) == "(list that cannot be shown: nested too deeply)"


def test_numpy_arrays_and_numbers_are_shown_like_lists_and_numbers() -> None:
    assert summarize_tool_result({"sum": np.int64(3), "row": np.arange(2)}) == (
        "sum: 3\nrow: 1. 0\n2. 1"
    )


def test_an_integer_too_long_to_be_written_is_described() -> None:
    assert summarize_tool_result(10**5000) == "(an integer of 16610 bits)"
