"""The plain loop that the harness is measured against.

Edge: drives a model. All tools stand in the prompt, each reply is one JSON object under one
schema, results come back as user turns, until the model answers or the steps are used up. No
stages, no judge, no examples: what anyone would write first.
"""

from __future__ import annotations

import copy
import inspect
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.cancel import CancelToken
from goliath_local.errors import ContextFull, InvalidValue
from goliath_local.evals.report import Attempt, FixtureReport, Report
from goliath_local.evals.samples import SAMPLE_TOOLSET
from goliath_local.evals.score import Fault, Problem, TurnOutcome, turn_problems, verdict
from goliath_local.evals.simulator import Store
from goliath_local.model import ExampleTurn, Part, Request, Stage
from goliath_local.records import StepRecord
from goliath_local.tools import ResultBudget, ToolContext, check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goliath_local.evals.fixture import Fixture
    from goliath_local.model import Model, Reply
    from goliath_local.tools import Tool

MAX_STEPS = 5
_REPLY_TOKENS = 384
_RULES = (
    "You are a careful assistant with tools. Reply with one JSON object and nothing else: "
    '{"tool": name, "arguments": {…}} to use a tool, {"answer": text} to answer the user, '
    'or {"escalate": reason} when the request is beyond you and the tools.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLoop:
    """A conversation with the plain loop."""

    model: Model
    tools: tuple[Tool, ...]
    facts: Mapping[str, str] | None = None
    history: tuple[ExampleTurn, ...] = ()

    async def run(self, ask: str) -> tuple[TurnOutcome, PlainLoop]:
        """Play one ask; return how it went and the loop with the turn in its history."""
        steps: list[StepRecord] = []
        history, user = self.history, ask
        for index in range(MAX_STEPS):
            try:
                reply = await self.model.generate(self._request(history, user))
            except ContextFull:
                return _handed_over(steps, "context-budget"), self
            said = _read(reply)
            history = (*history, ExampleTurn(user=user, assistant=reply.text))
            if "answer" in said:
                outcome = TurnOutcome(
                    text=str(said["answer"]),
                    handled_by="device",
                    steps=tuple(steps),
                    is_cut=reply.finish == "length",
                )
                return outcome, replace(self, history=history)
            if "tool" not in said:
                return _handed_over(steps, "conductor-asked"), replace(self, history=history)
            step = await self._step(index, said)
            steps.append(step)
            user = f"Result of {step.tool}: {step.result}"
        return _handed_over(steps, "too-many-steps"), self

    def _request(self, history: tuple[ExampleTurn, ...], user: str) -> Request:
        menu = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters.json),
            }
            for tool in self.tools
        ]
        system = f"{_RULES}\n\nTools:\n" + "\n".join(json.dumps(entry) for entry in menu)
        facts = "".join(f"\n{key}: {value}" for key, value in (self.facts or {}).items())
        return Request(
            stage=Stage.CONDUCTOR,
            system=(
                Part(name="rules", text=system),
                Part(name="facts", text=f"\n\nKnown:{facts}" if facts else ""),
            ),
            examples=history,
            user=(Part(name="ask", text=user),),
            schema=reply_schema(self.tools),
            max_tokens=_REPLY_TOKENS,
        )

    async def _step(self, index: int, said: Mapping[str, Any]) -> StepRecord:
        tool = next(tool for tool in self.tools if tool.name == said["tool"])
        args = dict(said["arguments"])
        record = StepRecord(
            index=index, kind="tool", brief="", tool=tool.name, input=args, writes=tool.writes
        )
        try:
            output = tool.execute(check_arguments(tool, args), _context())
            if inspect.isawaitable(output):
                output = await output
        except InvalidValue as error:
            return replace(record, result=str(error), failed=True)
        except Exception as error:  # noqa: BLE001 - a tool's refusal is the model's to read
            return replace(record, result=f"failed: {error}", failed=True)
        return replace(record, result=json.dumps(output, ensure_ascii=False), output=output)


async def run_baseline(
    model: Model,
    fixtures: Sequence[Fixture],
    *,
    runs: int = 1,
    toolsets: Mapping[str, Any],
    on_attempt: Callable[[Fixture, Attempt], None] | None = None,
) -> Report:
    """Play the fixtures with the plain loop and report, as `run_evals` does for the harness."""
    reports = []
    for fixture in fixtures:
        attempts = []
        for run in range(1, runs + 1):
            attempts.append(await _attempt(model, fixture, run=run, toolsets=toolsets))
            if on_attempt is not None:
                on_attempt(fixture, attempts[-1])
        reports.append(FixtureReport(id=fixture.id, kind=fixture.kind, attempts=tuple(attempts)))
    return Report(fixtures=tuple(reports))


async def _attempt(
    model: Model, fixture: Fixture, *, run: int, toolsets: Mapping[str, Any]
) -> Attempt:
    store = Store(toolsets[fixture.toolset] if fixture.toolset else SAMPLE_TOOLSET)
    loop = PlainLoop(model=model, tools=tuple(store.tools()), facts=fixture.facts)
    outcomes: list[TurnOutcome] = []
    problems: list[Problem] = []
    start = time.perf_counter()
    try:
        for turn in fixture.turns:
            before = copy.deepcopy(store.state)
            outcome, loop = await loop.run(turn.ask)
            outcome = replace(outcome, state_before=before, state_after=copy.deepcopy(store.state))
            outcomes.append(outcome)
            problems += turn_problems(turn, outcome)
    except Exception as error:  # noqa: BLE001 - whatever an attempt raises is that attempt's fault
        problems = [Problem(fault=Fault.ERROR, text=f"{type(error).__name__}: {error}")]
    return Attempt(
        run=run,
        outcomes=tuple(outcomes),
        problems=tuple(problems),
        verdict=verdict(fixture.turns, outcomes, problems),
        ms=(time.perf_counter() - start) * 1000,
    )


def reply_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the schema of one reply: a call of one of the tools, an answer, or a hand-over."""
    calls = [
        _closed({"tool": {"const": tool.name}, "arguments": _closed_schema(tool)})
        for tool in tools
    ]
    text = {"type": "string", "maxLength": 600}
    return {"anyOf": [*calls, _closed({"answer": text}), _closed({"escalate": text})]}


def _closed_schema(tool: Tool) -> dict[str, Any]:
    return {"type": "object", **tool.parameters.json, "additionalProperties": False}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _read(reply: Reply) -> Mapping[str, Any]:
    try:
        said = json.loads(reply.text)
    except ValueError:
        return {"answer": ""}
    return said if isinstance(said, dict) else {"answer": ""}


def _handed_over(steps: Sequence[StepRecord], reason: str) -> TurnOutcome:
    return TurnOutcome(
        text="Somebody else takes care of this.",
        handled_by="cloud",
        steps=tuple(steps),
        reasons=(reason,),
    )


def _context() -> ToolContext:
    return ToolContext(
        conversation_id=None,
        context=None,
        cancel=CancelToken(),
        result_budget=ResultBudget(max_tokens=800, count_tokens=len),
        steps=(),
        recent=(),
    )
