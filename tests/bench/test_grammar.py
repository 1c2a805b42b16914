"""How the comparison of grammar engines judges an answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.grammar import verdicts
from bench.grammar_data import Trial, case_trials, without_blanks
from bench.grammar_engines import Answer, ours, peer

TRIAL = Trial(
    name="a number",
    schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    accept=('{"n": 1}',),
    reject=('{"n": "1"}', '{"n": 1'),
    incomplete=('{"n": 1',),
    as_written=frozenset({'{"n": 1'}),
)


def said(**answers: str) -> Answer:
    texts = dict.fromkeys(TRIAL.texts, "refused")
    return Answer(said=texts | {'{"n": 1': "open"} | answers)


def judged(answer: Answer, trial: Trial = TRIAL) -> list[str]:
    return list(verdicts(trial, answer))


def test_a_text_taken_in_either_spacing_is_taken() -> None:
    assert judged(said(**{'{"n":1}': "whole"})) == ["right"]
    assert judged(said(**{'{"n": 1}': "whole"})) == ["right"]


def test_every_fault_is_named() -> None:
    assert judged(said()) == ["too_tight"]
    assert judged(said(**{'{"n": 1}': "whole", '{"n":"1"}': "whole"})) == ["too_loose"]
    assert judged(said(**{'{"n": 1': "whole"})) == ["too_loose", "too_tight"]
    slow = Trial(name="slow", schema={}, max_compile_ms=5)
    assert judged(Answer(compile_ms=6), slow) == ["over_budget"]


def test_a_refusal_is_right_only_where_nothing_fits() -> None:
    assert judged(Answer(reason="no")) == ["refused"]
    assert judged(Answer(reason="no"), Trial(name="none", schema=False)) == ["right"]
    assert judged(Answer(), Trial(name="none", schema=False, must_refuse=True)) == ["too_loose"]


def test_blanks_in_strings_are_no_blanks_between_tokens() -> None:
    assert without_blanks('{"a b": [1, "\\" c"] }') == '{"a b":[1,"\\" c"]}'


def test_ours_is_right_about_the_first_cases() -> None:
    engine = ours()
    for trial in list(case_trials())[:10]:
        assert judged(engine.ask(trial), trial) == ["right"], trial.name


@pytest.mark.parametrize("python", [sys.executable, "nowhere/python"])
def test_a_peer_that_is_not_there_is_none(python: str) -> None:
    assert Path(python).name.startswith("python")
    assert peer("xgrammar", python) is None
