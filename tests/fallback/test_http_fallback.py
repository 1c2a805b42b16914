from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from goliath_local.cancel import CancelToken
from goliath_local.errors import FallbackError, RunCancelled
from goliath_local.fallback import http_fallback
from goliath_local.records import Exchange, FallbackRequest, Reason, StepRecord
from tests.loopback import Loopback, loopback, reply

if TYPE_CHECKING:
    from collections.abc import Callable

REQUEST = FallbackRequest(
    ask="put eggs on the list",
    reason=Reason.TOOL_ERROR,
    summary="Goal: shopping",
    recent=(Exchange(ask="hi", answer="Hello.", at=1_700_000_000_000, best_effort=True),),
    steps=(
        StepRecord(
            index=0,
            kind="tool",
            brief="add eggs",
            tool="create_task",
            input={"task_title": "eggs"},
            result="failed",
            output={"snake_key": [1, None]},
            has_output=True,
            output_mode="summary",
            writes=True,
            skipped=True,
            skip_reason="confirmation",
        ),
    ),
    error="no space",
)


async def ask(url: str, request: FallbackRequest = REQUEST, **options: Any) -> Any:
    cancel = options.pop("cancel", CancelToken())
    return await http_fallback(url, **options)(request, cancel=cancel)


def answering(body: Any = b'{"text":"done"}', **options: Any) -> Any:
    return loopback(lambda _, out: reply(out, body, **options))


async def test_the_hand_off_is_posted_as_camel_case_json_and_nothing_else() -> None:
    async with answering() as server:
        assert await ask(f"{server.url}/finish") == {"text": "done"}
    [asked] = server.asked
    assert (asked.method, asked.path) == ("POST", "/finish")
    assert asked.body == (
        b'{"ask":"put eggs on the list","reason":"tool-error","summary":"Goal: shopping",'
        b'"recent":[{"ask":"hi","answer":"Hello.","at":1700000000000,"bestEffort":true}],'
        b'"steps":[{"index":0,"kind":"tool","brief":"add eggs","tool":"create_task",'
        b'"input":{"task_title":"eggs"},"result":"failed","output":{"snake_key":[1,null]},'
        b'"outputMode":"summary","writes":true,"skipped":true,"skipReason":"confirmation"}],'
        b'"error":"no space"}'
    )
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["user-agent"].startswith("goliath-local")
    assert set(asked.headers) <= {
        "host", "accept", "accept-encoding", "connection", "user-agent", "content-type",
        "content-length",
    }  # fmt: skip


async def test_a_hand_off_without_steps_or_error_keeps_its_documented_keys() -> None:
    async with answering() as server:
        await ask(server.url, FallbackRequest(ask="hi", reason=Reason.CONDUCTOR_ASKED))
    assert server.asked[0].json == {
        "ask": "hi", "reason": "conductor-asked", "summary": "", "recent": [], "steps": [],
    }  # fmt: skip


async def test_headers_are_sent_and_may_replace_the_content_type() -> None:
    async with answering() as server:
        await ask(server.url, headers={"authorization": "Bearer k", "Content-Type": "text/json"})
    assert server.asked[0].headers["authorization"] == "Bearer k"
    assert server.asked[0].headers["content-type"] == "text/json"


async def test_rotating_headers_are_asked_for_at_each_call() -> None:
    tokens = iter(["one", "two"])

    async def headers() -> dict[str, str]:
        return {"authorization": next(tokens)}

    async with answering() as server:
        fallback = http_fallback(server.url, headers=headers)
        await fallback(REQUEST, cancel=CancelToken())
        await fallback(REQUEST, cancel=CancelToken())
    assert [asked.headers["authorization"] for asked in server.asked] == ["one", "two"]


@pytest.mark.parametrize("status", [199 + 1, 201, 299])
async def test_every_status_of_200_to_299_will_do(status: int) -> None:
    async with answering(status=status) as server:
        assert await ask(server.url) == {"text": "done"}


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_any_other_status_is_an_error_that_names_status_and_address(status: int) -> None:
    async with answering(b"<html>oh</html>", status=status) as server:
        address = server.url.replace("http://", "http://user:secret@") + "/p?key=secret#secret"
        with pytest.raises(FallbackError, match=f"{server.url}/p answered {status}") as caught:
            await ask(address)
        assert len(server.asked) == 1
    assert "secret" not in _everything_said(caught.value)


def _everything_said(error: BaseException | None) -> str:
    said = ""
    while error is not None:
        said += f"{error!r} {error} "
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return said


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'"just a text"',
        b'{"text": 5}',
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b'{"text": "\xff"}',
        b"[" * 100_000,
        b"\x00" * 100,
    ],
)
async def test_a_body_without_a_text_is_an_error(body: bytes) -> None:
    async with answering(body) as server:
        with pytest.raises(FallbackError, match=server.url):
            await ask(server.url)
        assert len(server.asked) == 1


async def test_no_content_is_an_error() -> None:
    async with loopback(lambda _, out: reply(out, status=204, headers={})) as server:
        with pytest.raises(FallbackError, match="JSON"):
            await ask(server.url)


async def test_read_text_replaces_the_reader() -> None:
    async with answering({"choices": [{"said": "from elsewhere"}]}) as server:
        reading: list[Callable[[Any], Any]] = [lambda body: body["choices"][0]["said"]]

        async def later(body: Any) -> str:
            return f"{body['choices'][0]['said']}, later"

        reading.append(later)
        said = [(await ask(server.url, read_text=read))["text"] for read in reading]
        assert said == ["from elsewhere", "from elsewhere, later"]
        with pytest.raises(FallbackError, match="read_text"):
            await ask(server.url, read_text=lambda _: None)


async def test_what_read_text_raises_passes_untouched() -> None:
    async with answering() as server:
        with pytest.raises(KeyError, match="nothing"):
            await ask(server.url, read_text=lambda body: body["nothing"])


async def test_control_characters_in_the_text_are_left_to_whoever_shows_it() -> None:
    async with answering({"text": "\x1b[2Jhi"}) as server:
        assert await ask(server.url) == {"text": "\x1b[2Jhi"}


async def test_other_keys_of_the_reply_are_dropped() -> None:
    async with answering({"text": "done", "output": {"a": 1}}) as server:
        assert await ask(server.url) == {"text": "done"}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    async with (
        answering() as other,
        answering(status=status, headers={"location": other.url}) as s,
    ):
        with pytest.raises(FallbackError, match=f"answered {status}"):
            await ask(s.url, headers={"authorization": "Bearer k"})
        assert len(s.asked) == 1
    assert other.asked == []


async def test_a_client_that_follows_redirects_does_so_on_the_same_origin_only() -> None:
    async def answer(asked: Any, out: Any) -> None:
        if asked.path == "/old":
            await reply(out, status=307, headers={"location": "/new"})
        elif asked.path == "/round":
            await reply(out, status=307, headers={"location": "/round"})
        else:
            await reply(out, {"text": "moved"})

    async with loopback(answer) as server, httpx2.AsyncClient(follow_redirects=True) as client:
        assert await ask(f"{server.url}/old", client=client) == {"text": "moved"}
        assert [a.method for a in server.asked] == ["POST", "POST"]
        assert server.asked[0].body == server.asked[1].body
        with pytest.raises(FallbackError, match="more than 3 times"):
            await ask(f"{server.url}/round", client=client)


@pytest.mark.parametrize("status", [302, 307])
async def test_a_following_client_never_carries_the_headers_elsewhere(status: int) -> None:
    async with (
        answering() as other,
        answering(status=status, headers={"location": other.url}) as server,
        httpx2.AsyncClient(follow_redirects=True) as client,
    ):
        with pytest.raises(FallbackError, match="which is not followed"):
            await ask(server.url, client=client, headers={"authorization": "Bearer k"})
        assert client.is_closed is False
    assert other.asked == []


async def test_a_reply_over_one_mebibyte_is_refused() -> None:
    body = json.dumps({"text": "x" * 1_048_565}).encode()
    assert len(body) == 1_048_576 + 1
    async with answering(body) as server:
        with pytest.raises(FallbackError, match="over 1,048,576 bytes"):
            await ask(server.url)
    async with answering(body[:12] + body[13:]) as server:
        assert len((await ask(server.url))["text"]) == 1_048_564


async def test_chunks_without_end_are_cut_off() -> None:
    async def answer(_: Any, out: Any) -> None:
        out.write(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n")
        while True:
            out.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
            await out.drain()

    async with loopback(answer) as server:
        with pytest.raises(FallbackError, match="over 1,048,576 bytes"):
            await ask(server.url)


def _gzip_of_zeros(size_mebibytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    # After a full flush a block stands by itself, so that it can be repeated.
    first, again = (
        packer.compress(b"\0" * 1_048_576) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    return first + again * (size_mebibytes - 1)


async def test_a_gibibyte_of_zeros_in_a_small_reply_is_not_unpacked() -> None:
    bomb = _gzip_of_zeros(1024)
    assert len(bomb) < 2_000_000
    async with answering(bomb, headers={"content-encoding": "gzip"}) as server:
        with pytest.raises(FallbackError, match="over 1,048,576 bytes"):
            await ask(server.url)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
async def test_a_packed_reply_is_unpacked(pack: Any) -> None:
    name = "gzip" if pack is gzip.compress else "deflate"
    body = pack(b'{"text":"packed"}')
    async with answering(body, headers={"content-encoding": name}) as server:
        assert await ask(server.url) == {"text": "packed"}


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(b"not gzip", "gzip"), (gzip.compress(b'{"text":"x"}')[:-9], "gzip"), (b"x", "br")],
    ids=["garbage", "cut short", "not asked for"],
)
async def test_a_reply_that_cannot_be_unpacked_is_an_error(body: bytes, encoding: str) -> None:
    async with answering(body, headers={"content-encoding": encoding}) as server:
        with pytest.raises(FallbackError, match=r"unpacked|cut short|not asked for"):
            await ask(server.url)


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 X\r\ncontent-length: 500\r\n\r\n{", b"zzz\r\n\r\n"]
)
async def test_a_connection_that_breaks_is_an_error(head: bytes) -> None:
    async def answer(_: Any, out: Any) -> None:
        out.write(head)
        out.close()

    async with loopback(answer) as server:
        with pytest.raises(FallbackError, match="connection broke"):
            await ask(server.url)
        assert len(server.asked) == 1


async def test_one_byte_a_second_does_not_get_round_the_time_out() -> None:
    async def answer(_: Any, out: Any) -> None:
        out.write(b"HTTP/1.1 200 X\r\ncontent-length: 500\r\n\r\n")
        while True:
            out.write(b" ")
            await out.drain()
            await asyncio.sleep(0.05)

    async with loopback(answer) as server:
        started = time.perf_counter()
        with pytest.raises(FallbackError, match=r"no whole reply within 0\.3 s"):
            await ask(server.url, timeout=0.3)
        assert time.perf_counter() - started < 20  # 500 bytes would take 25 s


async def test_nobody_there_is_an_error_that_asks_whether_it_runs() -> None:
    async with answering() as server:
        url = server.url
    with pytest.raises(FallbackError, match="Is it running"):
        await ask(url)


@pytest.mark.parametrize("url", ["localhost:80", "ftp://localhost/x", "http://", "http://[", ""])
async def test_an_address_that_is_none_is_an_error(url: str) -> None:
    with pytest.raises(FallbackError):
        await ask(url)


async def test_cancelling_aborts_the_request() -> None:
    async def answer(_: Any, out: Any) -> None:
        started.set()
        await asyncio.sleep(30)

    started = asyncio.Event()
    cancel = CancelToken()
    async with loopback(answer) as server:
        asking = asyncio.create_task(ask(server.url, cancel=cancel))
        await started.wait()
        cancel.cancel("enough")
        with pytest.raises(RunCancelled, match="enough"):
            await asyncio.wait_for(asking, 1)


async def test_a_cancelled_run_does_not_ask_at_all() -> None:
    cancel = CancelToken()
    cancel.cancel()
    async with answering() as server:
        with pytest.raises(RunCancelled):
            await ask(server.url, cancel=cancel)
    assert server.asked == []


async def test_what_cannot_be_json_is_said_before_anything_is_sent() -> None:
    step = StepRecord(index=0, kind="tool", brief="x", output=float("nan"), has_output=True)
    async with answering() as server:
        with pytest.raises(FallbackError, match="cannot be written as JSON"):
            await ask(
                server.url, FallbackRequest(ask="x", reason=Reason.TOOL_ERROR, steps=(step,))
            )
    assert server.asked == []


async def test_a_lone_surrogate_is_sent_escaped() -> None:
    async with answering() as server:
        await ask(server.url, FallbackRequest(ask="\ud800", reason=Reason.TOOL_ERROR))
    assert isinstance(server, Loopback)
    assert b'"ask":"\\ud800"' in server.asked[0].body
