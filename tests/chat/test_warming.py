"""What a chat evaluates while its user has not asked anything yet."""

import json
import time

import pytest

pytestmark = [pytest.mark.model, pytest.mark.slow]

TINY = "smollm2-135m"
HEADS = 4
"""Plan, arguments, answer, and the fits of tools."""


@pytest.fixture
def warm_chat(home, weights, monkeypatch, spawn):
    """A chat on the tiny model, after all heads were written down."""
    monkeypatch.setenv("GOLIATH_MODELS_DIR", str(weights(TINY).parent))
    monkeypatch.setenv("GOLIATH_MODEL", TINY)
    screen = spawn("chat", "-T", "demo")
    screen.wait_for("you>")
    folder = home / ".local/share/goliath-local/states"
    end = time.monotonic() + 300
    while len(list(folder.glob("*.state"))) < HEADS and time.monotonic() < end:
        screen.settle(0.2)
    assert len(list(folder.glob("*.state"))) == HEADS
    return screen


def test_the_first_turn_of_a_chat_reads_no_head_again(warm_chat, home) -> None:
    warm_chat.type("What is on my list today?\r")
    warm_chat.wait_for("you>", times=2)
    traces = home / ".local/share/goliath-local/traces"
    lines = [line for file in traces.iterdir() for line in file.read_text().splitlines()]
    events = [found.get("event", {}) for found in map(json.loads, lines)]
    usages = [event["usage"] for event in events if event.get("type") == "model"]
    assert usages[0]["promptTokens"] > 1500
    assert max(usage["evaluatedTokens"] for usage in usages) < 400
