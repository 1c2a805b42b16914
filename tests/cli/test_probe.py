"""The first questions of a turn, seen without being asked."""

import json

import pytest

from goliath_local.agent import create_agent
from goliath_local.cli.probe import first_request, opening_requests
from goliath_local.errors import ConfigError
from goliath_local.model import Stage
from goliath_local.testing import fake_model
from goliath_local.tools import define_tool
from tests.harness.counting import Counting

OF = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
NONE = {"type": "object", "properties": {}}
TOOLS = [
    define_tool(name="look", description="Lists all.", parameters=NONE, execute=lambda *_: "3"),
    define_tool(name="count", description="Counts.", parameters=OF, execute=lambda *_: "3 apples"),
]
PLAN = {"want": "question", "brief": "count", "kind": "tool", "tool": "count"}
CLOSING = json.dumps({"kind": "answer", "brief": "3"})
REPLIES = [{"text": json.dumps(PLAN)}, {"text": '{"of":"apples"}'}, {"text": "There are 3."}]


def options(model, **more):
    return {"model": model, "window": 4096, "max_steps": 6, "facts": {"today": "Monday"}} | more


def head(request):
    return request.system_text, request.examples


async def asked(model, ask: str):
    agent = create_agent(model=model, tools=TOOLS, max_steps=6, facts={"today": "Monday"})
    await agent.run(ask)
    return model.fake.calls if isinstance(model, Counting) else model.calls


@pytest.mark.parametrize(
    ("kind", "closing"),
    [(Counting, []), (fake_model, [{"text": CLOSING}])],
    ids=["here", "remote"],
)
async def test_the_question_shown_is_the_one_that_the_model_gets(kind, closing) -> None:
    *first, last = REPLIES
    calls = await asked(kind([*first, *closing, last]), "how many apples?")
    shown = await first_request("how many apples?", TOOLS, **options(kind([])))
    assert head(shown) == head(calls[0].request)
    assert shown.user_text == calls[0].request.user_text


async def test_what_is_evaluated_ahead_is_what_every_stage_begins_with() -> None:
    calls = await asked(Counting(REPLIES), "how many apples?")
    opening = await opening_requests(TOOLS, **options(Counting([])))
    assert [request.stage for request in opening] == [
        Stage.CONDUCTOR,
        Stage.WORKER,
        Stage.ANSWER,
    ]
    assert [head(request) for request in opening] == [head(call.request) for call in calls]


async def test_without_tools_only_the_answer_is_evaluated_ahead() -> None:
    opening = await opening_requests([], **options(Counting([])))
    assert [request.stage for request in opening] == [Stage.ANSWER]


async def test_a_turn_that_asks_nothing_has_no_question() -> None:
    with pytest.raises(ConfigError, match="No question came"):
        await first_request("", TOOLS, **options(None, said=dict.fromkeys(Stage, "-")))
