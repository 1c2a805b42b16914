"""Keys, passwords and tokens are sent to whom they belong, and stand in nothing that we write."""

from __future__ import annotations

import json
import logging
import socket
import sys
import traceback
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from goliath_local import create_agent, define_tool
from goliath_local.engine import OpenAICompatibleModel
from goliath_local.evals import fixtures, format_report, run_evals
from goliath_local.evals.record import RecordingModel
from goliath_local.fallback import chat_fallback, http_fallback
from goliath_local.mcp import named_tools
from goliath_local.otel import traced
from goliath_local.records import to_json
from goliath_local.testing import fake_model
from tests.loopback import loopback, reply, stream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

CANARY = "k4n4ry"
KEY, PASSWORD, QUERY = f"sk-{CANARY}-0123456789", f"pw-{CANARY}-abcdef", f"tok-{CANARY}-xyz"
PAIR = b64encode(f"ana:{PASSWORD}".encode()).decode()
TRACES = (CANARY, PAIR)
"""What may stand nowhere; a password is also sent as base64."""

ESCALATE = {"json": {"why": "w", "kind": "escalate", "brief": "b"}}
HEADERS = {"Authorization": f"Bearer {KEY}", "X-Api-Key": KEY, "Cookie": f"session={KEY}"}
READ = define_tool(
    name="read", description="Read.", parameters={"type": "object"}, execute=lambda _, __: "x"
)


@dataclass
class Seen:
    """All that came out of a turn, as text."""

    texts: list[str] = field(default_factory=list)

    def error(self, error: BaseException) -> None:
        self.texts += ["".join(traceback.format_exception(error)), repr(error), str(error)]

    def found(self) -> list[str]:
        return [text for text in self.texts if any(word in text for word in TRACES)]


def secret_url(url: str, *, query: bool = True) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://ana:{PASSWORD}@{rest}" + (f"/hook?token={QUERY}" if query else "")


def echo(asked: Any) -> str:
    """Return a refusal that repeats all it was sent, as careless servers do."""
    return f"Wrong: {' '.join(asked.headers.values())} for {asked.path}"


async def refuses(asked: Any, out: Any) -> None:
    await reply(out, {"error": {"message": echo(asked)}}, status=401)


async def fails(asked: Any, out: Any) -> None:
    await reply(out, {"error": echo(asked)}, status=500)


async def redirects(asked: Any, out: Any) -> None:
    place = secret_url("http://other.invalid")
    await reply(out, status=307, headers={"location": place, "set-cookie": f"s={KEY}"})


async def babbles(asked: Any, out: Any) -> None:
    await reply(out, f"<html>{echo(asked)}</html>")


async def breaks(asked: Any, out: Any) -> None:
    out.close()


async def has_many_models(asked: Any, out: Any) -> None:
    await reply(out, {"data": [{"id": "one"}, {"id": "two"}]})


async def cannot_hold_a_schema(asked: Any, out: Any) -> None:
    words = f"response_format is unknown {echo(asked)}"
    await reply(out, {"error": {"message": words}}, status=400)


async def streams_an_error(asked: Any, out: Any) -> None:
    await stream(out, json.dumps({"error": {"message": echo(asked), "code": 401}}))


SERVERS = [
    refuses,
    fails,
    redirects,
    babbles,
    breaks,
    has_many_models,
    cannot_hold_a_schema,
    streams_an_error,
]


async def a_turn(seen: Seen, **options: Any) -> None:
    """Run a turn and take down its result, its events, its spans and its error."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    agent = create_agent(on_event=lambda event: seen.texts.append(repr(event)), **options)
    seen.texts.append(repr(options))
    try:
        result = await traced(agent, tracer_provider=provider, content=True).run("What is there?")
        seen.texts.append(json.dumps(to_json(result)))
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not tell
        seen.error(error)
    seen.texts += [span.to_json() for span in exporter.get_finished_spans()]


async def over_http(seen: Seen, url: str) -> None:
    fallback = http_fallback(secret_url(url), headers=HEADERS)
    await a_turn(seen, model=fake_model([ESCALATE]), fallback=fallback, tools=[READ])


async def over_http_asked_for_headers(seen: Seen, url: str) -> None:
    fallback = http_fallback(secret_url(url), headers=lambda: HEADERS)
    await a_turn(seen, model=fake_model([ESCALATE]), fallback=fallback, tools=[READ])


async def over_chat(seen: Seen, url: str) -> None:
    fallback = chat_fallback(secret_url(url, query=False), "big", api_key=KEY)
    await a_turn(seen, model=fake_model([ESCALATE]), fallback=fallback, tools=[READ])


async def by_a_server(seen: Seen, url: str) -> None:
    model = OpenAICompatibleModel(secret_url(url, query=False), api_key=KEY)
    await a_turn(seen, model=model, tools=[READ])


async def by_a_server_with_a_password(seen: Seen, url: str) -> None:
    model = OpenAICompatibleModel(secret_url(url, query=False))
    await a_turn(seen, model=model, tools=[READ])


async def by_a_named_model(seen: Seen, url: str) -> None:
    model = OpenAICompatibleModel(url, model="one", api_key=KEY, preset="openai")
    await a_turn(seen, model=model, tools=[READ])


async def in_an_eval(seen: Seen, url: str) -> None:
    model = OpenAICompatibleModel(secret_url(url, query=False), model="one", api_key=KEY)
    recording = RecordingModel(model)
    report = await run_evals(lambda _: recording, [fixtures[0]])
    seen.texts += [format_report(report), repr(report), repr(recording.calls)]


PLACES: list[Callable[[Seen, str], Awaitable[None]]] = [
    over_http,
    over_http_asked_for_headers,
    over_chat,
    by_a_server,
    by_a_server_with_a_password,
    by_a_named_model,
    in_an_eval,
]


@pytest.mark.parametrize("answer", SERVERS, ids=lambda answer: answer.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
async def test_no_secret_stands_in_what_comes_of_a_turn(
    place: Any, answer: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    seen = Seen()
    # httpcore2 has loggers of several names; all of them are heard.
    caplog.set_level(logging.DEBUG)
    async with loopback(answer) as server:
        await place(seen, server.url)
    sent = json.dumps([dict(asked.headers) for asked in server.asked])
    assert KEY in sent or PAIR in sent, "the secret has to be used, else nothing is tried"
    logged = [record.getMessage() for record in caplog.records if record.name != "asyncio"]
    seen.texts += [*logged, *capfd.readouterr()]
    assert seen.found() == []


@pytest.mark.parametrize("key", ["sk-\u00fc" + KEY, f"{KEY}\n{KEY}", f"\x00{KEY}"])
async def test_a_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    seen = Seen()
    async with loopback(refuses) as server:
        fallback = chat_fallback(server.url, api_key=key)
        await a_turn(seen, model=fake_model([ESCALATE]), fallback=fallback, tools=[READ])
    assert "gave no answer" in "".join(seen.texts)
    assert seen.found() == []


TELLS = """
import os, sys
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

if sys.argv[1] == "dies":
    sys.exit(f"Wrong key {os.environ['API_KEY']} {sys.argv[2]}")
server = MCPServer("tells")


@server.tool()
def fail() -> str:
    "Fail."
    raise ToolError(f"Wrong key {os.environ['API_KEY']} {sys.argv[2]}")


server.run("stdio")
"""


@pytest.mark.parametrize("what", ["dies", "fails", "url", "nothing"])
async def test_no_secret_stands_in_what_a_tool_server_is_said_to_have_said(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_KEY", KEY)
    program, listed = tmp_path / "tells.py", tmp_path / "servers.json"
    program.write_text(TELLS)
    server: dict[str, Any] = {
        "command": sys.executable if what != "nothing" else "/no/such/program",
        "args": [str(program), what, "${OUR_KEY}"],
        "env": {"API_KEY": "${OUR_KEY}", "OTHER": PASSWORD},
        "start_timeout_s": 60,
    }
    if what == "url":
        server = {"url": secret_url("https://mcp.invalid")}
    listed.write_text(json.dumps({"mcpServers": {"tells": server}}))
    seen = Seen()
    try:
        [tool] = named_tools(f"mcp:{listed}")
        await tool.execute({}, None)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not tell
        seen.error(error)
    assert seen.texts
    assert seen.found() == []


def nobody() -> str:
    """Return an address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


COMMANDS = (
    "config show",
    "config show --json",
    "config path",
    "run -T demo hello",
    "run -T demo --json hello",
    "run -T demo --jsonl hello",
    "-vv --log-file log.txt run -T demo hello",
    "run -T demo --dry-run hello",
    "trace list",
    "trace show last --prompt",
    "trace export last",
    "trace show last --json",
    "chat",
    "doctor --quick",
)


@pytest.mark.parametrize("source", ["file", "environment", "flag"])
def test_no_command_shows_the_secrets_of_a_fallbacks_address(
    source: str,
    home: Path,
    goliath: Callable[..., Any],
    script: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = secret_url(nobody())
    engine = script(*[ESCALATE] * 20)
    monkeypatch.setenv("GOLIATH_ENGINE", engine)
    if source == "environment":
        monkeypatch.setenv("GOLIATH_FALLBACK", url)
    if source == "file":
        file = home / ".config/goliath-local/config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(f'fallback = "{url}"\n')
    texts = []
    # Wherever it comes from it is one setting; one source goes through every command.
    for line in COMMANDS if source == "file" else COMMANDS[:5]:
        words = line.split()
        if source == "flag" and words[0] in {"run", "chat"}:
            words[1:1] = ["--fallback", url]
        ran = goliath(*words)
        texts += [(line, ran.out), (line, ran.err)]
    for path in [*home.parent.rglob("*")]:
        if path.is_file() and path.name != "config.toml":
            texts.append((path.name, path.read_bytes().decode("utf-8", "replace")))
    assert any("127.0.0.1" in text for _, text in texts), "it was asked"
    assert [(line, text) for line, text in texts if any(word in text for word in TRACES)] == []


@pytest.mark.parametrize(
    "given", [f"HTTPX://ana:{PASSWORD}@h/?t={QUERY}", f"ftp://ana:{PASSWORD}@h/"]
)
def test_an_address_that_cannot_be_used_is_refused_without_its_secrets(
    given: str, goliath: Callable[..., Any], script: Callable[..., str]
) -> None:
    ran = goliath("run", "--engine", script(ESCALATE), "--fallback", given, "hello")
    assert ran.code == 2
    assert "--fallback: the address has to start with http" in ran.err
    assert CANARY not in ran.out + ran.err


def test_a_list_of_addresses_in_a_file_is_refused_without_its_secrets(
    home: Path, goliath: Callable[..., Any]
) -> None:
    file = home / ".config/goliath-local/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'fallback = ["https://ana:{PASSWORD}@h/"]\n')
    ran = goliath("config", "show")
    assert ran.code == 2
    assert "config.toml:1: what it says cannot be used" in ran.err
    assert CANARY not in ran.out + ran.err
