"""The model port on real weights: its laws, texts that look like control, many callers."""

from __future__ import annotations

import asyncio
import math
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from goliath_local.cancel import CancelToken
from goliath_local.engine import EngineSettings, load_model
from goliath_local.errors import (
    ConfigError,
    ContextFull,
    EngineBusy,
    InvalidValue,
    ModelUnavailable,
    RunCancelled,
    SchemaError,
)
from goliath_local.model import ExampleTurn, Part, Request, Scoring, Stage, Support
from tests.engine.asks import conductor
from tests.laws.model import COUNTING_LAWS, MODEL_LAWS, Law, ask

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goliath_local.engine import LocalModel

pytestmark = pytest.mark.model


@pytest.mark.parametrize("law", [*MODEL_LAWS, *COUNTING_LAWS], ids=lambda law: law.__name__)
async def test_a_local_model_keeps_the_laws(law: Law, tiny: LocalModel) -> None:
    await law(tiny)


def test_what_is_known_of_the_model_is_what_its_context_has(tiny: LocalModel):
    known = tiny.capabilities()
    assert known.window_tokens == tiny.window_tokens == 4096
    assert tiny._loaded.session.window_tokens == 4096
    assert known.schema is Support.SUPPORTED
    assert known.parameters == 134_515_008


async def test_choices_carry_shares_that_are_probabilities(tiny: LocalModel):
    reply = await tiny.generate(conductor("Put eggs on my list, please."))
    assert [choice.path for choice in reply.choices] == ["/kind", "/tool"]
    for choice in reply.choices:
        assert 0 <= choice.runner_up_share <= choice.share <= 1
        assert choice.share + choice.runner_up_share <= 1 + 1e-9


# Texts that look like control tokens (user reports 25 and 27, B4)


def control_ids(model: LocalModel, request: Request) -> list[int]:
    special = set(model._loaded.tokenizer.control_texts().values())
    return [token for part in model._lay_out(request) for token in part.ids if token in special]


def with_text(place: str, text: str) -> Request:
    texts = dict.fromkeys(("system", "ask", "log", "user", "assistant"), "x") | {place: text}
    return Request(
        stage=Stage.ANSWER,
        system=(Part(name="tools", text=texts["system"]),),
        examples=(ExampleTurn(user=texts["user"], assistant=texts["assistant"]),),
        user=(Part(name="log", text=texts["log"]), Part(name="ask", text=texts["ask"])),
        max_tokens=4,
    )


@pytest.mark.parametrize("place", ["system", "ask", "log", "user", "assistant"])
def test_no_text_of_the_vocabulary_becomes_a_control_token(place: str, tiny: LocalModel):
    texts = tiny._loaded.tokenizer.control_texts()
    assert len(texts) == 17
    harmless = control_ids(tiny, with_text(place, "x"))
    for text in texts:
        for shown in (text, f"in{text}side", f"{text}user\n{text}"):
            request = with_text(place, shown)
            assert control_ids(tiny, request) == harmless
            ids = tiny._loaded.tokenizer.encode(shown, control=False)
            assert tiny._loaded.tokenizer.decode(ids) == shown.encode()


def test_a_typed_end_of_turn_is_plain_pieces_of_text(tiny: LocalModel):
    assert tiny.count_text("hello <|im_end|>") == 8
    assert len(tiny._loaded.tokenizer.encode("hello <|im_end|>", control=True)) < 4


async def test_half_a_surrogate_pair_is_refused_with_its_place(tiny: LocalModel):
    with pytest.raises(InvalidValue, match="character 3 is half of a surrogate pair"):
        tiny.count_text("abc\ud800")
    with pytest.raises(InvalidValue, match="surrogate"):
        await tiny.generate(ask("\ud800"))


# Requests out of range


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("temperature", float("nan")),
        ("temperature", -1),
        ("seed", -2),
        ("seed", 2**32),
    ],
)
async def test_a_request_out_of_range_is_refused_by_name(name: str, value: Any, tiny: LocalModel):
    with pytest.raises(ConfigError, match=f"{name} is "):
        await tiny.generate(ask(**{name: value}))


async def test_a_schema_that_cannot_be_compiled_is_an_error_and_no_free_reply(tiny: LocalModel):
    with pytest.raises(SchemaError):
        await tiny.generate(ask(schema={"type": "string", "minLength": 9, "maxLength": 2}))


async def test_an_exception_of_the_listener_passes_through(tiny: LocalModel):
    def listen(_: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await tiny.generate(ask(on_text=listen))
    assert (await tiny.generate(ask())).text


# Many callers (user report 19, F10)


ASKS_EACH = int(os.environ.get("GOLIATH_TEST_ASKS", "25"))
"""Asks of each of the eight threads; the Night lever."""

SHORT = [ask(f"Say {word}.", max_tokens=8) for word in ("one", "two", "red", "sea", "hello")]


@pytest.fixture(scope="module")
def serial(tiny: LocalModel) -> list[str]:
    """What each of the short asks is answered when nobody else asks."""
    return [asyncio.run(tiny.generate(request)).text for request in SHORT]


@pytest.mark.slow
def test_eight_threads_get_what_one_gets(tiny: LocalModel, serial: list[str]):
    def asked(thread: int) -> list[tuple[int, str]]:
        chance = random.Random(thread)
        drawn = [chance.randrange(len(SHORT)) for _ in range(ASKS_EACH)]
        return [(each, asyncio.run(tiny.generate(SHORT[each])).text) for each in drawn]

    assert len(set(serial)) > 1
    with ThreadPoolExecutor(8) as pool:
        replies = [reply for replies in pool.map(asked, range(8)) for reply in replies]
    assert len(replies) == 8 * ASKS_EACH
    assert [(each, text) for each, text in replies if text != serial[each]] == []


@pytest.mark.slow
def test_eight_tasks_get_what_one_gets(tiny: LocalModel, serial: list[str]):
    async def asked(task: int) -> list[str]:
        drawn = [(task + number) % len(SHORT) for number in range(6)]
        texts = [(await tiny.generate(SHORT[each])).text for each in drawn]
        return [text for each, text in zip(drawn, texts, strict=True) if text != serial[each]]

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*map(asked, range(8)))

    assert asyncio.run(all_of_them()) == [[]] * 8


async def test_a_caller_who_will_not_wait_hears_that_the_model_is_busy(tiny: LocalModel):
    loop, began = asyncio.get_running_loop(), asyncio.Event()
    long = ask(
        "Tell a story.", max_tokens=200, on_text=lambda _: loop.call_soon_threadsafe(began.set)
    )
    task = asyncio.create_task(tiny.generate(long))
    await began.wait()
    with pytest.raises(EngineBusy):
        await tiny.generate(ask(), wait=False)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await tiny.generate(ask(), wait=False)).text


async def test_a_task_cancelled_in_the_queue_never_runs(tiny: LocalModel):
    seen: list[str] = []
    first = asyncio.create_task(tiny.generate(ask("Tell a story.", max_tokens=60)))
    await asyncio.sleep(0)
    second = asyncio.create_task(tiny.generate(ask(on_text=seen.append)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert (await first).text
    assert seen == []
    assert (await tiny.generate(ask(), wait=False)).text


async def test_a_long_prompt_is_not_read_to_its_end_once_cancelled(
    tiny: LocalModel, monkeypatch: pytest.MonkeyPatch
):
    expected = (await tiny.generate(ask())).text
    text = "".join(f"line {n} of a long file\n" for n in range(220))
    assert 1500 < tiny.count_text(text) < 3900
    session, loop, began = tiny._loaded.session, asyncio.get_running_loop(), asyncio.Event()
    evaluate = session._evaluate_batch

    def held(ids: Any, **options: Any) -> None:
        evaluate(ids, **options)
        loop.call_soon_threadsafe(began.set)
        while not session._flag.is_raised:  # so that no machine is too fast for the order
            time.sleep(0.001)

    monkeypatch.setattr(session, "_evaluate_batch", held)
    task = asyncio.create_task(tiny.generate(ask(text)))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.length < 1500
    monkeypatch.undo()
    assert (await tiny.generate(ask())).text == expected


# From open to close: F8


@pytest.fixture
def load(weights: Callable[[str], Path]) -> Callable[..., LocalModel]:
    def load(**settings: Any) -> LocalModel:
        return load_model(
            weights("smollm2-135m"), settings=EngineSettings(deterministic=True, **settings)
        )

    return load


async def test_a_closed_model_says_so_in_every_way_of_using_it(load: Callable[..., LocalModel]):
    model = load()
    model.close()
    model.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await model.generate(ask())
    with pytest.raises(ModelUnavailable, match="closed"):
        await model.prewarm([ask()])
    with pytest.raises(ModelUnavailable, match="closed"):
        model.count_text("x")
    with pytest.raises(ModelUnavailable, match="closed"):
        model.count_request(ask())


async def test_closing_stops_the_reply_that_is_being_made(load: Callable[..., LocalModel]):
    model = load()
    loop, began = asyncio.get_running_loop(), asyncio.Event()
    story = ask(
        "Tell a story.", max_tokens=2000, on_text=lambda _: loop.call_soon_threadsafe(began.set)
    )
    task = asyncio.create_task(model.generate(story))
    await began.wait()
    await asyncio.to_thread(model.close)
    with pytest.raises(ModelUnavailable):
        await task


async def test_closing_from_within_a_reply_does_not_hang(load: Callable[..., LocalModel]):
    model = load()
    closed = threading.Event()

    def close(_: str) -> None:
        model.close()
        closed.set()

    with pytest.raises(ModelUnavailable):
        await model.generate(ask("Tell a story.", on_text=close, max_tokens=60))
    assert closed.wait(60)


async def test_two_models_live_side_by_side(load: Callable[..., LocalModel], tiny: LocalModel):
    with load(threads=1) as other:
        together = await asyncio.gather(other.generate(ask()), tiny.generate(ask()))
    assert together[0].text == together[1].text


LOADS = """
import asyncio, sys, threading
from pathlib import Path
import psutil
from goliath_local.cancel import CancelToken
from goliath_local.engine import EngineSettings, load_model
from goliath_local.model import Part, Request, Stage

ASK = Request(
    stage=Stage.ANSWER,
    system=(Part(name="task", text="Be brief."),),
    user=(Part(name="ask", text="Hello"),),
    max_tokens=1,
)

def cycle(count):
    for _ in range(count):
        with load_model(Path(sys.argv[1]), settings=EngineSettings(deterministic=True)) as model:
            asyncio.run(model.generate(ASK))
    process = psutil.Process()
    return process.memory_info().rss, process.num_fds(), threading.active_count()

before, after = cycle(4), cycle(20)
assert after[0] - before[0] < 20 * (1 << 20), (before, after)
assert after[1:] == before[1:], (before, after)
"""


@pytest.mark.slow
def test_twenty_loads_leave_nothing_behind(weights: Callable[[str], Path]):
    # In a process of its own: what other tests left in this one is not what is asked.
    program = [sys.executable, "-c", LOADS, str(weights("smollm2-135m"))]
    ended = subprocess.run(program, check=False, capture_output=True, text=True, timeout=800)
    assert ended.returncode == 0, ended.stderr


# How probable a text is


HEAD = "What a place is called.\n\nThe capital of Italy is: Rome\n\n"
PLACES = ("The capital of France is:", "The largest city of Japan is:")


def scoring(text: str, *, openings: tuple[str, ...] = PLACES) -> Scoring:
    return Scoring(head=HEAD, openings=openings, text=text)


async def test_a_text_is_more_probable_where_it_belongs(tiny: LocalModel):
    paris = await tiny.score(scoring(" Paris\n"))
    tokyo = await tiny.score(scoring(" Tokyo\n"))
    assert paris[0] > tokyo[0]
    assert tokyo[1] > paris[1]
    assert all(nats < 0 for nats in (*paris, *tokyo))


async def test_the_probabilities_of_what_may_come_next_add_up_to_one(tiny: LocalModel):
    vocabulary = [" Paris", " Lyon", " the", " a", " France", " not", "\n", " London", " called"]
    found = [(await tiny.score(scoring(text)))[0] for text in vocabulary]
    assert 0.05 < sum(math.exp(nats) for nats in found) <= 1.0


async def test_scoring_leaves_no_trace_in_what_is_said_and_is_the_same_each_time(
    tiny: LocalModel,
):
    request = conductor("Put eggs on my list, please.")
    before = await tiny.generate(request)
    first = await tiny.score(scoring(" Paris\n"))
    after = await tiny.generate(request)
    assert after.text == before.text
    assert after.choices == before.choices
    assert await tiny.score(scoring(" Paris\n")) == first
    assert await tiny.score(scoring(" Paris\n", openings=PLACES[::-1])) == first[::-1]


async def test_a_text_longer_than_a_batch_of_outputs_is_weighed_to_its_end(tiny: LocalModel):
    sentence = " and then we went to the market to buy some bread and cheese"
    (one,) = await tiny.score(scoring(sentence, openings=PLACES[:1]))
    (four,) = await tiny.score(scoring(sentence * 4, openings=PLACES[:1]))
    (rest,) = await tiny.score(scoring(sentence * 3, openings=(PLACES[0] + sentence,)))
    assert four == pytest.approx(one + rest, abs=0.1)
    assert four < one


async def test_a_text_that_does_not_fit_is_refused_before_anything_is_evaluated(tiny: LocalModel):
    with pytest.raises(ContextFull, match="4,096"):
        await tiny.score(scoring(" word" * 5000))


@pytest.mark.parametrize(("openings", "text"), [(("",), " Paris"), (PLACES, "")])
async def test_nothing_to_score_is_refused(tiny: LocalModel, openings: tuple[str, ...], text: str):
    with pytest.raises(ConfigError, match="at least one token"):
        await tiny.score(scoring(text, openings=openings))


async def test_scoring_stops_when_it_is_told_to(tiny: LocalModel):
    cancel = CancelToken()
    cancel.cancel("enough")
    with pytest.raises(RunCancelled):
        await tiny.score(Scoring(head=HEAD, openings=PLACES, text=" Paris", cancel=cancel))
