from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from goliath_local import create_agent
from goliath_local.errors import ConfigError, ToolServerError
from goliath_local.mcp import ToolServer, mcp_tools
from goliath_local.testing import fake_model
from tests.slowness import without_slowness

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SERVERS = str(Path(__file__).with_name("servers.py"))


patient = partial(mcp_tools, start_timeout_s=120)  # a busy machine may need more than the usual


def command(name: str, *arguments: object) -> list[str]:
    return [sys.executable, SERVERS, name, *map(str, arguments)]


@pytest.fixture(scope="module")
def good() -> Iterator[ToolServer]:
    with patient(command("good"), name="good") as server:
        yield server


@pytest.fixture
def no_children() -> Iterator[None]:
    """No process is left behind."""
    before = set(psutil.Process().children(recursive=True))
    yield
    after = set(psutil.Process().children(recursive=True))
    assert {process for process in after - before if process.is_running()} == set()


async def call(server: ToolServer, tool: str, **given: Any) -> Any:
    return await server.tools[tool].execute(given, None)


async def answered(server: ToolServer, tool: str, **given: Any) -> Any:
    """Call until there is an answer: a busy machine may need more than the time of one call."""
    while True:
        with suppress(ToolServerError):
            return await call(server, tool, **given)


def test_the_menu_has_one_line_a_tool(good: ToolServer) -> None:
    assert list(good.tools) == ["add", "environment", "save", "fail", "sleep"]
    assert good.tools["add"].description == "Add two numbers."
    schema = good.tools["add"].parameters.json
    assert list(schema["properties"]) == ["a", "b"]
    assert schema["required"] == ["a", "b"]


def test_what_is_not_marked_read_only_asks_first(good: ToolServer) -> None:
    asks = {name for name, tool in good.tools.items() if tool.requires_confirmation}
    assert asks == {name for name, tool in good.tools.items() if tool.writes} == {"save"}


async def test_a_call_gives_what_the_tool_returned(good: ToolServer) -> None:
    assert await call(good, "add", a=2, b=3) == 5
    assert await call(good, "save", text="ä 漢 😀") == "saved ä 漢 😀"


async def test_calls_may_come_from_any_loop_and_at_once(good: ToolServer) -> None:
    assert await asyncio.gather(*(call(good, "add", a=n, b=1) for n in range(10))) == list(
        range(1, 11)
    )
    runs = [
        asyncio.to_thread(lambda n=n: asyncio.run(call(good, "add", a=n, b=1))) for n in (5, 6)
    ]
    assert await asyncio.gather(*runs) == [6, 7]


async def test_a_tool_that_fails_says_what_it_said(good: ToolServer) -> None:
    with pytest.raises(ToolServerError, match=r"good fail: .*no such note"):
        await call(good, "fail", why="no such note")
    assert await call(good, "add", a=1, b=1) == 2


async def test_a_server_inherits_only_a_few_variables(
    good: ToolServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "SECRET")
    with patient(command("good"), env={"GIVEN": "yes"}, tools=["environment"]) as server:
        seen = await call(server, "environment")
    assert seen["GIVEN"] == "yes"
    assert "SECRET" not in str(seen)


async def test_a_call_that_takes_too_long_fails_and_the_server_stays_usable() -> None:
    with patient(command("good"), call_timeout_s=0.5) as server:
        with pytest.raises(ToolServerError, match=r"sleep: .*(did not answer|[Tt]imed out)"):
            await call(server, "sleep", seconds=1.5)
        assert await answered(server, "add", a=1, b=2) == 3


async def test_a_cancelled_call_stops_waiting(good: ToolServer) -> None:
    calling = asyncio.create_task(call(good, "sleep", seconds=2.0))
    await asyncio.sleep(0.05)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling


def test_more_than_five_tools_have_to_be_chosen(no_children: None) -> None:
    with pytest.raises(ConfigError, match=r"7 tools are too many.*tool\.0, tool\.1"):
        patient(command("many"), name="many")


def test_tools_are_chosen_by_name_and_may_be_prefixed(no_children: None) -> None:
    with patient(command("many"), tools=["tool.6", "tool.0"], prefix="box-") as server:
        assert list(server.tools) == ["box-tool_6", "box-tool_0"]
        assert all(tool.writes for tool in server.tools.values())


def test_a_tool_that_is_not_offered_is_an_error_that_lists_what_is(no_children: None) -> None:
    with pytest.raises(ConfigError, match=r"offers no tool 'delete'.*add, environment, save"):
        patient(command("good"), tools=["delete"])


@pytest.mark.parametrize("blank", ["", "  ", [], [""]])
def test_a_blank_command_is_refused(blank: Any) -> None:
    with pytest.raises(ConfigError, match="The command is blank"):
        mcp_tools(blank)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["/no/such/program"], "program: .*/no/such/program cannot be started: No such file"),
        (command("dies"), "no database at /nowhere"),
    ],
)
def test_a_server_that_ends_at_once_is_told_with_its_last_words(
    given: list[str], words: str, no_children: None
) -> None:
    started = time.perf_counter()
    with pytest.raises(ToolServerError, match=words):
        patient(given)
    assert time.perf_counter() - started < 60  # a hang, not a speed


def test_a_command_that_is_not_there_is_told_in_whole_sentences() -> None:
    with pytest.raises(ToolServerError) as caught:
        mcp_tools("no-such-program --fast", start_timeout_s=60)
    assert "no-such-program cannot be started: No such file or directory. Run it by itself" in str(
        caught.value
    )


def test_a_server_that_never_answers_is_given_up_and_ended(
    tmp_path: Path, no_children: None
) -> None:
    pids = tmp_path / "pids"
    started = time.perf_counter()
    with pytest.raises(
        ToolServerError, match=r"did not answer in time\. Its last words: warming up"
    ):
        mcp_tools(command("silent", pids), start_timeout_s=6.0)
    assert time.perf_counter() - started < 60  # a hang, not a speed
    assert not any(map(_lives, pids.read_text(encoding="utf-8").split()))


@pytest.mark.parametrize("name", ["garbage", "endless"])
def test_a_server_that_speaks_otherwise_is_given_up(name: str, no_children: None) -> None:
    started = time.perf_counter()
    with pytest.raises(ToolServerError, match=f"^{name}: "):
        mcp_tools(command(name), name=name, start_timeout_s=3.0)
    assert time.perf_counter() - started < 60  # a hang, not a speed


def _lives(pid: str) -> bool:
    try:
        return psutil.Process(int(pid)).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _gone_within(seconds: float, pids: list[str]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(_lives, pids)):
            return True
        time.sleep(0.05)
    return False


PARENT = """
import sys
from goliath_local.mcp import mcp_tools
mcp_tools(sys.argv[1:], start_timeout_s=60)
"""


def test_when_this_program_is_killed_its_servers_end(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *command("silent", pids)])
    while not (pids.exists() and pids.read_text(encoding="utf-8")):
        time.sleep(0.05)
        assert parent.poll() is None
    running = pids.read_text(encoding="utf-8").split()
    assert all(map(_lives, running))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert _gone_within(60, running)


def test_a_program_that_does_not_close_its_server_leaves_nothing_behind(tmp_path: Path) -> None:
    program = """
import sys, psutil
from goliath_local.mcp import mcp_tools
mcp_tools(sys.argv[1:], start_timeout_s=120)
print(*(child.pid for child in psutil.Process().children(recursive=True)))
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program, *command("good")],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, without_slowness(done.stderr)) == (0, "")
    assert len(done.stdout.split()) >= 2
    assert _gone_within(60, done.stdout.split())


async def test_a_server_that_dies_in_the_middle_fails_the_call_and_is_told() -> None:
    with patient(command("good"), tools=["add", "sleep"]) as server:
        [guard] = [
            child
            for child in psutil.Process().children()
            if "guard.py" in " ".join(child.cmdline()) and child.children()
        ][-1:]
        calling = asyncio.create_task(call(server, "sleep", seconds=600.0))
        await asyncio.sleep(0.3)
        guard.children()[0].kill()
        with pytest.raises(ToolServerError, match="sleep: "):
            await asyncio.wait_for(calling, 300)
        with pytest.raises(ToolServerError, match="add: "):
            await call(server, "add", a=1, b=1)


async def test_a_closed_server_says_so(no_children: None) -> None:
    server = patient(command("good"), tools=["add"])
    server.close()
    server.close()
    with pytest.raises(ToolServerError, match="closed"):
        await call(server, "add", a=1, b=1)


async def test_an_agent_uses_the_tools_and_asks_before_a_change(good: ToolServer) -> None:
    def plan(kind: str, tool: str | None = None) -> dict[str, Any]:
        return {
            "json": {"why": "w", "kind": kind, "brief": "b"} | ({"tool": tool} if tool else {})
        }

    script = [
        plan("tool", "add"),
        {"json": {"a": 2, "b": 3}},
        plan("tool", "save"),
        {"json": {"text": "5"}},
        plan("answer"),
        {"text": "Five."},
    ]
    agent = create_agent(model=fake_model(script), tools=good.tools)
    result = await agent.run("add and save")
    added, saved = result.steps[:2]
    assert (added.status, added.output) == ("completed", 5)
    assert (saved.status, saved.skip_reason) == ("skipped", "confirmation")


def test_the_example_of_the_page_runs() -> None:
    page = Path(__file__).parents[2] / "docs" / "mcp.md"
    [block] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    block = block.replace('"uvx mcp-server-time"', f"{command('good')!r}, start_timeout_s=120")
    block = block.replace("get_current_time", "add")
    script = [{"json": {"why": "w", "kind": "answer", "brief": "b"}}, {"text": "Noon."}]
    names: dict[str, Any] = {"model": fake_model(script)}
    exec(compile(block, page.name, "exec"), names)
    assert names["result"].text == "Noon."
