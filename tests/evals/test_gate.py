"""Gates, by hand-made records: a regression closes them, chance does not."""

from __future__ import annotations

import pytest

from goliath_local.errors import ConfigError
from goliath_local.evals.gate import (
    FigureGate,
    fall_p,
    format_gates,
    judge_figure,
    judge_none,
    judge_paired,
    read_figure_gate,
)

BEFORE = {f"case-{n}": n < 18 for n in range(24)}
"""18 of 24 right."""


def changed(*, broken: int = 0, fixed: int = 0) -> dict[str, bool]:
    right = [name for name, passed in BEFORE.items() if passed]
    wrong = [name for name, passed in BEFORE.items() if not passed]
    return BEFORE | dict.fromkeys(right[:broken], False) | dict.fromkeys(wrong[:fixed], True)


@pytest.mark.parametrize(
    ("broken", "fixed", "is_met"),
    [(0, 0, True), (1, 0, True), (4, 0, True), (5, 0, False), (5, 1, True), (8, 1, False),
     (3, 3, True), (0, 6, True), (18, 6, False)],
)  # fmt: skip
def test_a_regression_closes_the_gate_and_chance_does_not(broken, fixed, is_met):
    result = judge_paired("dev", BEFORE, changed(broken=broken, fixed=fixed))
    assert result.is_met is is_met


def test_a_gate_names_what_broke():
    text = judge_paired("dev", BEFORE, changed(broken=2, fixed=1)).text
    assert "1 fixed, 2 broken, 21 same" in text
    assert text.endswith("broken: case-0, case-1")


def test_fixtures_that_were_not_played_are_counted_and_nothing_played_is_not_met():
    some = {name: BEFORE[name] for name in list(BEFORE)[:20]}
    assert "4 of the record not played" in judge_paired("dev", BEFORE, some).text
    assert not judge_paired("dev", BEFORE, {"new": True}).is_met


@pytest.mark.parametrize(
    ("fixed", "broken", "p_value"),
    [(0, 0, 1.0), (0, 1, 0.5), (0, 5, 1 / 32), (1, 1, 0.75), (3, 1, 15 / 16), (6, 0, 1.0)],
)
def test_the_p_value_is_the_upper_tail_of_a_fair_coin(fixed, broken, p_value):
    assert fall_p(fixed, broken) == pytest.approx(p_value)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("pass>=0.8", FigureGate(figure="pass", sign=">=", bound=0.8)),
        (" confident <= 8% ", FigureGate(figure="confident", sign="<=", bound=0.08)),
        ("seconds<10", FigureGate(figure="seconds", sign="<", bound=10.0)),
        ("results/dev.json", None),
        ("pass=0.8", None),
    ],
)
def test_an_expression_is_told_from_the_name_of_a_record(text, gate):
    assert read_figure_gate(text) == gate


def test_a_figure_at_its_bound_keeps_it_and_one_that_is_unknown_is_an_error():
    gate = FigureGate(figure="pass", sign=">=", bound=0.8)
    assert judge_figure(gate, {"pass": 0.8}).is_met
    assert not judge_figure(gate, {"pass": 0.79}).is_met
    with pytest.raises(ConfigError, match="There are: device"):
        judge_figure(gate, {"device": 1.0})


def test_what_must_not_be_is_counted():
    assert judge_none("invalid", 0).is_met
    assert not judge_none("invalid", 1).is_met


def test_gates_are_told_a_line_each():
    text = format_gates((judge_none("a", 0), judge_none("long", 2)))
    assert text.splitlines() == [
        "gate a     met  0, has to be 0",
        "gate long  NOT MET  2, has to be 0",
    ]
