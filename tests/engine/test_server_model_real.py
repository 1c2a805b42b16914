"""The server back end against llama.cpp's own server with the tiny model."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local import create_agent, define_tool
from goliath_local.cancel import CancelToken
from goliath_local.engine import OpenAICompatibleModel
from goliath_local.errors import ContextFull, ModelUnavailable, RunCancelled
from goliath_local.model import ExampleTurn, Part, Support, WindowSource
from tests.engine.test_server_model import SCHEMA, request
from tests.laws.model import MODEL_LAWS, Law
from tests.llama_server import KEY, llama_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def url(weights: Callable[[str], Path]) -> Iterator[str]:
    with llama_server(weights("smollm2-135m"), window_tokens=2048) as address:
        yield address


@pytest.fixture
def model(url: str) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(url, api_key=KEY)


def _ask(text: str, **fields: Any) -> Any:
    system = (Part(name="instructions", text="You are a helpful assistant."),)
    return request(system=system, user=(Part(name="ask", text=text),), **fields)


@pytest.mark.parametrize("law", MODEL_LAWS, ids=lambda law: law.__name__)
async def test_a_model_behind_the_real_server_keeps_the_laws(
    law: Law, model: OpenAICompatibleModel
) -> None:
    await law(model)


async def test_the_real_server_says_what_it_is(model: OpenAICompatibleModel) -> None:
    known = await model.probe()
    assert (known.window_tokens, known.window_source) == (2048, WindowSource.REPORTED)
    assert await model.window() == 2048
    assert known.schema is Support.SUPPORTED
    assert known.tools is Support.UNSUPPORTED
    assert known.parameters == 134_515_008


async def test_the_real_server_keeps_a_reply_to_its_schema_in_order(
    model: OpenAICompatibleModel,
) -> None:
    short = SCHEMA["properties"] | {"why": {"type": "string", "maxLength": 20}}
    got = await model.generate(_ask("Choose. Say why.", schema=SCHEMA | {"properties": short}))
    reply = json.loads(got.text)
    assert list(reply) == ["why", "kind"]
    assert reply["kind"] in {"tool", "answer"}
    assert got.usage.prompt_tokens > 10
    assert got.usage.completion_tokens > 5
    assert got.usage.decode_s > 0


async def test_a_streamed_reply_of_the_real_server_is_the_whole_one(
    model: OpenAICompatibleModel,
) -> None:
    ask = "Write the words: café 中文 🦜"
    whole = await model.generate(_ask(ask, max_tokens=40))
    pieces: list[str] = []
    streamed = await model.generate(_ask(ask, max_tokens=40, on_text=pieces.append))
    assert "".join(pieces) == streamed.text
    assert len(pieces) > 3
    assert "\ufffd" not in streamed.text
    assert streamed.usage.completion_tokens == whole.usage.completion_tokens
    assert streamed.usage.first_token_s > 0


async def test_the_cap_cuts_the_reply_and_says_so(model: OpenAICompatibleModel) -> None:
    got = await model.generate(_ask("Tell a long story.", max_tokens=5))
    assert (got.finish, got.usage.completion_tokens) == ("length", 5)


async def test_examples_are_turns_of_the_chat(model: OpenAICompatibleModel) -> None:
    bare = await model.generate(_ask("b", max_tokens=1))
    turn = ExampleTurn(user="a", assistant="1")
    more = await model.generate(_ask("b", max_tokens=1, examples=(turn,)))
    assert more.usage.prompt_tokens > bare.usage.prompt_tokens + 5


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_overflow_of_the_real_server_has_its_numbers(
    model: OpenAICompatibleModel, *, streamed: bool
) -> None:
    on_text = [].append if streamed else None
    with pytest.raises(ContextFull) as caught:
        await model.generate(_ask("eggs " * 3000, on_text=on_text))
    assert caught.value.window_tokens == 2048
    assert caught.value.needed_tokens > 3000


async def test_a_wrong_key_is_unavailable(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="Give the right api_key"):
        await OpenAICompatibleModel(url, api_key="wrong").generate(_ask("hi"))


async def test_cancelling_frees_the_real_server(model: OpenAICompatibleModel) -> None:
    cancel, started = CancelToken(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_text(_: str) -> None:
        loop.call_soon_threadsafe(started.set)

    asking = asyncio.create_task(
        model.generate(_ask("Count to 1000.", max_tokens=1500, cancel=cancel, on_text=on_text))
    )
    await asyncio.wait_for(started.wait(), 30)
    cancel.cancel()
    with pytest.raises(RunCancelled):
        await asking
    # The only slot is free again at once: a short request does not wait for 1,500 tokens.
    await asyncio.wait_for(model.generate(_ask("hi", max_tokens=2)), 20)


async def test_an_agent_runs_on_the_real_server(model: OpenAICompatibleModel) -> None:
    tool = define_tool(
        name="list_tasks", description="List the open tasks.", execute=lambda *_: ["buy milk"]
    )
    agent = create_agent(model=model, tools=[tool], window=model.window, max_steps=3)
    result = await agent.run("What is on my list?")
    assert any(event.type == "budget" and event.window == 2048 for event in result.trace)
    assert not any(
        event.type == "escalate" and event.reason in {"model-error", "model-unavailable"}
        for event in result.trace
    )
