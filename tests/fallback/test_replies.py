"""B11: every kind of reply, to both fallbacks: a text or an error, within limits, asked once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from goliath_local.cancel import CancelToken
from goliath_local.catalogue.web import Address
from goliath_local.catalogue.web import ask as ask_web
from goliath_local.errors import FallbackError, FetchError
from goliath_local.fallback import chat_fallback, http_fallback
from tests.fallback.test_http_fallback import REQUEST, _gzip_of_zeros
from tests.levers import slow_after
from tests.loopback import loopback, reply

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "secret-key"


@dataclass(frozen=True)
class Way:
    """One of the two: how it asks, and a reply of its form that holds something as the text."""

    make: Callable[..., Any]
    body: Callable[[Any], dict[str, Any]]

    async def ask(self, url: str, **options: Any) -> Any:
        return await self.make(url, **{"timeout": 30.0} | options)(REQUEST, cancel=CancelToken())


def _http(url: str, **options: Any) -> Any:
    return http_fallback(url, headers={"authorization": f"Bearer {SECRET}"}, **options)


def _chat(url: str, **options: Any) -> Any:
    return chat_fallback(url, api_key=SECRET, **options)


def _choice(text: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"finish_reason": "stop", "message": message}]}


WAYS = {"http": Way(_http, lambda text: {"text": text}), "chat": Way(_chat, _choice)}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


async def endless(out: Any) -> None:
    out.write(b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        out.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        await out.drain()


async def dripping(out: Any) -> None:
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: 500\r\n\r\n")
    while True:
        out.write(b" ")
        await out.drain()
        await asyncio.sleep(0.05)


async def broken_off(out: Any, body: dict[str, Any]) -> None:
    whole = json.dumps(body).encode()
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: %d\r\n\r\n" % len(whole) + whole[:-5])
    await out.drain()
    out.close()


async def longer_than_said(out: Any, body: dict[str, Any]) -> None:
    whole = json.dumps(body).encode()
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: %d\r\n\r\n" % (len(whole) - 5) + whole)
    await out.drain()
    out.close()


async def shorter_than_said(out: Any, body: dict[str, Any]) -> None:
    whole = json.dumps(body).encode()
    out.write(b"HTTP/1.1 200 X\r\ncontent-length: %d\r\n\r\n" % (len(whole) + 5) + whole)
    await out.drain()
    out.close()


def _raw(text: bytes, way: Way) -> bytes:
    return json.dumps(way.body("@")).encode().replace(b"@", text)


GIVES_A_TEXT: dict[str, tuple[str, str]] = {
    "a text": ("ok", "ok"),
    "a text with ESC": ("a\x1b[2Jb", "a\x1b[2Jb"),
}

GIVES_NONE: dict[str, tuple[Callable[[Any, Way], Any], str]] = {
    "a bare string": (lambda out, way: reply(out, b'"ok"'), "has to reply|not of the chat form"),
    "a number for a text": (lambda out, way: reply(out, way.body(5)), "has to reply|form"),
    "an empty object": (lambda out, way: reply(out, {}), "has to reply|no end"),
    "204": (lambda out, way: reply(out, status=204), "JSON"),
    "500 with a page": (lambda out, way: reply(out, b"<html>", status=500), "answered 500"),
    "one byte now and then": (lambda out, way: dripping(out), "no whole reply within 0.3 s"),
    "chunks without end": (lambda out, way: endless(out), "over 1,048,576 bytes"),
    "a gibibyte of zeros, packed": (
        lambda out, way: reply(out, _gzip_of_zeros(1024), headers={"content-encoding": "gzip"}),
        "over 1,048,576 bytes",
    ),
    "no UTF-8": (lambda out, way: reply(out, _raw(b"\xff", way)), "JSON"),
    "closed in the middle": (lambda out, way: broken_off(out, way.body("ok")), "broke"),
    "longer than it says": (lambda out, way: longer_than_said(out, way.body("ok")), "JSON"),
    "shorter than it says": (lambda out, way: shorter_than_said(out, way.body("ok")), "broke"),
}


@pytest.mark.parametrize(("sent", "text"), GIVES_A_TEXT.values(), ids=GIVES_A_TEXT)
async def test_a_text_is_given_as_it_came(way: Way, sent: str, text: str) -> None:
    async with loopback(lambda _, out: reply(out, way.body(sent))) as server:
        assert await way.ask(server.url) == {"text": text}
        assert len(server.asked) == 1


@pytest.mark.parametrize(("answer", "words"), GIVES_NONE.values(), ids=GIVES_NONE)
async def test_what_is_no_text_is_an_error_after_one_attempt(
    way: Way, answer: Any, words: str
) -> None:
    timeout = 0.3 if "within" in words else 30.0
    async with loopback(lambda _, out: answer(out, way)) as server:
        with pytest.raises(FallbackError, match=words) as caught:
            await way.ask(server.url, timeout=timeout)
        assert len(server.asked) == 1
    assert server.url in str(caught.value)
    assert SECRET not in str(caught.value)


REDIRECTS = {
    "302 to another host": (302, "{other}/x"),
    "302 without a scheme": (302, "//{host}/x"),
    "307 with the body": (307, "{other}/x"),
    "308 with the body": (308, "{other}/x"),
}


@pytest.mark.parametrize("follows", [False, True], ids=["own client", "a client that follows"])
@pytest.mark.parametrize("redirect", slow_after(1, REDIRECTS.values()), ids=REDIRECTS)
async def test_no_redirect_carries_anything_elsewhere(
    way: Way, redirect: tuple[int, str], follows: bool
) -> None:
    status, target = redirect
    async with (
        loopback(lambda _, out: reply(out, way.body("no"))) as other,
        loopback(lambda _, out: reply(out, status=status, headers={"location": place})) as server,
        httpx2.AsyncClient(follow_redirects=True) as client,
    ):
        place = target.format(other=other.url, host=other.url.removeprefix("http://"))
        with pytest.raises(FallbackError, match=f"{status}"):
            await way.ask(server.url, **({"client": client} if follows else {}))
        assert len(server.asked) == 1
    assert other.asked == []


# From https to http: no server has to speak TLS for that, a transport stands in for it.

ELSEWHERE = (
    "http://cloud.invalid/x",
    "http://cloud.invalid:443/x",
    "https://other.invalid/x",
    "https://cloud.invalid:8443/x",
    "//other.invalid/x",
    "ftp://cloud.invalid/x",
)


def _redirecting(
    target: str, status: int, whole: dict[str, Any]
) -> tuple[list[httpx2.Request], httpx2.MockTransport]:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        if len(seen) == 1:
            return httpx2.Response(status, headers={"location": target})
        return httpx2.Response(200, stream=httpx2.ByteStream(json.dumps(whole).encode()))

    return seen, httpx2.MockTransport(handle)


@pytest.mark.parametrize("status", slow_after(1, [307, 301, 302, 303, 308]))
@pytest.mark.parametrize("target", ELSEWHERE)
async def test_a_hand_off_over_https_never_goes_on_in_the_clear_or_elsewhere(
    way: Way, target: str, status: int
) -> None:
    seen, transport = _redirecting(target, status, way.body("no"))
    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        with pytest.raises(FallbackError, match="which is not followed"):
            await way.ask("https://cloud.invalid/start", client=client)
    assert [str(request.url.scheme) for request in seen] == ["https"]


async def test_a_hand_off_over_https_goes_on_at_the_same_place(way: Way) -> None:
    seen, transport = _redirecting("/moved", 307, way.body("there"))
    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        assert await way.ask("https://cloud.invalid/start", client=client) == {"text": "there"}
    assert str(seen[1].url) == "https://cloud.invalid/moved"
    assert seen[1].headers["authorization"] == f"Bearer {SECRET}"


def _pulled(start: str, target: str) -> list[httpx2.Request]:
    seen, transport = _redirecting(target, 302, {})
    address = Address(url=start, host="hub.invalid", token=SECRET)
    with httpx2.Client(transport=transport) as client, ask_web(client, address, {}) as response:
        assert response.status_code == 200
    return seen


@pytest.mark.parametrize(
    "target", ["http://hub.invalid/x", "http://cdn.invalid/x", "ftp://a/x", "https://u:p@a/x"]
)
def test_a_pull_never_follows_from_https_to_anything_else(target: str) -> None:
    with pytest.raises(FetchError, match=r"not https\. It was not followed"):
        _pulled("https://hub.invalid/x", target)


@pytest.mark.parametrize(
    ("start", "target"),
    [
        ("https://hub.invalid/x", "https://cdn.invalid/y"),
        ("https://hub.invalid/x", "/y"),
        ("http://hub.invalid/x", "https://hub.invalid/x"),
    ],
)
def test_a_pull_follows_to_https_and_leaves_the_token_behind(start: str, target: str) -> None:
    first, second = _pulled(start, target)
    assert first.headers["authorization"] == f"Bearer {SECRET}"
    assert "authorization" not in second.headers
    assert second.url.scheme == "https"
