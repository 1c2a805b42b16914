"""Worked examples, as turns of the chat before the real one.

Pure, over the package's own file. Only the conductor sees them. Each step of an example is one
turn: what the conductor would read at that point, and the plan that is right there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from goliath_local.errors import ConfigError
from goliath_local.model import ExampleTurn
from goliath_local.prompts.log import changes_made, log_line
from goliath_local.prompts.render import render
from goliath_local.records import Json, StepRecord

_STEP_KEYS = {"why", "tool", "brief", "input", "result", "writes", "answer", "escalate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleStep:
    """One decision of an example: a tool with its brief, or the answer, or handing over."""

    kind: str
    brief: str
    tool: str | None = None
    why: str | None = None
    input: dict[str, Json] | None = None
    result: str = ""
    writes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked plan."""

    ask: str
    steps: tuple[ExampleStep, ...]
    tools: tuple[str, ...] = ()
    """Named in the example's own text when they are not on the agent's menu."""


def read_example(source: Mapping[str, Any]) -> Example:
    """Return the example an application wrote: `ask` and `steps`.

    A step is `{tool, brief}`, optionally with `why`, `input` and `result`, or a closing `{answer}`
    or `{escalate}`.

    Raises:
        ConfigError: it is not of this form.
    """
    ask, steps = source.get("ask"), source.get("steps")
    if not isinstance(ask, str) or not isinstance(steps, Sequence) or not steps:
        message = f"An example needs an ask and a list of steps, not {dict(source)!r}."
        raise ConfigError(message)
    tools = tuple(str(name) for name in source.get("tools", ()))
    return Example(ask=ask, steps=tuple(_read_step(ask, step) for step in steps), tools=tools)


@cache
def built_in_examples() -> tuple[Example, ...]:
    """Return the package's own examples, the most useful first."""
    source = files("goliath_local.prompts") / "texts" / "examples.json"
    return tuple(read_example(one) for one in json.loads(source.read_text(encoding="utf-8")))


def built_in_turns(
    *, max_steps: int, most_tokens: int, count: Callable[[str], int]
) -> tuple[ExampleTurn, ...]:
    """Return the turns of the package's own examples, whole examples as far as the tokens go."""
    kept: list[ExampleTurn] = []
    left = most_tokens
    for example in built_in_examples():
        turns = example_turns(example, max_steps=max_steps)
        left -= sum(count(turn.user) + count(turn.assistant) for turn in turns)
        if left < 0:
            break
        kept += turns
    return tuple(kept)


def example_turns(example: Example, *, max_steps: int) -> tuple[ExampleTurn, ...]:
    """Return the example's turns, in the form in which the conductor is really asked."""
    return tuple(
        ExampleTurn(
            user=_user(example, index, max_steps=max_steps),
            assistant=_plan(step),
        )
        for index, step in enumerate(example.steps)
    )


def _read_step(ask: str, step: Any) -> ExampleStep:
    if not isinstance(step, Mapping) or set(step) - _STEP_KEYS:
        message = f"A step of example {ask!r} has to be {{tool, brief}} or {{answer}}: {step!r}."
        raise ConfigError(message)
    why = step.get("why")
    for kind in ("answer", "escalate"):
        if isinstance(step.get(kind), str):
            return ExampleStep(kind=kind, brief=step[kind], why=why)
    if not isinstance(step.get("tool"), str) or not isinstance(step.get("brief"), str):
        message = f"A step of example {ask!r} needs tool and brief, or answer: {dict(step)!r}."
        raise ConfigError(message)
    return ExampleStep(
        kind="tool",
        tool=step["tool"],
        brief=step["brief"],
        why=why,
        input=step.get("input"),
        result=str(step.get("result", "")),
        writes=bool(step.get("writes", False)),
    )


def _user(example: Example, index: int, *, max_steps: int) -> str:
    parts = []
    if example.tools:
        parts.append(render("conductor.example-tools", names=", ".join(example.tools)))
    if index:
        done = [_record(at, step) for at, step in enumerate(example.steps[:index])]
        parts.append("\n".join([render("shared.log"), *(log_line(step) for step in done)]))
        parts += filter(None, [changes_made(done)])
    parts += [
        render("conductor.counter", number=index + 1, max_steps=max_steps),
        render("shared.ask", ask=example.ask) + "\n" + render("conductor.choose"),
    ]
    return "\n\n".join(parts)


def _record(index: int, step: ExampleStep) -> StepRecord:
    return StepRecord(
        index=index,
        kind="tool",
        brief=step.brief,
        tool=step.tool,
        input=step.input or {},
        result=step.result,
        writes=step.writes,
    )


def _plan(step: ExampleStep) -> str:
    plan = {"why": step.why, "kind": step.kind, "tool": step.tool, "brief": step.brief}
    kept = {key: value for key, value in plan.items() if value is not None}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
