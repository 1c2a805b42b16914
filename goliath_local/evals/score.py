"""What was wrong with an attempt; nothing means it passed.

Pure. Problems come in a fixed order and carry a kind, so that a report can count them apart:
a wrong call is another fault than a right call with an invented argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from goliath_local.evals.match import accepts, plain_text, state_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goliath_local.evals.fixture import ExpectedCall, ExpectedTurn
    from goliath_local.records import Place, StepRecord


class Fault(StrEnum):
    """What kind of wrong a problem is."""

    ERROR = "error"
    PLACE = "place"
    NEEDLESS_CALL = "needless call"
    WRONG_CALL = "wrong call"
    ARGUMENT = "argument"
    ANSWER = "answer"
    REASON = "reason"
    STORE = "store"


class Verdict(StrEnum):
    """How an attempt ended; exactly one of these."""

    RIGHT_ON_DEVICE = "right on device"
    RIGHT_HAND_OVER = "right hand-over"
    WRONG_BUT_CONFIDENT = "wrong but confident"
    """Finished on the device with something wrong, and nothing said so: the worst kind."""

    GAVE_UP = "gave up needlessly"
    WRONG_HAND_OVER = "wrong hand-over"
    """Rightly handed over, but with a call or a change on the way that nobody asked for."""

    CUT = "cut"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One reason why an attempt failed."""

    fault: Fault
    text: str
    turn: int = 0
    """Which turn of the conversation, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """What an agent made of one ask."""

    text: str
    handled_by: Place
    steps: tuple[StepRecord, ...] = ()
    reasons: tuple[str, ...] = ()
    """Reasons of the turn's escalate events, in order."""

    best_effort: bool = False
    is_cut: bool = False
    """The answer ended by the output cap."""

    state_before: Any = None
    state_after: Any = None
    signals: Mapping[str, float] = field(default_factory=dict)
    """How sure the model was of this turn (`confidence.turn_signals`)."""

    @property
    def tool_steps(self) -> tuple[StepRecord, ...]:
        """The steps that tried a tool; cached, skipped and failed ones too."""
        return tuple(step for step in self.steps if step.kind == "tool")

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools tried, in order."""
        return tuple(step.tool or "" for step in self.tool_steps)


def turn_problems(expected: ExpectedTurn, got: TurnOutcome) -> tuple[Problem, ...]:
    """Return what was wrong with one turn, in the order of the rules."""
    found = [*_place(expected, got), *_sequence(expected, got)]
    if got.handled_by == "device":
        found += [*_arguments(expected, got), *_answer(expected, got)]
    last_reason = got.reasons[-1] if got.reasons else None
    if expected.expected_reason and expected.expected_reason != last_reason:
        text = f"ended for {last_reason or 'no reason'}, not {expected.expected_reason}"
        found.append(Problem(fault=Fault.REASON, text=text))
    if not got.text.strip() and not expected.expected_reason:
        found.append(Problem(fault=Fault.ANSWER, text="empty answer"))
    if expected.state_after is not None:
        problems = state_problems(
            expected.state_after, before=got.state_before, after=got.state_after
        )
        found += [Problem(fault=Fault.STORE, text=text) for text in problems]
    return tuple(found)


def verdict(
    expected: Sequence[ExpectedTurn],
    outcomes: Sequence[TurnOutcome],
    problems: Sequence[Problem],
) -> Verdict:
    """Return how the attempt ended, from all its turns."""
    if any(problem.fault is Fault.ERROR for problem in problems):
        return Verdict.ERROR
    handed_over = any(outcome.handled_by == "cloud" for outcome in outcomes)
    if not problems:
        return Verdict.RIGHT_HAND_OVER if handed_over else Verdict.RIGHT_ON_DEVICE
    if any(outcome.is_cut for outcome in outcomes):
        return Verdict.CUT
    gave_up = any(
        (outcome.handled_by == "cloud" and turn.escalation == "forbidden") or outcome.best_effort
        for turn, outcome in zip(expected, outcomes, strict=False)
    )
    if gave_up:
        return Verdict.GAVE_UP
    return Verdict.WRONG_HAND_OVER if handed_over else Verdict.WRONG_BUT_CONFIDENT


def _place(expected: ExpectedTurn, got: TurnOutcome) -> Iterator[Problem]:
    if expected.escalation == "forbidden" and got.handled_by == "cloud":
        why = f" ({got.reasons[-1]})" if got.reasons else ""
        yield Problem(fault=Fault.PLACE, text=f"handed over{why}")
    if expected.escalation == "expected" and got.handled_by == "device":
        yield Problem(fault=Fault.PLACE, text="finished on device, should be handed over")


def _sequence(expected: ExpectedTurn, got: TurnOutcome) -> Iterator[Problem]:
    if got.tools in expected.sequences:
        return
    is_needless = not expected.tools and bool(got.tools)
    yield Problem(
        fault=Fault.NEEDLESS_CALL if is_needless else Fault.WRONG_CALL,
        text=f"tools {_listed(got.tools)}, expected {_listed(expected.tools)}",
    )


def _arguments(expected: ExpectedTurn, got: TurnOutcome) -> Iterator[Problem]:
    used: dict[str, int] = {}
    by_tool: dict[str, list[ExpectedCall]] = {}
    for call in expected.args:
        by_tool.setdefault(call.tool, []).append(call)
    for step in got.tool_steps:
        name = step.tool or ""
        n = used[name] = used.get(name, -1) + 1
        if n < len(by_tool.get(name, ())):
            for text in _call_problems(by_tool[name][n], step):
                yield Problem(fault=Fault.ARGUMENT, text=text)


def _call_problems(expected: ExpectedCall, step: StepRecord) -> Iterator[str]:
    if expected.missing:
        if step.skip_reason != "missing":
            yield f"{step.tool} ran without {', '.join(expected.missing)} being said"
        return
    args: Mapping[str, Any] = step.input or {}
    for name, match in (expected.match or {}).items():
        if not accepts(match, args.get(name)):
            yield f"{step.tool}.{name} is {args.get(name)!r}"


def _answer(expected: ExpectedTurn, got: TurnOutcome) -> Iterator[Problem]:
    answer = plain_text(got.text)
    for one_of in expected.mentions:
        if not any(plain_text(text) in answer for text in one_of):
            yield Problem(fault=Fault.ANSWER, text=f'answer lacks "{one_of[0]}"')
    for text in expected.forbids:
        if plain_text(text) in answer:
            yield Problem(fault=Fault.ANSWER, text=f'answer has "{text}"')


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"
