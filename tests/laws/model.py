"""What every model that replies freely keeps, as a list of truths.

A law is an async function of a model. The scripted model only says what it is told, so it is held
to its script instead (`tests/test_testing.py`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ContextFull, RunCancelled
from goliath_local.model import CountingModel, Part, Request, Stage
from goliath_local.schema import declare

Law: TypeAlias = Callable[[Any], Awaitable[None]]

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["tool", "answer"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "brief": {"type": "string", "maxLength": 12},
    },
    "required": ["kind", "count", "brief"],
}


def ask(text: str = "Say hello.", **more: Any) -> Request:
    return Request(
        stage=Stage.ANSWER,
        system=(Part(name="instructions", text="Answer briefly."),),
        user=(Part(name="ask", text=text),),
        **{"max_tokens": 12, **more},
    )


async def an_equal_request_gets_an_equal_reply(model: Any) -> None:
    first, second = await model.generate(ask()), await model.generate(ask())
    assert (first.text, first.finish) == (second.text, second.finish)
    assert first.text.strip()


async def a_seed_repeats_a_drawn_reply(model: Any) -> None:
    drawn = ask("Tell me a story.", temperature=1.5, seed=11, max_tokens=16)
    first = await model.generate(drawn)
    assert (await model.generate(drawn)).text == first.text


async def a_reply_keeps_to_its_schema(model: Any) -> None:
    reply = await model.generate(ask(schema=SCHEMA, max_tokens=60))
    value = json.loads(reply.text)
    declare(SCHEMA).read(value)
    assert list(value) == ["kind", "count", "brief"]
    assert reply.finish == "stop"


async def a_reply_keeps_to_its_cap(model: Any) -> None:
    reply = await model.generate(ask("Count from one to one hundred.", max_tokens=5))
    assert reply.finish == "length"
    assert reply.usage.completion_tokens <= 5


async def streamed_pieces_are_the_reply(model: Any) -> None:
    pieces: list[str] = []
    reply = await model.generate(ask("Write an emoji.", on_text=pieces.append, max_tokens=20))
    assert "".join(pieces) == reply.text


async def a_cancelled_request_says_so_and_leaves_the_model_usable(model: Any) -> None:
    before = await model.generate(ask())
    token = CancelToken()
    stopping = ask(
        "Tell me a long story.",
        cancel=token,
        max_tokens=400,
        on_text=lambda _: token.cancel("enough"),
    )
    with pytest.raises(RunCancelled, match="enough"):
        await model.generate(stopping)
    with pytest.raises(RunCancelled):
        await model.generate(ask(cancel=token))
    assert (await model.generate(ask())).text == before.text


async def a_cancelled_task_leaves_the_model_usable(model: Any) -> None:
    before = await model.generate(ask())
    began = asyncio.Event()
    loop = asyncio.get_running_loop()
    story = ask(
        "Tell me a long story.",
        max_tokens=400,
        on_text=lambda _: loop.call_soon_threadsafe(began.set),
    )
    task = asyncio.create_task(model.generate(story))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await model.generate(ask())).text == before.text


async def replies_asked_for_at_once_are_those_asked_for_in_turn(model: Any) -> None:
    asked = [ask(f"Say the number {n}.", max_tokens=8) for n in range(4)]
    one_by_one = [(await model.generate(request)).text for request in asked]
    together = await asyncio.gather(*(model.generate(request) for request in asked))
    assert [reply.text for reply in together] == one_by_one


MODEL_LAWS: tuple[Law, ...] = (
    an_equal_request_gets_an_equal_reply,
    a_seed_repeats_a_drawn_reply,
    a_reply_keeps_to_its_schema,
    a_reply_keeps_to_its_cap,
    streamed_pieces_are_the_reply,
    a_cancelled_request_says_so_and_leaves_the_model_usable,
    a_cancelled_task_leaves_the_model_usable,
    replies_asked_for_at_once_are_those_asked_for_in_turn,
)


async def the_bill_is_what_is_evaluated(model: CountingModel) -> None:
    request = ask("How much is this?", max_tokens=2)
    bill = model.count_request(request)
    assert bill.total == sum(bill.by_part.values())
    assert bill.by_part["ask"] == model.count_text("How much is this?")
    reply = await model.generate(request)
    assert reply.usage.prompt_tokens == bill.total


async def a_prompt_over_the_window_is_refused_by_count(model: CountingModel) -> None:
    window = model.capabilities().window_tokens
    assert window is not None
    text = "ANANAS-7734 " + "word " * window
    with pytest.raises(ContextFull) as caught:
        await model.generate(ask(text))
    full = caught.value
    assert full.window_tokens == window
    assert full.needed_tokens == model.count_request(ask(text)).total > full.limit_tokens
    assert full.by_part["ask"] > window


async def the_last_token_of_the_window_can_be_used(model: CountingModel) -> None:
    window = model.capabilities().window_tokens or 0
    used = model.count_request(ask("hi")).total
    with pytest.raises(ContextFull):
        await model.generate(ask("hi", max_tokens=window - used + 1))
    assert (await model.generate(ask("hi", max_tokens=window - used, schema={"const": 1}))).text


COUNTING_LAWS: tuple[Callable[[CountingModel], Awaitable[None]], ...] = (
    the_bill_is_what_is_evaluated,
    a_prompt_over_the_window_is_refused_by_count,
    the_last_token_of_the_window_can_be_used,
)
