"""Nothing but the documented hand-off leaves the device, and only on an escalation."""

from __future__ import annotations

import random
from typing import Any

from goliath_local import create_agent, define_tool
from goliath_local.extensions import Extension
from goliath_local.fallback import http_fallback
from goliath_local.testing import fake_model
from tests.levers import first_seed, many
from tests.loopback import loopback, reply

ANSWER = [{"json": {"why": "w", "kind": "answer", "brief": "b"}}, {"text": "On device."}]
ESCALATE = [{"json": {"why": "w", "kind": "escalate", "brief": "b"}}]
KEYS = {"ask", "summary", "recent", "steps", "reason", "error"}


def _look(secret: str) -> Any:
    return define_tool(
        name="look", description=f"Look. {secret}-description", execute=lambda *_: {"seen": "milk"}
    )


async def test_random_turns_send_the_hand_off_and_no_canary(monkeypatch: Any) -> None:
    chance, count = random.Random(first_seed(0)), many(200)
    monkeypatch.setenv("GOLIATH_CANARY", "CANARY-environment")
    looked = [{"json": {"why": "CANARY-why", "kind": "tool", "tool": "look", "brief": "b"}}]
    async with loopback(lambda _, out: reply(out, {"text": "From elsewhere."})) as server:
        for number in range(count):
            escalates, looks = chance.random() < 0.5, chance.random() < 0.5
            script = (looked if looks else []) + (ESCALATE if escalates else ANSWER)
            agent = create_agent(
                model=fake_model(script),
                tools=[_look("CANARY")],
                facts={"pin": "CANARY-fact"},
                instructions="CANARY-instructions.",
                fallback=http_fallback(server.url),
            )
            before = len(server.asked)
            result = await agent.run(f"ask {number}", context={"token": "CANARY-context"})
            assert len(server.asked) - before == escalates
            assert result.handled_by == ("cloud" if escalates else "device")
    assert 0.3 * count < len(server.asked) < 0.7 * count
    for asked in server.asked:
        assert b"CANARY" not in asked.body
        assert set(asked.json) <= KEYS
        assert set(asked.json) >= KEYS - {"error"}
        assert asked.json["reason"] == "conductor-asked"


async def test_another_conversation_is_not_in_the_hand_off() -> None:
    async with loopback(lambda _, out: reply(out, {"text": "From elsewhere."})) as server:
        agent = create_agent(
            model=fake_model([*ANSWER, *ANSWER, *ESCALATE]),
            tools=[_look("")],
            fallback=http_fallback(server.url),
        )
        await agent.run("CANARY of another", conversation_id="other")
        await agent.run("first of mine", conversation_id="mine")
        await agent.run("second of mine", conversation_id="mine")
    [asked] = server.asked
    assert b"CANARY" not in asked.body
    assert [exchange["ask"] for exchange in asked.json["recent"]] == ["first of mine"]


async def test_what_a_hook_took_out_does_not_leave() -> None:
    def redact(event: Any) -> Any:
        return {"request": {**vars_of(event.request), "ask": "(redacted)"}}

    async with loopback(lambda _, out: reply(out, {"text": "From elsewhere."})) as server:
        agent = create_agent(
            model=fake_model(ESCALATE),
            tools=[_look("")],
            fallback=http_fallback(server.url),
            extensions=[Extension(name="privacy", before_fallback=redact)],
        )
        result = await agent.run("CANARY 1234")
    assert result.text == "From elsewhere."
    assert b"CANARY" not in server.asked[0].body
    assert server.asked[0].json["ask"] == "(redacted)"


def vars_of(request: Any) -> dict[str, Any]:
    names = ("ask", "reason", "summary", "recent", "steps", "error")
    return {name: getattr(request, name) for name in names}
