"""How a turn's cost grows: with its steps, and with what is remembered of the conversation.

Edge: drives an agent. The real model is asked and timed; its plans and arguments are then replaced
by ones that make the turn as long as wanted, so that a small model cannot end it early.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bench.answers import Failed
from bench.measures import Measure, Table
from goliath_local import create_agent, define_tool, in_memory
from goliath_local.bench import Listener, median
from goliath_local.model import Stage
from goliath_local.records import Exchange, MemoryState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.ours import Ours
    from bench.run import Run
    from goliath_local.bench import Heard
    from goliath_local.model import Reply, Request

SECTION = "growth"
_SENTENCE = "The user keeps a garden, two cats and a list of things to mend in the house. "


class Steered:
    """Passes every request on, and replaces the replies that decide how long the turn is."""

    def __init__(self, listener: Listener, steps: int) -> None:
        self._listener, self._steps, self._done = listener, steps, 0

    def __getattr__(self, name: str) -> Any:
        """Offer what else the model offers."""
        return getattr(self._listener, name)

    def capabilities(self) -> Any:
        """Return the model's."""
        return self._listener.capabilities()

    def count_text(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._listener.count_text(text)

    def count_request(self, request: Request) -> Any:
        """Return the tokens of a prompt."""
        return self._listener.count_request(request)

    async def generate(self, request: Request) -> Reply:
        """Ask the model, and steer."""
        reply = await self._listener.generate(request)
        if request.stage is Stage.CONDUCTOR:
            return replace(reply, text=json.dumps(self._plan()), choices=())
        if request.stage is Stage.WORKER:
            return replace(reply, text=json.dumps({"title": f"task number {self._done}"}))
        return reply

    def _plan(self) -> dict[str, str]:
        self._done += 1
        if self._done > self._steps:
            return {"kind": "answer", "brief": "Say what was done."}
        return {"kind": "tool", "tool": "create_task", "brief": f"Add task number {self._done}."}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a measured turn."""

    turn_steps: int
    memory_tokens: int
    index: int
    seconds: float
    evaluated_tokens: int
    prompt_tokens: int
    completion_tokens: int

    def row(self) -> dict[str, object]:
        """Return the step with units in its names."""
        return {
            "turn_steps": self.turn_steps,
            "memory_tokens": self.memory_tokens,
            "step": self.index,
            "step_s": round(self.seconds, 4),
            "evaluated_tokens": self.evaluated_tokens,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
        }


def measure(run: Run) -> Iterator[Measure]:
    """Yield the figures of growth."""
    longest = max(run.amounts.growth_steps)
    steps: list[Step] = []
    with run.ours(on_disk=False) as ours:
        _play(ours, steps=2, most=longest, memory_tokens=0)  # heads and grammars
        for count in run.amounts.growth_steps:
            steps += _play(ours, steps=count, most=longest, memory_tokens=0)
        remembered = [
            step
            for tokens in run.amounts.memory_tokens
            for step in _play(ours, steps=1, most=longest, memory_tokens=tokens)
        ]
    run.tables.append(Table(name="growth", rows=tuple(s.row() for s in (*steps, *remembered))))
    yield from _by_steps(steps, longest)
    yield from _by_memory(remembered)


def steps_of(heard: Sequence[Heard], *, turn_steps: int, memory_tokens: int) -> list[Step]:
    """Return the steps of one turn: each begins with a plan; the answer belongs to the last."""
    groups: list[list[Heard]] = []
    for one in heard:
        if one.request.stage is Stage.CONDUCTOR or not groups:
            groups.append([])
        groups[-1].append(one)
    return [
        Step(
            turn_steps=turn_steps,
            memory_tokens=memory_tokens,
            index=index,
            seconds=sum(one.seconds for one in group),
            evaluated_tokens=sum(one.reply.usage.evaluated_tokens for one in group),
            prompt_tokens=sum(one.reply.usage.prompt_tokens for one in group),
            completion_tokens=sum(one.reply.usage.completion_tokens for one in group),
        )
        for index, group in enumerate(groups, start=1)
    ]


def _by_steps(steps: Sequence[Step], longest: int) -> Iterator[Measure]:
    for count in sorted({step.turn_steps for step in steps}):
        whole = sum(step.seconds for step in steps if step.turn_steps == count)
        name = f"a turn of {count} steps"
        yield Measure(section=SECTION, name=name, unit="s", samples=(whole,))
    tool_steps = [s for s in steps if s.turn_steps == longest and s.index <= longest]
    for name, some in (("first", tool_steps[:2]), ("last", tool_steps[-2:])):
        yield Measure(
            section=SECTION,
            name=f"tokens evaluated in the {name} two steps of {longest}",
            unit="tokens",
            samples=tuple(float(step.evaluated_tokens) for step in some),
        )
    evaluated = [float(step.evaluated_tokens) for step in tool_steps]
    name = "tokens evaluated a step"
    yield Measure(section=SECTION, name=name, unit="tokens", samples=tuple(evaluated))
    shares = [step.evaluated_tokens / max(step.prompt_tokens, 1) for step in tool_steps]
    name = "tokens evaluated over tokens of the prompts, last step"
    yield Measure(section=SECTION, name=name, unit="ratio", samples=(median(shares[-1:]),))


def _by_memory(steps: Sequence[Step]) -> Iterator[Measure]:
    for tokens in sorted({step.memory_tokens for step in steps}):
        here = [step for step in steps if step.memory_tokens == tokens]
        for name, unit, value in (
            ("seconds", "s", sum(step.seconds for step in here)),
            ("tokens evaluated", "tokens", sum(step.evaluated_tokens for step in here)),
        ):
            full = f"a one-step turn with {tokens} tokens of memory: {name}"
            yield Measure(section=SECTION, name=full, unit=unit, samples=(float(value),))


def _play(ours: Ours, *, steps: int, most: int, memory_tokens: int) -> list[Step]:
    listener = Listener(ours.model)
    memory = in_memory()
    agent = create_agent(
        model=Steered(listener, steps),
        tools=[_create_task()],
        memory=memory,
        max_steps=most + 1,
        fallback=lambda _request: {"text": "Handed over."},
    )

    async def play() -> None:
        await memory.save(_remembered(ours, memory_tokens))
        # "And" says that there may be several wishes: after one change alone a turn would be over.
        await agent.run(f"Add {steps} tasks to my list, and more. Run {time.perf_counter_ns()}.")

    asyncio.run(play())
    # What the scribe folds away afterwards is not a step that the user waits for.
    heard = [one for one in listener.taken() if one.request.stage is not Stage.SCRIBE]
    called = sum(one.request.stage is Stage.WORKER for one in heard)
    if called != steps:
        message = f"a turn of {steps} steps ended after {called}: the harness closes it earlier"
        raise Failed(message)
    return steps_of(heard, turn_steps=steps, memory_tokens=memory_tokens)


def _create_task() -> Any:
    return define_tool(
        name="create_task",
        description="Put a new task on the list.",
        parameters={
            "type": "object",
            "properties": {"title": {"type": "string", "description": "what is to be done"}},
            "required": ["title"],
            "additionalProperties": False,
        },
        execute=lambda args, _context: {"ok": True, "title": args["title"]},
        writes=True,
    )


def _remembered(ours: Ours, tokens: int) -> MemoryState:
    """Return a memory of about so many tokens: half brief, half recent exchanges."""
    if not tokens:
        return MemoryState()
    sentence = ours.model.count_text(_SENTENCE)
    half = max(round(tokens / 2 / sentence), 1)
    exchange = Exchange(ask="What do you know of me?", answer=_SENTENCE * half, at=0)
    return MemoryState(summary=_SENTENCE * half, recent=(exchange,))
