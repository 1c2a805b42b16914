"""A turn handed to llama.cpp's own server with the tiny model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goliath_local import create_agent
from goliath_local.errors import FallbackError, ModelUnavailable
from goliath_local.fallback import chat_fallback
from goliath_local.testing import fake_model
from tests.llama_server import KEY, llama_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def url(weights: Callable[[str], Path]) -> Iterator[str]:
    with llama_server(weights("smollm2-135m"), window_tokens=2048) as address:
        yield address


async def test_a_turn_that_the_device_cannot_finish_is_finished_by_a_real_server(
    url: str,
) -> None:
    model = fake_model([{"error": ModelUnavailable("no")}])
    agent = create_agent(model=model, fallback=chat_fallback(url, api_key=KEY, max_tokens=30))
    result = await agent.run("Say hello.")
    assert result.handled_by == "cloud"
    assert result.text.strip()


async def test_a_hand_off_larger_than_the_servers_window_is_told_with_numbers(url: str) -> None:
    agent = create_agent(
        model=fake_model([{"error": ModelUnavailable("no")}]),
        fallback=chat_fallback(url, api_key=KEY),
    )
    with pytest.raises(FallbackError, match=r"room for 2,048 of 2,048"):
        await agent.run("eggs " * 2500)
