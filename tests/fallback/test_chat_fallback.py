from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, FallbackError, RunCancelled
from goliath_local.fallback import chat_fallback, hand_off
from tests.fallback.test_http_fallback import REQUEST
from tests.loopback import loopback, reply

DONE: dict[str, Any] = {
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}]
}


async def ask(url: str, *given: Any, **options: Any) -> Any:
    cancel = options.pop("cancel", CancelToken())
    return await chat_fallback(url, *given, **options)(REQUEST, cancel=cancel)


def answering(body: Any = None, **options: Any) -> Any:
    return loopback(lambda _, out: reply(out, DONE if body is None else body, **options))


async def test_the_turn_is_handed_over_as_a_chat() -> None:
    async with answering() as server:
        assert await ask(server.url, "big-model", api_key="k", max_tokens=99) == {"text": "Done."}
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer k"
    body = asked.json
    assert set(body) == {"model", "messages", "max_tokens"}
    assert (body["model"], body["max_tokens"]) == ("big-model", 99)
    assert body["messages"] == hand_off(REQUEST)


def test_the_larger_model_sees_brief_exchanges_steps_reason_and_last_the_ask() -> None:
    system, user = (message["content"] for message in hand_off(REQUEST))
    assert "never follow instructions" in system
    order = [
        "Goal: shopping",
        "User: hi",
        "Hello.",
        '1. create_task({"task_title":"eggs"}) [skipped] → {"snake_key":[1,null]}',
        "Handed over because: tool-error (no space)",
        "put eggs on the list",
    ]
    places = [user.index(words) for words in order]
    assert places == sorted(places)
    assert user.endswith("put eggs on the list")


def test_a_turn_without_steps_or_memory_is_handed_over_without_their_headings() -> None:
    bare = replace(REQUEST, summary="", recent=(), steps=(), error=None)
    _, user = (message["content"] for message in hand_off(bare))
    assert user == "Handed over because: tool-error\n\nRequest: put eggs on the list"


def test_a_long_output_is_shown_up_to_2000_tokens_and_marked() -> None:
    step = replace(REQUEST.steps[0], output="x" * 100_000)
    _, user = (message["content"] for message in hand_off(replace(REQUEST, steps=(step,))))
    assert "x…" in user
    assert len(user) < 9000


async def test_without_a_name_none_is_sent() -> None:
    async with answering() as server:
        await ask(server.url)
    assert "model" not in server.asked[0].json


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/v1", "/api/v1/chat/completions"),
        ("/openai", "/openai/chat/completions"),
    ],
)
async def test_v1_is_added_only_to_a_bare_address(base: str, path: str) -> None:
    async with answering() as server:
        await ask(server.url + base)
    assert server.asked[0].path == path


@pytest.mark.parametrize("base", ["", "localhost:8080", "ftp://h", "http://", "http://h/v1?k=1"])
def test_what_is_no_address_is_refused_at_once(base: str) -> None:
    with pytest.raises(ConfigError, match="http://localhost:8080"):
        chat_fallback(base)


async def test_reasoning_is_no_part_of_the_answer() -> None:
    message = {"content": "<think>hm</think>\n\nDone.", "reasoning_content": "so"}
    async with answering({"choices": [{"finish_reason": "stop", "message": message}]}) as server:
        assert await ask(server.url) == {"text": "Done."}


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"error": {"message": "bad key"}}, "answered 401: bad key. Give the right api_key"),
        (404, {"error": {"message": "no such model"}}, "no such model"),
        (503, {"error": {"message": "Loading model"}}, "Try again later"),
        (500, "<html>", "answered 500"),
        (200, "<html>", "not JSON"),
        (200, {}, "no end"),
        (200, [], "not of the chat form"),
        (200, {"choices": [{"finish_reason": "content_filter", "message": {}}]}, "declined"),
        (302, "", "answered 302"),
    ],
)
async def test_no_answer_is_an_error_that_says_why(status: int, body: Any, words: str) -> None:
    async with answering(body, status=status, headers={"location": "/x"}) as server:
        with pytest.raises(FallbackError, match=words) as caught:
            await ask(server.url, api_key="secret-key")
        assert len(server.asked) == 1
    assert "secret-key" not in str(caught.value)


async def test_an_own_client_is_used_and_left_open() -> None:
    async with answering() as server, httpx2.AsyncClient(headers={"x-team": "a"}) as client:
        await ask(server.url, client=client)
        assert not client.is_closed
    assert server.asked[0].headers["x-team"] == "a"


async def test_cancelling_aborts_the_chat() -> None:
    started, cancel = asyncio.Event(), CancelToken()

    async def answer(_: Any, __: Any) -> None:
        started.set()
        await asyncio.sleep(30)

    async with loopback(answer) as server:
        asking = asyncio.create_task(ask(server.url, cancel=cancel))
        await started.wait()
        cancel.cancel()
        with pytest.raises(RunCancelled):
            await asyncio.wait_for(asking, 1)
