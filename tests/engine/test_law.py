"""The law: a reply is the same bytes whatever was evaluated before it.

For one file, one build and one list of parts it does not matter whether the cache is cold, warm,
truncated, restored from memory or from disk, or prewarmed. Two real models, 42 requests each; what
does not depend on the weights (the order of requests, disk, threads) is tried on the smaller one.
`GOLIATH_TEST_LAW_CARD` names another one to be tried as well: `qwen2.5-coder-1.5b` takes minutes.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from goliath_local.catalogue import find_card
from goliath_local.engine import EngineSettings, load_model
from tests.engine.asks import session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from goliath_local.engine import LocalModel
    from goliath_local.model import Reply, Request

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(1800)]

REQUESTS = session()
SMALLER = "smollm2-135m"
MORE = tuple(filter(None, [os.environ.get("GOLIATH_TEST_LAW_CARD")]))


smaller_only = pytest.mark.parametrize("card_name", [SMALLER], indirect=True, scope="module")


@pytest.fixture(scope="module", params=[SMALLER, "qwen2.5-coder-0.5b", *MORE])
def card_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def load(card_name: str, weights: Callable[[str], Path]) -> Callable[..., LocalModel]:
    card = find_card(card_name)

    def load(**settings: Any) -> LocalModel:
        return load_model(
            weights(card_name),
            name=card_name,
            sha256=card.sha256,
            settings=EngineSettings(deterministic=True, **settings),
        )

    return load


async def replies(model: LocalModel, requests: Sequence[Request]) -> list[Any]:
    return [content(await model.generate(request)) for request in requests]


def content(reply: Reply) -> Any:
    usage = reply.usage
    tokens = (usage.prompt_tokens, usage.completion_tokens, usage.forced_tokens)
    return reply.text, reply.finish, reply.choices, tokens


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cold(load: Callable[..., LocalModel]) -> list[Any]:
    with load(fresh=True) as model:
        found = []
        for request in REQUESTS:
            reply = await model.generate(request)
            assert reply.usage.evaluated_tokens == reply.usage.prompt_tokens
            found.append(content(reply))
        return found


async def test_a_warm_cache_gives_the_bytes_of_a_cold_one(load: Any, cold: list[Any]):
    with load() as model:
        assert await replies(model, REQUESTS) == cold
        last = await model.generate(REQUESTS[0])
        assert last.usage.evaluated_tokens < last.usage.prompt_tokens / 4


@smaller_only
async def test_requests_in_another_order_give_the_bytes_of_cold_ones(load: Any, cold: list[Any]):
    with load() as model:
        order = list(range(len(REQUESTS)))
        random.Random(0).shuffle(order)
        again = await replies(model, [REQUESTS[index] for index in order])
        assert again == [cold[index] for index in order]


async def test_a_truncated_cache_gives_the_bytes_of_a_cold_one(load: Any, cold: list[Any]):
    with load(snapshot_memory_bytes=0) as model:
        reused = 0
        for request, expected in zip(REQUESTS, cold, strict=True):
            reply = await model.generate(request)
            assert content(reply) == expected
            reused += reply.usage.prompt_tokens - reply.usage.evaluated_tokens
        assert reused > 0


@smaller_only
async def test_a_restart_from_disk_gives_the_bytes_of_a_cold_one(
    load: Any, cold: list[Any], tmp_path: Path
):
    with load(snapshot_dir=tmp_path / "states") as model:
        await model.prewarm(REQUESTS[:6])
        assert await replies(model, REQUESTS[:12]) == cold[:12]
    assert len(list((tmp_path / "states").glob("*.state"))) == 3  # one a stage
    with load(snapshot_dir=tmp_path / "states") as model:
        first = await model.generate(REQUESTS[0])
        assert content(first) == cold[0]
        assert first.usage.evaluated_tokens < first.usage.prompt_tokens / 4
        assert await replies(model, REQUESTS[1:]) == cold[1:]


@smaller_only
async def test_another_number_of_threads_gives_the_same_bytes(load: Any, cold: list[Any]):
    with load(threads=1) as model:
        assert await replies(model, REQUESTS[:12]) == cold[:12]
