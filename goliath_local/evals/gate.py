"""Whether an eval is good enough: against a figure, or against what was accepted before.

Pure. Against a record the question is not whether figures fell but whether they fell beyond
chance: only fixtures that changed sides count, and the fall must be unlikely (one-sided sign
test) before the gate closes.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from goliath_local.errors import ConfigError
from goliath_local.evals.compare import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEAST_P = 0.05
"""A fall that chance alone gives less often than this closes the gate: 5 broken and none fixed
do (p = 0.031), 4 and none do not (0.063)."""

_EXPRESSION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*([0-9]*\.?[0-9]+)\s*(%?)\s*")
_COMPARES: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureGate:
    """A figure and its bound, `pass>=0.8`."""

    figure: str
    sign: str
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Whether a gate is open, and why."""

    name: str
    is_met: bool
    text: str


def read_figure_gate(text: str) -> FigureGate | None:
    """Return the gate that an expression such as `pass>=0.8` or `confident<=8%` states.

    None where it is no expression, and so the name of a record.
    """
    found = _EXPRESSION.fullmatch(text)
    if found is None:
        return None
    name, sign, number, percent = found.groups()
    return FigureGate(figure=name, sign=sign, bound=float(number) / (100 if percent else 1))


def judge_figure(gate: FigureGate, figures: Mapping[str, float]) -> GateResult:
    """Return whether the figure keeps its bound.

    Raises:
        ConfigError: there is no such figure.
    """
    if gate.figure not in figures:
        msg = f"--gate: there is no figure {gate.figure!r}. There are: {', '.join(figures)}."
        raise ConfigError(msg)
    value = figures[gate.figure]
    name = f"{gate.figure}{gate.sign}{gate.bound:g}"
    is_met = _COMPARES[gate.sign](value, gate.bound)
    return GateResult(name=name, is_met=is_met, text=f"{gate.figure} is {value:.3g}")


def judge_paired(name: str, before: Mapping[str, bool], after: Mapping[str, bool]) -> GateResult:
    """Return whether what passed before still does, chance allowed for.

    Args:
        name: of the gate.
        before: whether each fixture passed in the accepted record, by id.
        after: the same of the new run.
    """
    changed = compare(before, after)
    fixed, broken = len(changed.fixed), len(changed.broken)
    shared = changed.same + fixed + broken
    if not shared:
        return GateResult(name=name, is_met=False, text="no fixture of the record was played")
    p_value = fall_p(fixed, broken)
    text = f"{fixed} fixed, {broken} broken, {changed.same} same, p = {p_value:.3f} one-sided"
    if changed.only_before:
        text += f", {len(changed.only_before)} of the record not played"
    if changed.broken:
        text += f"; broken: {', '.join(changed.broken)}"
    return GateResult(name=name, is_met=p_value >= LEAST_P, text=text)


def judge_none(name: str, found: int) -> GateResult:
    """Return whether there is none of something that must not be."""
    return GateResult(name=name, is_met=found == 0, text=f"{found}, has to be 0")


def fall_p(fixed: int, broken: int) -> float:
    """Return how often chance alone breaks this many or more of the changed fixtures."""
    changed = fixed + broken
    return float(sum(comb(changed, k) for k in range(broken, changed + 1)) / 2**changed)


def format_gates(results: tuple[GateResult, ...]) -> str:
    """Return a line for every gate."""
    width = max((len(result.name) for result in results), default=0)
    return "\n".join(
        f"gate {result.name:<{width}}  {'met' if result.is_met else 'NOT MET'}  {result.text}"
        for result in results
    )
