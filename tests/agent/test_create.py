"""What `create_agent` checks, and what an agent says of itself."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

import goliath_local
from goliath_local.agent import create_agent
from goliath_local.cancel import CancelToken
from goliath_local.errors import ConfigError, RunCancelled
from goliath_local.model import Capabilities, PromptTokens, Reply, WindowSource
from goliath_local.testing import fake_model
from goliath_local.tools import define_tool


def _tool(name="look", **options):
    return define_tool(
        name=name,
        description="Looks.",
        parameters={"type": "object", "properties": {}},
        execute=lambda _arguments, _context: "seen",
        **options,
    )


class Counting:
    """A model with a tokenizer of its own: a token a word."""

    def __init__(self, window=2048, replies=("Hello.",)):
        self.window = window
        self.replies = list(replies)
        self.counted = []

    async def generate(self, request):
        return Reply(text=self.replies.pop(0))

    def capabilities(self):
        return Capabilities(window_tokens=self.window, window_source=WindowSource.REPORTED)

    def count_text(self, text):
        return len(text.split())

    def count_request(self, request):
        self.counted.append(request)
        total = self.count_text(request.system_text) + self.count_text(request.user_text)
        return PromptTokens(total=total, by_part={"all": total})


@pytest.mark.parametrize("steps", [-1, 1.5, math.nan, True, "5"])
def test_a_step_cap_that_is_no_whole_number_from_zero_is_refused(steps):  # 1
    with pytest.raises(ConfigError, match="max_steps"):
        create_agent(model=fake_model([]), max_steps=steps)


@pytest.mark.parametrize("window", [0, -1, 0.5, math.nan, math.inf, True])
def test_a_window_that_is_no_positive_whole_number_is_refused(window):  # 2
    with pytest.raises(ConfigError, match="window"):
        create_agent(model=fake_model([]), window=window)


async def test_a_window_callable_that_gives_zero_rejects_the_run_before_any_model_call():  # 3
    model = fake_model([{"text": "hi"}])
    agent = create_agent(model=model, window=lambda: 0)
    with pytest.raises(ConfigError, match="window is 0"):
        await agent.run("hello")
    assert model.calls == []


async def test_a_window_callable_is_called_once_a_turn():  # 4
    asked = []

    async def window():
        asked.append(1)
        return 4096

    script = [{"text": "hi"}, {"text": "hi again"}]
    agent = create_agent(model=fake_model(script), window=window)
    await agent.run("hello")
    assert len(asked) == 1
    await agent.run("hello")
    assert len(asked) == 2


@pytest.mark.parametrize("share", [-0.1, 1.1, "high", math.nan])
def test_a_wanted_confidence_that_is_no_share_is_refused(share):
    with pytest.raises(ConfigError, match="min_confidence"):
        create_agent(model=fake_model([]), min_confidence=share)


@pytest.mark.parametrize("names", [("a", "a"), ("",), ("  ",), (None,)])
def test_extensions_need_names_of_their_own(names):  # 5
    extensions = [SimpleNamespace(name=name) for name in names]
    with pytest.raises(ConfigError, match="name"):
        create_agent(model=fake_model([]), extensions=extensions)


def test_two_tools_of_one_name_are_refused():  # 6
    with pytest.raises(ConfigError, match="look"):
        create_agent(model=fake_model([]), tools=[_tool(), _tool()])


def test_a_prerequisite_that_no_tool_answers_to_is_refused():  # 7
    with pytest.raises(ConfigError, match="find"):
        create_agent(model=fake_model([]), tools=[_tool(requires=("find",))])


async def test_tools_go_by_their_own_names_not_by_the_keys_of_the_mapping():  # 8
    plan = {"kind": "tool", "tool": "look", "brief": "look"}
    script = [{"json": plan}, {"json": {"kind": "answer", "brief": "tell"}}, {"text": "Seen."}]
    agent = create_agent(model=fake_model(script), tools={"other": _tool("look")})
    result = await agent.run("look around")
    assert result.steps[0].tool == "look"


def test_defaults_are_exported_as_constants():  # 9
    assert goliath_local.DEFAULT_WINDOW == 4096
    assert goliath_local.DEFAULT_MAX_STEPS == 5
    assert goliath_local.SESSION_FALLBACK_AFTER == 3
    assert create_agent(model=fake_model([])).context_window == 4096


def test_every_name_of_the_front_door_is_there():
    for name in goliath_local.__all__:
        assert getattr(goliath_local, name) is not None
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = goliath_local.nothing_here


def test_run_sync_gives_what_awaiting_run_gives():  # 19
    import asyncio

    script = [{"text": "Good morning."}]
    now = create_agent(model=fake_model(script)).run_sync("hello")
    later = asyncio.run(create_agent(model=fake_model(script)).run("hello"))
    assert (now.text, now.steps, now.trace) == (later.text, later.steps, later.trace)


async def test_run_sync_inside_an_event_loop_says_what_to_write():
    with pytest.raises(ConfigError, match=r"await agent\.run"):
        create_agent(model=fake_model([])).run_sync("hello")


async def test_a_model_that_counts_says_how_large_the_window_is():
    model = Counting(window=2048)
    agent = create_agent(model=model)
    assert agent.context_window == 2048
    result = await agent.run("hello")
    [budget] = [event for event in result.trace if event.type == "budget"]
    assert (budget.window, budget.source) == (2048, "tokenizer")
    assert budget.report["windowSource"] == "reported"
    assert budget.tokens == model.count_request(model.counted[-1]).total


def test_a_window_above_the_models_own_is_refused_with_both_numbers():
    with pytest.raises(ConfigError, match=r"8,192.*2,048"):
        create_agent(model=Counting(window=2048), window=8192)


async def test_a_smaller_window_than_the_models_own_is_taken():
    agent = create_agent(model=Counting(window=2048), window=1024)
    result = await agent.run("hello")
    assert agent.context_window == 1024
    assert [e.window for e in result.trace if e.type == "budget"] == [1024]


async def test_an_ask_that_is_no_text_is_refused():
    with pytest.raises(ConfigError, match="The ask"):
        await create_agent(model=fake_model([])).run(42)


async def test_time_running_out_cancels_the_run_and_says_so():
    import asyncio

    async def slow(_arguments, context):
        while not context.cancel.cancelled:
            await asyncio.sleep(0.005)
        return "late"

    tool = define_tool(
        name="wait",
        description="Waits.",
        parameters={"type": "object", "properties": {}},
        execute=slow,
    )
    plan = {"kind": "tool", "tool": "wait", "brief": "wait"}
    agent = create_agent(model=fake_model([{"json": plan}]), tools=[tool])
    with pytest.raises(RunCancelled, match=r"0\.05 s"):
        await agent.run("wait", timeout_s=0.05)


async def test_the_callers_own_token_still_counts_beside_a_time_limit():
    token = CancelToken()
    token.cancel("enough")
    agent = create_agent(model=fake_model([]))
    with pytest.raises(RunCancelled, match="enough"):
        await agent.run("hello", cancel=token, timeout_s=30)


async def test_seed_and_temperature_reach_the_model_and_the_result():
    model = fake_model([{"text": "hi"}, {"text": "hi"}])
    agent = create_agent(model=model, seed=7, temperature=0.5)
    assert (await agent.run("hello")).seed == 7
    assert (await agent.run("hello", seed=9)).seed == 9
    assert [(c.request.seed, c.request.temperature) for c in model.calls] == [(7, 0.5), (9, 0.5)]


async def test_a_class_may_be_the_factory_of_models_that_count():
    made = []

    class Fresh(Counting):
        def __init__(self):
            super().__init__()
            made.append(self)

    agent = create_agent(model=Fresh)
    assert agent.context_window == 4096
    result = await agent.run("hello")
    assert [event.source for event in result.trace if event.type == "budget"] == ["tokenizer"]
    assert len(made) == 1


@pytest.mark.parametrize(
    ("line", "unwanted"),
    [
        ("import goliath_local", {"llama_cpp", "numpy", "pydantic", "httpx2", "jsonschema"}),
        ("from goliath_local import create_agent", {"llama_cpp", "typer", "rich"}),
    ],
)
def test_importing_the_front_door_loads_no_more_than_is_asked_for(line, unwanted):
    import subprocess
    import sys

    code = f"{line}\nimport sys\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not unwanted & set(ran.stdout.split())
