from __future__ import annotations

import json
from typing import Any

import pytest

from goliath_local.errors import (
    ContextFull,
    HttpError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from goliath_local.wire import is_about_schema, read_refusal


def _error(status: int, body: Any) -> HttpError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpError("http://h/v1/chat/completions", "", status=status, body=data)


# What the servers say, word for word.
OVERFLOWS = {
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (3031 tokens) exceeds the available context size "
                "(2048 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 3031,
                "n_ctx": 2048,
            }
        },
        (3031, 2048),
    ),
    "llama-cpp-python": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 2048 tokens. However, you "
                "requested 3012 tokens (3000 in the messages, 12 in the completion). Please "
                "reduce the length of the messages or completion.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
        (3012, 2048),
    ),
    "llama-cpp-python, plain": (
        500,
        {"error": {"message": "Requested tokens (3000) exceed context window of 2048"}},
        (3000, 2048),
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you "
            "requested 5000 tokens (4488 in the messages, 512 in the completion).",
            "type": "BadRequestError",
            "code": 400,
        },
        (5000, 4096),
    ),
    "ollama": (400, {"error": "the input length exceeds the context length"}, (4097, 4096)),
    "bare": (400, {"error": {"code": "context_length_exceeded"}}, (4097, 4096)),
}


@pytest.mark.parametrize("server", OVERFLOWS)
def test_an_overflow_is_told_with_the_servers_numbers(server: str) -> None:
    status, body, numbers = OVERFLOWS[server]
    failure = read_refusal(_error(status, body), window_tokens=4096)
    assert isinstance(failure, ContextFull)
    assert (failure.needed_tokens, failure.window_tokens) == numbers


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"code": "content_filter", "message": "no"}}, ModelRefused),
        (400, {"error": {"message": "blocked by our content filter"}}, ModelRefused),
        (400, {"error": {"message": "thread-safety assertion"}}, ModelError),
        (400, {"error": {"message": "unknown field"}}, ModelError),
        (401, {"error": {"message": "no key"}}, ModelUnavailable),
        (403, b"", ModelUnavailable),
        (404, {"error": "model 'x' not found"}, ModelUnavailable),
        (429, {}, ModelUnavailable),
        (500, b"<html>", ModelError),
        (502, b"", ModelUnavailable),
        (503, {"error": {"message": "Loading model"}}, ModelUnavailable),
        (302, b"", ModelError),
        (418, [1, 2], ModelError),
        (400, b"[" * 50_000, ModelError),
        (400, {"error": {"message": 7, "code": None, "type": ["x"]}}, ModelError),
    ],
)  # fmt: skip
def test_every_refusal_is_one_of_the_typed_failures(
    status: int, body: Any, kind: type[ModelError]
) -> None:
    failure = read_refusal(_error(status, body), window_tokens=4096)
    assert type(failure) is kind
    assert str(failure).endswith(".")


def test_what_a_server_says_is_cut_and_kept_on_one_line() -> None:
    failure = read_refusal(_error(500, {"error": "a\nb" + "x" * 9000}), window_tokens=4096)
    assert "\n" not in str(failure)
    assert len(str(failure)) < 450


@pytest.mark.parametrize(
    ("status", "body", "is_it"),
    [
        (400, {"error": {"message": "'response_format.type' must be 'text'"}}, True),
        (400, {"error": {"message": "json_schema is not supported"}}, True),
        (400, {"error": {"message": "Failed to parse grammar"}}, True),
        (400, {"error": {"message": "the programmar is away"}}, False),
        # llama-cpp-python's own server, word for word, cut.
        (500, {"error": {"message": "{'loc': ('body', 'response_format', 'type')}"}}, True),
        (503, {"error": {"message": "response_format"}}, False),
        (400, b"", False),
    ],
)
def test_a_refusal_of_the_schema_is_recognised(status: int, body: Any, is_it: bool) -> None:
    assert is_about_schema(_error(status, body)) is is_it
