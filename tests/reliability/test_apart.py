"""Many conversations at once keep their words to themselves (L1): every talk has a secret."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import os
import random
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local import create_agent, define_tool
from goliath_local.engine import EngineSettings, load_model
from goliath_local.memory import sqlite_memory
from goliath_local.model import Reply, Request, Stage
from goliath_local.records import to_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local import RunResult

TURNS = int(os.environ.get("GOLIATH_TEST_TURNS", "20"))
"""Turns of each of the fifty conversations; the Night lever."""

ESCALATES_EACH = 3


def words_in(text: str) -> list[str]:
    return re.findall(r"SECRET-\w+", text)


def talks_in(text: str) -> set[str]:
    return set(re.findall(r"talk-\d+", text))


def secret_of(talk: str) -> str:
    return f"SECRET-{random.Random(talk).getrandbits(40):x}"


def ask_of(talk: str, turn: int) -> str:
    """Only the first ask holds the word: what comes later was carried on from turn to turn."""
    told = f" My word is {secret_of(talk)}." if turn == 0 else ""
    return f"In {talk}, turn {turn}:{told} What is my word?"


def all_of(request: Request) -> str:
    examples = "".join(turn.user + turn.assistant for turn in request.examples)
    return request.system_text + examples + request.user_text


class Parrot:
    """Says the last secret of its prompt, after others had time to come in between."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self._chance = random.Random(0)

    async def generate(self, request: Request) -> Reply:
        prompt = all_of(request)
        self.prompts.append(prompt)
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        word = (words_in(prompt) or ["no word"])[-1]
        text = f"It is {word}."
        if request.stage is Stage.CONDUCTOR:
            turn = int(re.findall(r"turn (\d+)", prompt)[-1])
            kind = "escalate" if turn % ESCALATES_EACH == 2 else "answer"
            text = json.dumps({"why": text, "kind": kind, "brief": f"tell {word}"})
        if request.on_text is not None:
            request.on_text(text)
        return Reply(text=text)


def faults_in(where: str, talk: str, text: str) -> list[str]:
    """Return what in the text is not of this talk, and that its own word is missing."""
    found = set(words_in(text)) ^ {secret_of(talk)} | talks_in(text) - {talk}
    return [f"{where} of {talk}: {word}" for word in sorted(found)]


async def talk_at_once(conversations: int, turns: int, store: Callable[[str | None], Any]) -> Any:
    """Run all turns of all conversations at once; return the faults and how much was handed over.

    The turns of one conversation come in order, among those of the others at random.
    """
    model, payloads, ended = Parrot(), list[str](), defaultdict[str, list[int]](list)

    async def elsewhere(request: Any) -> dict[str, str]:
        payload = json.dumps(to_json(request))
        payloads.append(payload)
        await asyncio.sleep(0)
        return {"text": f"From elsewhere: {(words_in(payload) or ['no word'])[-1]}."}

    look = define_tool(name="look", description="Look around.", execute=lambda *_: "nothing")
    agent = create_agent(model=model, tools=[look], memory=store, fallback=elsewhere)

    async def run(talk: str, turn: int) -> tuple[str, RunResult]:
        result = await agent.run(ask_of(talk, turn), conversation_id=talk)
        ended[talk].append(turn)
        return talk, result

    talks = [f"talk-{number}" for number in range(conversations)]
    order = [talk for talk in talks for _ in range(turns)]
    random.Random(1).shuffle(order)
    numbers = {talk: itertools.count() for talk in talks}
    results = await asyncio.gather(*(run(talk, next(numbers[talk])) for talk in order))

    faults = [f"{talk} ended in the order {ended[talk]}" for talk in talks
              if ended[talk] != list(range(turns))]  # fmt: skip
    for text in (*model.prompts, *payloads):
        faults += faults_in("a prompt or payload", min(talks_in(text), default="nowhere"), text)
    for talk, result in results:
        faults += faults_in("the answer", talk, result.text)
        faults += faults_in("the trace", talk, str(result.trace))
    for talk in talks:
        kept = await store(talk).load()
        faults += faults_in("the memory", talk, json.dumps(to_json(kept)))
        last = [int(re.findall(r"turn (\d+)", each.ask)[-1]) for each in kept.recent]
        if not last or last != list(range(turns))[-len(last) :]:
            faults.append(f"{talk} keeps the turns {last}")
    return faults, len(results), len(payloads)


@pytest.mark.slow
async def test_no_word_of_another_conversation_in_a_thousand_turns_at_once(tmp_path: Path):
    store = sqlite_memory(tmp_path / "memory.db")
    faults, turns, payloads = await talk_at_once(50, TURNS, store)
    assert faults == []
    assert (turns, payloads) == (50 * TURNS, 50 * len(range(2, TURNS, ESCALATES_EACH)))


async def test_no_word_of_another_conversation_in_thirty_turns_at_once(tmp_path: Path):
    store = sqlite_memory(tmp_path / "memory.db")
    assert await talk_at_once(6, 5, store) == ([], 30, 6)


async def test_a_memory_that_all_conversations_share_would_be_noticed(tmp_path: Path):
    store = sqlite_memory(tmp_path / "memory.db")

    def shared(talk: str | None) -> Any:
        return store("one")

    faults, _, _ = await talk_at_once(3, 4, shared)
    assert any("prompt" in fault for fault in faults)
    assert any("memory" in fault for fault in faults)


# On real weights: with the cache reused, and without


class Brief:
    """A model whose replies are cut short, and what it was asked and said."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.capabilities, self.count_text = model.capabilities, model.count_text
        self.count_request = model.count_request
        self.said: list[tuple[str, str]] = []
        self.evaluated = Counter[str]()

    async def generate(self, request: Request) -> Reply:
        short = dataclasses.replace(request, max_tokens=min(request.max_tokens, 8))
        reply: Reply = await self._model.generate(short)
        self.said.append((all_of(request), reply.text))
        self.evaluated["tokens"] += reply.usage.evaluated_tokens
        return reply


@pytest.mark.model
@pytest.mark.slow
async def test_texts_are_equal_with_the_cache_reused_and_without(
    weights: Callable[[str], Path], tmp_path: Path
):
    order = [talk for talk in ("talk-0", "talk-1", "talk-2", "talk-3") for _ in range(4)]
    random.Random(2).shuffle(order)

    async def replies(*, fresh: bool) -> Brief:
        settings = EngineSettings(deterministic=True, seed=0, fresh=fresh)
        with load_model(weights("smollm2-135m"), settings=settings) as loaded:
            model, turns = Brief(loaded), Counter[str]()
            agent = create_agent(
                model=model,
                memory=sqlite_memory(tmp_path / f"{fresh}.db"),
                instructions="Be brief.",
                built_in_examples=False,  # without the cache they would be read every time
            )
            for talk in order:
                await agent.run(ask_of(talk, turns[talk]), conversation_id=talk)
                turns[talk] += 1
        return model

    warm, cold = await replies(fresh=False), await replies(fresh=True)
    assert warm.said == cold.said
    assert len(warm.said) >= len(order)
    assert warm.evaluated["tokens"] < cold.evaluated["tokens"]
    for prompt, text in warm.said:
        (talk,) = talks_in(prompt)
        foreign = {secret_of(other) for other in order} - {secret_of(talk)}
        # A small model makes words up; what it may not have is the beginning of another's.
        beginnings = {secret[: len("SECRET-") + 4].casefold() for secret in foreign}
        said = f"{prompt}\n{text}".casefold()
        assert secret_of(talk).casefold() in said
        assert not [each for each in beginnings if each in said]
