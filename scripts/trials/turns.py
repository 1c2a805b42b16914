"""The turns of a soak: what is asked in which conversation, and which are told to stop.

Edge: runs turns on a model and appends to a journal what began and how it ended. Run as a
program, `python -m scripts.trials.turns`, it is the process that a soak kills.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goliath_local.agent import create_agent
from goliath_local.cancel import CancelToken
from goliath_local.errors import RunCancelled
from goliath_local.memory import sqlite_memory
from goliath_local.model import Reply
from goliath_local.tools import define_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goliath_local.agent import Agent
    from goliath_local.model import Model, Request

ANSWER = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}},
    "required": ["mood"],
}
_NOTE = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 12}},
    "required": ["word"],
    "additionalProperties": False,
}
AT_ONCE = 4
CANCELLED_SHARE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a soak does, known from its seed alone."""

    folder: Path
    model: str
    """Name of an installed model, or `fake`."""

    seed: int
    turns: int
    conversations: int

    def turn(self, number: int) -> tuple[str, float | None]:
        """Return the conversation of a turn, and after how many seconds it is cancelled."""
        chance = random.Random(f"{self.seed} {number}")
        conversation = f"c{chance.randrange(self.conversations)}"
        longest = 0.1 if self.model == "fake" else 3.0
        is_cancelled = chance.random() < CANCELLED_SHARE
        return conversation, chance.uniform(0, longest) if is_cancelled else None

    @property
    def database(self) -> Path:
        """The conversations' file."""
        return self.folder / "conversations.sqlite"

    @property
    def journal(self) -> Path:
        """What began and how it ended, a line each."""
        return self.folder / "journal.txt"


def words_of(journal: Path) -> Iterator[tuple[str, int, str]]:
    """Yield what is written in a journal: what happened, to which turn, in which conversation."""
    text = journal.read_text() if journal.exists() else ""
    for line in text.split("\n")[:-1]:
        what, number, conversation, *_ = line.split(" ", 3)
        yield what, int(number), conversation


class FakeModel:
    """A model that says anything the schema allows, after a moment."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    async def generate(self, request: Request) -> Reply:
        """Return a sentence of the schema's grammar, or a few words."""
        await asyncio.sleep(self._chance.uniform(0, 0.01))
        if request.schema is None:
            return Reply(text="They spoke of moods.")
        text = _sampled(json.dumps(request.schema), self._chance.randrange(50))
        return Reply(text=text)


def _sampled(schema: str, seed: int) -> str:
    from goliath_local.grammar import compile_schema, sample

    return sample(compile_schema(json.loads(schema)).rules, random.Random(seed), budget_bytes=60)


def open_model(plan: Plan) -> Any:
    """Load the model of the plan."""
    if plan.model == "fake":
        return FakeModel(plan.seed)
    from goliath_local.catalogue import find_card, installed_path
    from goliath_local.engine import EngineSettings, load_model

    card = find_card(plan.model)
    path = installed_path(card)
    if path is None:
        sys.exit(f"{plan.model} is not installed. Get it: goliath-local models pull {plan.model}")
    settings = EngineSettings(deterministic=True, snapshot_dir=plan.folder / "states")
    return load_model(path, name=plan.model, sha256=card.sha256, settings=settings)


def open_agent(plan: Plan, model: Model) -> Agent:
    """Return the agent of a soak: one reading and one writing tool, short answers."""
    tools = (
        define_tool(
            name="look", description="Look at the mood.", parameters=_NOTE, execute=_found
        ),
        define_tool(
            name="write",
            description="Write a mood down.",
            parameters=_NOTE,
            execute=_found,
            writes=True,
        ),
    )
    return create_agent(
        model=model,
        tools=tools,
        memory=sqlite_memory(plan.database),
        confirm=_yes,
        output_schema=ANSWER,
        max_steps=1,
        built_in_examples=False,
        instructions="You keep moods.",
        seed=plan.seed,
    )


def _found(_input: object, _context: object) -> str:
    return "three red pots"


def _yes(*_: object) -> bool:
    return True


class Runner:
    """Runs turns, several at once, and writes down what happens."""

    def __init__(self, plan: Plan, agent: Agent) -> None:
        self._plan, self._agent = plan, agent
        self._journal = os.open(plan.journal, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    async def run(self, numbers: list[int]) -> None:
        """Run these turns in order, several at once."""
        waiting = iter(numbers)
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work(waiting))

    async def _work(self, waiting: Iterator[int]) -> None:
        for number in waiting:
            conversation, cancel_after_s = self._plan.turn(number)
            self._say("began", number, conversation)
            ended = await self._turn(number, conversation, cancel_after_s)
            self._say(ended, number, conversation)

    async def _turn(self, number: int, conversation: str, cancel_after_s: float | None) -> str:
        token = CancelToken()
        timer = None
        if cancel_after_s is not None:
            timer = asyncio.get_running_loop().call_later(cancel_after_s, token.cancel)
        try:
            result = await self._agent.run(
                f"turn {number}: what is the mood?", conversation_id=conversation, cancel=token
            )
        except RunCancelled:
            return "cancelled"
        finally:
            if timer is not None:
                timer.cancel()
        if any(event.type == "memory-error" for event in result.trace):
            return "unsaved"
        return "ended" if result.text.strip() else f"silent {result.reason}"

    def _say(self, what: str, number: int, conversation: str) -> None:
        what, _, more = what.partition(" ")
        os.write(self._journal, f"{what} {number} {conversation} {more}\n".encode())


def main() -> None:
    """Run the turns that no journal speaks of yet."""
    told = json.loads(sys.argv[1])
    plan = Plan(**{**told, "folder": Path(told["folder"])})
    begun = {number for _, number, _ in words_of(plan.journal)}
    model = open_model(plan)
    runner = Runner(plan, open_agent(plan, model))
    asyncio.run(runner.run([number for number in range(plan.turns) if number not in begun]))


if __name__ == "__main__":
    main()
