from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.engine import OpenAICompatibleModel
from goliath_local.errors import (
    ConfigError,
    ContextFull,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    RunCancelled,
)
from goliath_local.model import (
    ExampleTurn,
    Part,
    Request,
    Stage,
    Support,
)
from tests.loopback import Asked, Loopback, loopback, reply, stream

SCHEMA = {
    "type": "object",
    "properties": {"why": {"type": "string"}, "kind": {"enum": ["tool", "answer"]}},
    "required": ["why", "kind"],
    "additionalProperties": False,
}


def request(**fields: Any) -> Request:
    known: dict[str, Any] = {
        "stage": Stage.CONDUCTOR,
        "system": (Part(name="instructions", text="Plan."), Part(name="tools", text=" Tools.")),
        "user": (Part(name="ask", text="Eggs."),),
        "max_tokens": 64,
    }
    return Request(**(known | fields))


def chat(content: str | None = "Hi.", finish: str | None = "stop", **message: Any) -> Any:
    choice = {"index": 0, "finish_reason": finish, "message": {"content": content, **message}}
    return {
        "choices": [choice],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 3,
            "prompt_tokens_details": {"cached_tokens": 15},
        },
    }


def delta(content: str | None = None, finish: str | None = None, **more: Any) -> str:
    fields = {} if content is None else {"content": content}
    return json.dumps({"choices": [{"delta": fields | more, "finish_reason": finish}]})


class Server:
    """Answers the probe from a table and the chat with what it was given."""

    def __init__(self, *chats: Any, status: int = 200, **pages: Any) -> None:
        self.pages = {"/v1/models": {"data": [{"id": "m"}]}} | {
            path.replace("__", "/"): page for path, page in pages.items()
        }
        self.chats = list(chats) or [chat()]
        self.status = status

    async def __call__(self, asked: Asked, out: asyncio.StreamWriter) -> None:
        if asked.path == "/v1/chat/completions":
            answer = self.chats.pop(0) if len(self.chats) > 1 else self.chats[0]
            if callable(answer):
                await answer(asked, out)
            else:
                await reply(out, answer, status=self.status)
        elif asked.path in self.pages:
            page = self.pages[asked.path]
            if callable(page):
                await page(asked, out)
            else:
                await reply(out, page)
        else:
            await reply(out, {"error": "no such page"}, status=404)


def _chats(server: Loopback) -> list[Asked]:
    return [asked for asked in server.asked if asked.path.endswith("/chat/completions")]


async def test_parts_and_examples_become_the_messages_of_a_chat() -> None:
    async with loopback(Server()) as server:
        model = OpenAICompatibleModel(server.url)
        examples = (ExampleTurn(user="Milk.", assistant='{"kind":"tool"}'),)
        got = await model.generate(request(examples=examples, temperature=0.5, seed=7))
    assert (got.text, got.finish, got.reasoning) == ("Hi.", "stop", "")
    assert (got.usage.prompt_tokens, got.usage.evaluated_tokens) == (20, 5)
    assert _chats(server)[0].json == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Plan. Tools."},
            {"role": "user", "content": "Milk."},
            {"role": "assistant", "content": '{"kind":"tool"}'},
            {"role": "user", "content": "Eggs."},
        ],
        "max_tokens": 64,
        "temperature": 0.5,
        "seed": 7,
        "stream": False,
    }


async def test_a_schema_is_sent_as_response_format_with_its_keys_in_order() -> None:
    async with loopback(Server()) as server:
        model = OpenAICompatibleModel(server.url)
        await model.generate(request(schema=SCHEMA))
        await model.generate(request(schema=SCHEMA | {"required": ["why"]}))
    first, second = (asked.json["response_format"] for asked in _chats(server))
    assert first["type"] == "json_schema"
    assert first["json_schema"]["strict"] is True
    assert list(first["json_schema"]["schema"]["properties"]) == ["why", "kind"]
    # Optional keys may not be called strict: servers that check it refuse the schema.
    assert second["json_schema"]["strict"] is False


async def test_the_key_goes_into_the_header_and_into_no_message() -> None:
    async with loopback(Server({"error": {"message": "bad key"}}, status=401)) as server:
        model = OpenAICompatibleModel(server.url, api_key="secret-key")
        with pytest.raises(ModelUnavailable, match="Give the right api_key") as caught:
            await model.generate(request())
    assert all(asked.headers["authorization"] == "Bearer secret-key" for asked in server.asked)
    assert "secret-key" not in f"{caught.value!r}{model!r}"


async def test_credentials_in_the_address_stay_out_of_messages() -> None:
    async with loopback(Server({"error": {"message": "no"}}, status=500)) as server:
        address = server.url.replace("http://", "http://user:secret@")
        with pytest.raises(ModelError) as caught:
            await OpenAICompatibleModel(address).generate(request())
    assert "secret" not in str(caught.value)
    assert "authorization" in _chats(server)[0].headers


async def test_a_reply_cut_by_the_cap_says_so() -> None:
    async with loopback(Server(chat("Half a", "length"))) as server:
        got = await OpenAICompatibleModel(server.url).generate(request())
    assert (got.text, got.finish) == ("Half a", "length")


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>\nhm\n</think>\n\nHi."},
        {"content": "Hi.", "reasoning_content": "hm"},
        {"content": "Hi.", "reasoning": "hm"},
    ],
)
async def test_reasoning_is_kept_for_display_and_never_sent_again(message: Any) -> None:
    async with loopback(Server(chat(**message))) as server:
        model = OpenAICompatibleModel(server.url)
        got = await model.generate(request())
        assert (got.text, got.reasoning) == ("Hi.", "hm")
        await model.generate(request(schema=SCHEMA))
    assert all(b"hm" not in asked.body for asked in server.asked)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", None])
async def test_a_stream_gives_the_reply_piece_by_piece_without_the_reasoning(
    field: str | None,
) -> None:
    thoughts = [delta("<thi"), delta("nk>h"), delta("m</think>"), delta("\n")]
    if field is not None:
        thoughts = [delta("", **{field: "h"}), delta(None, **{field: "m"})]
    end = [delta("Hi"), delta(" 🦜"), delta(" there"), delta(None, "stop")]
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})

    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await stream(out, delta(None, role="assistant"), *thoughts, *end, usage, "[DONE]")

    pieces: list[str] = []
    async with loopback(Server(answer)) as server:
        got = await OpenAICompatibleModel(server.url).generate(request(on_text=pieces.append))
    assert got.text == "".join(pieces) == "Hi 🦜 there"
    assert len(pieces) >= 3
    assert (got.reasoning, got.usage.prompt_tokens, got.usage.completion_tokens) == ("hm", 9, 4)
    assert got.usage.first_token_s > 0
    body = _chats(server)[0].json
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


async def test_a_character_that_a_server_cuts_in_two_is_given_out_whole() -> None:
    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await stream(out, delta("a\ud83e"), delta("\udd9cb"), delta(None, "stop"), "[DONE]")

    pieces: list[str] = []
    async with loopback(Server(answer)) as server:
        got = await OpenAICompatibleModel(server.url).generate(request(on_text=pieces.append))
    assert (pieces, got.text) == (["a", "🦜b"], "a🦜b")


async def test_a_server_that_does_not_stream_is_understood_all_the_same() -> None:
    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await reply(out, chat("At once."), headers={"content-type": "application/json"})

    pieces: list[str] = []
    async with loopback(Server(answer)) as server:
        got = await OpenAICompatibleModel(server.url).generate(request(on_text=pieces.append))
    assert (got.text, pieces) == ("At once.", ["At once."])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"type": "exceed_context_size_error", "n_ctx": 2048}}, ContextFull),
        (400, {"error": {"code": "content_filter", "message": "no"}}, ModelRefused),
        (503, {"error": {"message": "Loading model"}}, ModelUnavailable),
        (500, {"error": {"message": "oh"}}, ModelError),
        (307, {}, ModelError),
        (200, chat(None, "content_filter"), ModelRefused),
        (200, chat(None, refusal="I will not."), ModelRefused),
        (200, {"choices": []}, ModelError),
        (200, "<html>", ModelError),
        (200, {"choices": [7]}, ModelError),
        (200, {"choices": [{"message": [], "finish_reason": 3}], "usage": []}, ModelError),
    ],
)
async def test_every_failure_of_a_server_is_a_typed_one(
    *, streamed: bool, status: int, body: Any, kind: type[ModelError]
) -> None:
    on_text = [].append if streamed else None
    async with loopback(Server(body, status=status)) as server:
        with pytest.raises(ModelError) as caught:
            await OpenAICompatibleModel(server.url).generate(request(on_text=on_text))
        assert len(_chats(server)) == 1
    assert type(caught.value) is kind


async def test_a_stream_that_breaks_off_is_a_failure_and_not_a_short_reply() -> None:
    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await stream(out, delta("Half"))

    async with loopback(Server(answer)) as server:
        with pytest.raises(ModelError, match="no end"):
            await OpenAICompatibleModel(server.url).generate(request(on_text=lambda _: None))


async def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    error = json.dumps({"error": {"code": 500, "message": "slot lost"}})

    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await stream(out, delta("Half"), error)

    async with loopback(Server(answer)) as server:
        with pytest.raises(ModelError, match="slot lost"):
            await OpenAICompatibleModel(server.url).generate(request(on_text=lambda _: None))


async def test_a_stream_without_end_is_cut_off() -> None:
    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        await stream(out, *[delta("x" * 500_000)] * 100)

    async with loopback(Server(answer)) as server:
        with pytest.raises(ModelError, match="over 4,194,304 bytes"):
            await OpenAICompatibleModel(server.url).generate(request(on_text=lambda _: None))


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_that_takes_too_long_is_given_up(*, streamed: bool) -> None:
    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        if streamed:
            await stream(out, *[delta("x")] * 1000, pause_s=0.05)
        await asyncio.sleep(30)

    on_text = [].append if streamed else None
    async with loopback(Server(answer)) as server:
        model = OpenAICompatibleModel(server.url, timeout_s=0.3)
        started = time.perf_counter()
        with pytest.raises(ModelUnavailable, match=r"within 0\.3 s"):
            await model.generate(request(on_text=on_text))
        assert time.perf_counter() - started < 20  # of the 30 s it sleeps


@pytest.mark.parametrize("streamed", [False, True])
async def test_cancelling_ends_the_request_and_the_connection(*, streamed: bool) -> None:
    reached = asyncio.Event()

    async def answer(_: Asked, out: asyncio.StreamWriter) -> None:
        reached.set()
        if streamed:
            await stream(out, *[delta("x")] * 1000, pause_s=0.02)
        await asyncio.sleep(30)

    cancel = CancelToken()
    on_text = [].append if streamed else None
    async with loopback(Server(answer, chat())) as server:
        model = OpenAICompatibleModel(server.url)
        asking = asyncio.create_task(model.generate(request(cancel=cancel, on_text=on_text)))
        await reached.wait()
        started = time.perf_counter()
        cancel.cancel("enough")
        with pytest.raises(RunCancelled, match="enough"):
            await asking
        assert time.perf_counter() - started < 10  # of the 20 s it streams
        assert (await model.generate(request())).text == "Hi."


async def test_a_cancelled_request_asks_nobody() -> None:
    cancel = CancelToken()
    cancel.cancel()
    async with loopback(Server()) as server:
        with pytest.raises(RunCancelled):
            await OpenAICompatibleModel(server.url).generate(request(cancel=cancel))
    assert server.asked == []


async def test_nobody_there_is_unavailable_and_the_next_request_probes_again() -> None:
    async with loopback(Server()) as gone:
        model = OpenAICompatibleModel(gone.url)
    with pytest.raises(ModelUnavailable, match="Is it running"):
        await model.generate(request())
    port = int(gone.url.rpartition(":")[2])
    again = Server(__v1__models={"data": [{"id": "m", "max_model_len": 777}]})
    async with loopback(again, port=port):
        await model.generate(request())
    assert model.capabilities().window_tokens == 777


async def test_a_server_that_cannot_keep_a_schema_is_said_and_remembered() -> None:
    body = {"error": {"message": "response_format is not supported"}}
    async with loopback(Server(body, status=400)) as server:
        model = OpenAICompatibleModel(server.url)
        assert model.capabilities().schema is Support.UNKNOWN
        with pytest.raises(ModelUnavailable, match=r"llama\.cpp's server, Ollama or vLLM"):
            await model.generate(request(schema=SCHEMA))
        assert model.capabilities().schema is Support.UNSUPPORTED


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"base_url": "localhost"}, "http://localhost:8080"),
        ({"base_url": "http://h", "preset": "vllm"}, "no preset 'vllm'"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(given: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        OpenAICompatibleModel(**given)


async def test_a_models_name_selects_no_field() -> None:
    bodies = []
    for name in ("m", "gpt-5", "o3-mini", "qwen3-thinking", "deepseek-r1", "gemma"):
        async with loopback(Server(__v1__models={"data": [{"id": name}]})) as server:
            await OpenAICompatibleModel(server.url, model=name).generate(request(schema=SCHEMA))
            bodies.append(_chats(server)[0].json | {"model": "-"})
    assert all(body == bodies[0] for body in bodies)
