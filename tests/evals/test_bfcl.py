"""The scorer of the function-calling cases takes what is right, and nothing else."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from goliath_local.evals.bfcl import call_problems, first_accepted, read_cases

FOLDER = Path(__file__).parents[2] / "evals" / "bfcl"
FILES = sorted(path.name for path in FOLDER.glob("*.jsonl.gz"))


def cases(name: str):
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return read_cases(lines)


def one(answer, *, properties, required=(), name="book.table"):
    line = {
        "id": "x",
        "ask": "?",
        "tools": [
            {
                "name": name,
                "description": "",
                "parameters": {
                    "type": "dict",
                    "properties": properties,
                    "required": list(required),
                },
            }
        ],
        "answer": [{name: answer}] if answer is not None else [],
    }
    import json

    return read_cases([json.dumps(line)])[0]


def test_all_six_files_are_there():
    assert len(FILES) == 6


@pytest.mark.parametrize("name", FILES)
def test_the_first_accepted_values_of_every_case_score_as_right(name):
    wrong = [case.id for case in cases(name) if call_problems(case, first_accepted(case))]
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_the_wrong_number_of_calls_is_never_right(name):
    for case in cases(name):
        calls = first_accepted(case)
        if case.is_irrelevance:
            assert call_problems(case, [(case.tools[0].name, {})])
        else:
            assert call_problems(case, [])
            assert call_problems(case, calls * 2)


def test_a_tool_name_with_a_dot_is_mapped_to_one_a_tool_may_have():
    case = one({"seats": [2]}, properties={"seats": {"type": "integer"}})
    assert case.tools[0].name == "book_table"
    assert call_problems(case, [("book_table", {"seats": 2})]) == []


@pytest.mark.parametrize(
    ("kind", "accepted", "value", "is_right"),
    [
        ("float", [2.0], 2, True),
        ("integer", [2], 2.0, False),
        ("integer", [1], True, False),
        ("boolean", [True], True, True),
        ("boolean", [True], 1, False),
        ("string", ["New York, NY"], "new york ny", True),
        ("string", ["it's"], 'it"s', True),
        ("string", ["Paris"], "London", False),
        ("array", [["a", "b"]], ["A", "b"], True),
        ("array", [["a", "b"]], ["b", "a"], False),
        ("dict", [{"city": ["Oslo"], "zip": ["0150", ""]}], {"city": "oslo"}, True),
        ("dict", [{"city": ["Oslo"]}], {"city": "Oslo", "more": 1}, False),
        ("dict", [{"city": ["Oslo"], "zip": ["0150"]}], {"city": "Oslo"}, False),
    ],
)
def test_values_are_compared_by_type_and_normal_form(kind, accepted, value, is_right):
    case = one({"x": accepted}, properties={"x": {"type": kind}}, required=["x"])
    assert (call_problems(case, [("book_table", {"x": value})]) == []) is is_right


def test_an_optional_argument_may_be_left_out_only_where_the_answer_says_so():
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    free = one({"a": [1], "b": [2, ""]}, properties=properties, required=["a"])
    bound = one({"a": [1], "b": [2]}, properties=properties, required=["a"])
    assert call_problems(free, [("book_table", {"a": 1})]) == []
    assert call_problems(bound, [("book_table", {"a": 1})]) == ["b is missing"]


def test_an_argument_outside_the_answer_is_wrong():
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    case = one({"a": [1]}, properties=properties, required=["a"])
    assert call_problems(case, [("book_table", {"a": 1, "b": 2})]) == ["b is not asked for"]
