"""`goliath-local grammar`: compile, check, sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CITY = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "size": {"enum": ["big", "small"]}},
    "required": ["name", "size"],
}
SIX_THAT_KILL = {
    "undefined": ("root ::= foo\n", "line 1, column 10: rule foo is not defined"),
    "no-root": ('start ::= "a"\n', "line 1, column 1: there is no rule called root"),
    "left": ('root ::= root "a" | "b"\n', "line 1, column 1: left recursion"),
    "empty": ('root ::= ("a"|""){0,2000}\n', "line 1, column 18: something that can be empty"),
    "nul": ('root ::= "\\x00"\n', "line 1, column 11: NUL"),
    "backward": ('root ::= "a"{3,2}\n', "line 1, column 13: at least 3 and at most 2 times"),
    "no-right-side": ("root ::= \n", "line 1, column 1: rule root has an empty right side"),
}


@pytest.fixture
def city(home: Path) -> str:
    path = home / "city.json"
    path.write_text(json.dumps(CITY), encoding="utf-8")
    return str(path)


def written(home: Path, name: str, text: str) -> str:
    (home / name).write_text(text, encoding="utf-8")
    return str(home / name)


def test_a_schema_is_printed_as_gbnf_that_checks_out(goliath, home, city) -> None:
    made = goliath("grammar", "compile", city)
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("root ::= ")
    assert made.out.endswith("\n")
    assert goliath("grammar", "check", written(home, "city.gbnf", made.out)).code == 0


def test_a_compiled_schema_is_one_json_document_when_asked_for(goliath, city) -> None:
    made = goliath("grammar", "compile", city, "--json")
    assert made.json["gbnf"].startswith("root ::= ")
    assert made.json["deferred"] == []


def test_a_model_is_named_by_module_and_name(goliath, home, monkeypatch) -> None:
    source = "from pydantic import BaseModel\nclass City(BaseModel):\n    name: str\n"
    Path("cities.py").write_text(source, encoding="utf-8")
    assert goliath("grammar", "check", "cities:City", '{"name": "Lyon"}').code == 0
    missing = goliath("grammar", "compile", "cities:Town")
    assert missing.code == 2
    assert 'cities has no "Town"' in missing.err


@pytest.mark.parametrize("name", SIX_THAT_KILL)
def test_a_grammar_that_would_end_llama_cpp_is_refused_with_its_place(goliath, home, name) -> None:
    text, message = SIX_THAT_KILL[name]
    ran = goliath("grammar", "check", written(home, f"{name}.gbnf", text))
    assert (ran.code, ran.out) == (2, "")
    assert ran.last_error_line.startswith(f"{name}.gbnf: {message}")


def test_a_contradictory_schema_is_refused_with_its_pointer(goliath, home) -> None:
    zip_code = {"type": "string", "minLength": 9, "maxLength": 5}
    schema = {"type": "object", "properties": {"zip": zip_code}, "required": ["zip"]}
    path = written(home, "city.json", json.dumps(schema))
    for command in ("compile", "check", "sample"):
        ran = goliath("grammar", command, path)
        assert (ran.code, ran.out) == (2, "")
        assert ran.last_error_line.startswith("city.json#/properties/zip")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "city.json: line 1, column 2: not JSON"),
        ("[1]", "city.json#: a schema is an object"),
        ('{"type": "strin"}', "city.json#: type must be a type name"),
        ("[" * 100_000, "city.json: nested too deep"),
    ],
)
def test_what_is_no_schema_is_refused(goliath, home, text, message) -> None:
    ran = goliath("grammar", "compile", written(home, "city.json", text))
    assert (ran.code, ran.out) == (2, "")
    assert ran.last_error_line.startswith(message)


def test_a_missing_file_is_wrong_usage(goliath) -> None:
    ran = goliath("grammar", "check", "nowhere.gbnf")
    assert ran.code == 2
    assert "nowhere.gbnf cannot be read" in ran.err


def test_a_text_that_fits_is_told_to_fit_whatever_its_blanks(goliath, city) -> None:
    for text in ('{"name":"Lyon","size":"big"}', '{ "name": "Lyon",\n  "size": "big" }\n'):
        ran = goliath("grammar", "check", city, text)
        assert (ran.code, ran.out) == (0, "ok  the text fits\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"name": "Lyon", "size": "mid"}', "line 1, column 27: 'mid\"}' is refused"),
        ('{"name": "Lyon"', 'ends too early; it could go on with \',"size":"big"}\''),
        ('{"name": "Ly\non", "size": "big"}', "line 1, column 13: '⏎on"),
        ('{"name": "Lyon", "size": "big"}}', "line 1, column 32: '}' is refused; the text ends"),
    ],
)
def test_a_text_that_does_not_fit_is_refused_with_its_place(goliath, city, text, message) -> None:
    ran = goliath("grammar", "check", city, text)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.last_error_line


def test_samples_are_one_a_line_and_repeat_with_their_seed(goliath, city) -> None:
    drawn = goliath("grammar", "sample", city, "-n", "5", "--seed", "1")
    assert drawn.code == 0
    values = [json.loads(line) for line in drawn.out.splitlines()]
    assert len(values) == 5
    assert {value["size"] for value in values} <= {"big", "small"}
    assert goliath("grammar", "sample", city, "-n", "5", "--seed", "1").out == drawn.out


def test_samples_of_a_gbnf_file_are_drawn_too(goliath, home) -> None:
    path = written(home, "yes.gbnf", 'root ::= "yes" | "no"\n')
    assert set(goliath("grammar", "sample", path, "-n", "20").out.split()) == {"yes", "no"}


def test_nothing_in_a_sample_can_steer_the_terminal(goliath, home) -> None:
    path = written(home, "esc.gbnf", 'root ::= "\\x1B[2J\\u202E"\n')
    assert goliath("grammar", "sample", path, "-n", "1").out == "\\u001b[2J\\u202e\n"
