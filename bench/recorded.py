"""The requests that our harness makes, kept so that any engine can be asked the very same.

Pure, but for the two functions that read and write a file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goliath_local.model import ExampleTurn, Part, Request, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """One turn of a fixture: what the model was asked, and what our engine replied."""

    fixture: str
    steps: int
    requests: tuple[Request, ...]
    replies: tuple[str, ...]
    seconds: float
    """The whole turn, tools and harness included, as it was recorded."""

    evaluated_tokens: int
    completion_tokens: int
    prompt_s: float
    decode_s: float


def request_json(request: Request) -> dict[str, Any]:
    """Return the request as a JSON object."""
    return {
        "stage": request.stage.value,
        "system": [[part.name, part.text] for part in request.system],
        "user": [[part.name, part.text] for part in request.user],
        "examples": [[turn.user, turn.assistant] for turn in request.examples],
        "schema": request.schema,
        "max_tokens": request.max_tokens,
    }


def read_request(data: Mapping[str, Any]) -> Request:
    """Return the request that a JSON object stands for."""
    return Request(
        stage=Stage(data["stage"]),
        system=tuple(Part(name=name, text=text) for name, text in data["system"]),
        user=tuple(Part(name=name, text=text) for name, text in data["user"]),
        examples=tuple(ExampleTurn(user=u, assistant=a) for u, a in data["examples"]),
        schema=data["schema"],
        max_tokens=data["max_tokens"],
    )


def plain(request: Request) -> Request:
    """Return the request without what belongs to its first run: stop, listeners, seed."""
    return replace(request, cancel=None, on_text=None, seed=None)


def messages(request: Request) -> list[dict[str, str]]:
    """Return the request as the messages of a chat."""
    said = [{"role": "system", "content": request.system_text}] if request.system_text else []
    for turn in request.examples:
        said.append({"role": "user", "content": turn.user})
        said.append({"role": "assistant", "content": turn.assistant})
    return [*said, {"role": "user", "content": request.user_text}]


def head_only(request: Request) -> Request:
    """Return a request with the same head and another, short ask: it warms the head, no more."""
    hello = (Part(name="ask", text="Hello."),)
    return replace(request, user=hello, schema=None, max_tokens=1)


def heads(requests: Iterable[Request]) -> tuple[Request, ...]:
    """Return one warming request for each head, in the order in which they come."""
    found = {}
    for request in requests:
        found.setdefault((request.system_text, request.examples), head_only(request))
    return tuple(found.values())


def varied(requests: Sequence[Request], count: int) -> tuple[Request, ...]:
    """Return so many different requests: after one round the asks are numbered."""
    found = []
    for at in range(count if requests else 0):
        request, round_ = requests[at % len(requests)], at // len(requests)
        if round_:
            *before, last = request.user
            last = replace(last, text=f"{last.text} ({round_ + 1})")
            request = replace(request, user=(*before, last))
        found.append(request)
    return tuple(found)


def prompts_sha256(turns: Iterable[RecordedTurn]) -> str:
    """Return one hash over all prompts, 64 hex digits."""
    chain = hashlib.sha256()
    for turn in turns:
        for request in turn.requests:
            chain.update(json.dumps(request_json(request), ensure_ascii=False).encode())
    return chain.hexdigest()


def save_turns(turns: Sequence[RecordedTurn], path: Path, *, model: str) -> None:
    """Write recorded turns."""
    document = {
        "model": model,
        "turns": [
            {
                "fixture": turn.fixture,
                "steps": turn.steps,
                "requests": [request_json(request) for request in turn.requests],
                "replies": list(turn.replies),
                "seconds": turn.seconds,
                "evaluated_tokens": turn.evaluated_tokens,
                "completion_tokens": turn.completion_tokens,
                "prompt_s": turn.prompt_s,
                "decode_s": turn.decode_s,
            }
            for turn in turns
        ],
    }
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")


def read_turns(path: Path, *, model: str) -> tuple[RecordedTurn, ...]:
    """Return recorded turns.

    Raises:
        ValueError: they were recorded on another model.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if document["model"] != model:
        message = f"{path} was recorded on {document['model']}, not on {model}. Record anew."
        raise ValueError(message)
    return tuple(
        RecordedTurn(
            **{**turn, "requests": requests, "replies": tuple(turn["replies"])},
        )
        for turn in document["turns"]
        for requests in (tuple(read_request(request) for request in turn["requests"]),)
    )
