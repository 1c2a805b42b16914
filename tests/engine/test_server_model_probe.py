from __future__ import annotations

import asyncio
import dataclasses
import time
from typing import Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.engine import OpenAICompatibleModel, probe
from goliath_local.errors import ModelUnavailable, RunCancelled
from goliath_local.model import Support, WindowSource
from tests.engine.test_server_model import Server, chat, request
from tests.loopback import Asked, loopback, reply

LLAMA_CPP = {
    "__v1__models": {
        "data": [
            {
                "id": "tiny.gguf",
                "owned_by": "llamacpp",
                "meta": {"n_ctx_train": 8192, "n_params": 134_515_008, "size": 96_576_768},
            }
        ]
    },
    "__props": {
        "default_generation_settings": {"n_ctx": 2048},
        "total_slots": 1,
        "chat_template_caps": {"supports_tools": False},
    },
}
OLLAMA = {
    "__v1__models": {"data": [{"id": "qwen2.5:3b", "owned_by": "library"}]},
    "__api__show": {
        "parameters": 'stop "<|im_end|>"\nnum_ctx                        3000\n',
        "model_info": {"general.parameter_count": 3_085_938_688, "qwen2.context_length": 32768},
        "capabilities": ["completion", "tools"],
    },
    "__api__ps": {
        "models": [{"name": "qwen2.5:3b", "size": 2_400_000_000, "context_length": 4000}]
    },
}

USUAL_S = probe.PROBE_TIMEOUT_S


async def _probed(pages: Any, **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    async with loopback(Server(**pages)) as server:
        model = OpenAICompatibleModel(server.url, **options)
        await model.generate(request())
        return model.capabilities(), [(asked.method, asked.path) for asked in server.asked]


async def test_llama_cpp_is_asked_for_its_props() -> None:
    known, asked = await _probed(LLAMA_CPP)
    assert asked == [
        ("GET", "/v1/models"),
        ("GET", "/props"),
        ("POST", "/v1/chat/completions"),
    ]
    assert (known.name, known.window_tokens) == ("tiny.gguf", 2048)
    assert known.window_source is WindowSource.REPORTED
    assert (known.schema, known.tools, known.thinking) == (
        Support.SUPPORTED,
        Support.UNSUPPORTED,
        Support.UNKNOWN,
    )
    assert (known.parameters, known.size_bytes) == (134_515_008, 96_576_768)


async def test_ollama_is_asked_to_show_the_model_and_what_is_loaded() -> None:
    known, asked = await _probed(OLLAMA)
    assert asked[:3] == [("GET", "/v1/models"), ("POST", "/api/show"), ("GET", "/api/ps")]
    assert (known.window_tokens, known.window_source) == (4000, WindowSource.REPORTED)
    assert (known.tools, known.thinking) == (Support.SUPPORTED, Support.UNSUPPORTED)
    assert (known.parameters, known.size_bytes) == (3_085_938_688, 2_400_000_000)


async def test_what_ollama_configured_counts_until_the_model_is_loaded() -> None:
    known, _ = await _probed(OLLAMA | {"__api__ps": {"models": []}})
    assert (known.window_tokens, known.window_source) == (3000, WindowSource.REPORTED)


async def test_a_window_the_model_was_trained_with_is_not_the_window_it_has() -> None:
    bare = OLLAMA | {"__api__ps": {}, "__api__show": {"model_info": {"x.context_length": 32768}}}
    known, _ = await _probed(bare)
    assert (known.window_tokens, known.window_source) == (4096, WindowSource.ESTIMATED)
    known, _ = await _probed({"__v1__models": LLAMA_CPP["__v1__models"]})
    assert (known.window_tokens, known.window_source) == (4096, WindowSource.ESTIMATED)


async def test_vllm_reports_its_window_with_the_model() -> None:
    known, asked = await _probed(
        {"__v1__models": {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 8192}]}}
    )
    assert len(asked) == 2
    assert (known.window_tokens, known.window_source) == (8192, WindowSource.REPORTED)
    assert known.schema is Support.UNKNOWN


@pytest.mark.parametrize(
    ("preset", "paths"),
    [
        ("openai", ["/v1/models"]),
        ("llama.cpp", ["/v1/models", "/props"]),
        ("ollama", ["/v1/models", "/api/show", "/api/ps"]),
    ],
)
async def test_a_declared_preset_says_which_questions_are_asked(
    preset: Any, paths: list[str]
) -> None:
    _, asked = await _probed(LLAMA_CPP | OLLAMA, preset=preset)
    assert [path for _, path in asked[:-1]] == paths


async def test_the_probe_sends_nothing_of_the_prompt_and_comes_once() -> None:
    async with loopback(Server(**OLLAMA)) as server:
        model = OpenAICompatibleModel(server.url)
        await asyncio.gather(*(model.generate(request()) for _ in range(5)))
        probe = [asked for asked in server.asked if asked.path != "/v1/chat/completions"]
    assert len(probe) == 3
    assert [asked.body for asked in probe] == [b"", b'{"model": "qwen2.5:3b"}', b""]


async def test_the_window_can_be_asked_for_before_the_first_request() -> None:
    async with loopback(Server(**LLAMA_CPP)) as server:
        model = OpenAICompatibleModel(server.url)
        assert model.capabilities().window_tokens == 4096
        assert await model.window() == 2048
        assert await model.window() == 2048
        assert len(server.asked) == 2


async def test_a_snapshot_cannot_be_changed_and_does_not_change() -> None:
    async with loopback(Server(**LLAMA_CPP)) as server:
        model = OpenAICompatibleModel(server.url)
        before = model.capabilities()
        after = await model.probe()
        assert (before.window_tokens, after.window_tokens) == (4096, 2048)
        with pytest.raises(dataclasses.FrozenInstanceError):
            after.window_tokens = 9  # type: ignore[misc]


async def _slow(_: Asked, out: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def _huge(_: Asked, out: asyncio.StreamWriter) -> None:
    await reply(out, b'{"data":[{"id":"' + b"x" * 300_000 + b'"}]}')


async def _dripping(_: Asked, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n")
    while True:
        out.write(b" ")
        await out.drain()
        await asyncio.sleep(0.1)


async def _broken(_: Asked, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: 50\r\n\r\n{")
    out.close()


async def _moved(_: Asked, out: asyncio.StreamWriter) -> None:
    await reply(out, status=307, headers={"location": "http://127.0.0.1:1/v1/models"})


@pytest.mark.parametrize(
    "page",
    [
        _huge,
        _broken,
        _moved,
        b"",
        b"<html>",
        b"[" * 100_000,
        [],
        {"data": 7},
        {"data": [7, {"id": 5}, {}]},
        {"data": [{"id": "m", "owned_by": ["llamacpp"], "meta": [], "max_model_len": "4096"}]},
        {"data": [{"id": "m", "max_model_len": -1}]},
        {"data": [{"id": "m", "max_model_len": 1 << 40}]},
        {"data": [{"id": "m", "max_model_len": True}]},
    ],
)
async def test_a_hostile_answer_to_the_probe_leaves_things_unknown(page: Any) -> None:
    known, _ = await _probed({"__v1__models": page})
    assert (known.window_tokens, known.window_source) == (4096, WindowSource.ESTIMATED)


@pytest.mark.parametrize(
    "props",
    [[], {"n_ctx": "x"}, {"default_generation_settings": 3, "chat_template_caps": 4}, b"{"],
)
async def test_hostile_props_leave_what_the_models_said(props: Any) -> None:
    known, _ = await _probed(LLAMA_CPP | {"__props": props})
    assert known.name == "tiny.gguf"
    assert (known.window_tokens, known.tools) == (4096, Support.UNKNOWN)


@pytest.mark.parametrize("page", [_slow, _dripping])
@pytest.mark.parametrize(
    ("where", "patience_s"),
    [
        ("__v1__models", 0.2),
        pytest.param("__props", 4.0, marks=pytest.mark.slow),  # the first answer comes in time
    ],
)
async def test_a_slow_probe_is_given_up_and_what_was_learnt_stays(
    where: str, patience_s: float, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT_S", patience_s)
    started = time.perf_counter()
    known, _ = await _probed(LLAMA_CPP | {where: page}, preset="llama.cpp")
    assert time.perf_counter() - started < 20  # of the 30 s it sleeps
    assert known.window_source is WindowSource.ESTIMATED
    assert known.name == ("tiny.gguf" if where == "__props" else "")


@pytest.mark.slow
async def test_the_probe_has_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROBE_TIMEOUT_S", USUAL_S)
    started = time.perf_counter()
    await _probed({"__v1__models": _slow})
    assert 1.9 < time.perf_counter() - started < 20


async def test_256_kibibytes_are_the_limit_for_all_answers_together() -> None:
    filler = {"filler": "x" * 200_000}
    models = {"data": LLAMA_CPP["__v1__models"]["data"], **filler}
    props = LLAMA_CPP["__props"] | filler
    known, _ = await _probed({"__v1__models": models, "__props": props})
    assert (known.name, known.window_tokens) == ("tiny.gguf", 4096)


async def test_a_cancelled_probe_changes_nothing_and_the_next_request_probes() -> None:
    pages = dict(LLAMA_CPP)
    server_answers = Server(**pages)
    reached = asyncio.Event()

    async def first_slow(asked: Asked, out: asyncio.StreamWriter) -> None:
        if asked.path == "/props" and not reached.is_set():
            reached.set()
            await asyncio.sleep(30)
        await server_answers(asked, out)

    cancel = CancelToken()
    async with loopback(first_slow) as server:
        model = OpenAICompatibleModel(server.url)
        before = model.capabilities()
        asking = asyncio.create_task(model.generate(request(cancel=cancel)))
        await reached.wait()
        cancel.cancel()
        with pytest.raises(RunCancelled):
            await asking
        assert model.capabilities() is before
        await model.generate(request())
        assert model.capabilities().window_tokens == 2048


async def test_a_stale_probe_changes_nothing() -> None:
    slow, windows = asyncio.Event(), iter([1111, 2222])

    async def answer(asked: Asked, out: asyncio.StreamWriter) -> None:
        window = next(windows)
        if window == 1111:
            await slow.wait()
        await reply(out, {"data": [{"id": "m", "max_model_len": window}]})

    async with loopback(answer) as server:
        model = OpenAICompatibleModel(server.url, preset="openai")
        first = asyncio.create_task(model.probe())
        while len(server.asked) < 1:
            await asyncio.sleep(0.01)
        assert (await model.probe()).window_tokens == 2222
        slow.set()
        assert (await first).window_tokens == 1111
        assert model.capabilities().window_tokens == 2222


async def test_of_several_models_one_has_to_be_named() -> None:
    pages = {"__v1__models": {"data": [{"id": "a"}, {"id": "b", "max_model_len": 5000}]}}
    async with loopback(Server(**pages)) as server:
        with pytest.raises(ModelUnavailable, match="one of: a, b"):
            await OpenAICompatibleModel(server.url).generate(request())
        model = OpenAICompatibleModel(server.url, model="b")
        await model.generate(request())
        assert model.capabilities().window_tokens == 5000
        assert server.asked[-1].json["model"] == "b"


async def test_a_named_model_that_the_server_does_not_list_is_asked_all_the_same() -> None:
    async with loopback(Server(chat(), __v1__models={"data": [{"id": "a"}]})) as server:
        await OpenAICompatibleModel(server.url, model="alias").generate(request())
        assert server.asked[-1].json["model"] == "alias"
