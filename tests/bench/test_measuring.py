from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from goliath_local.agent import create_agent
from goliath_local.bench import Listener, Spell, Trials, Watch, constraint_ms, measure_turns, turn
from goliath_local.bench.listening import Heard
from goliath_local.bench.quiet import Clocks, read_clocks
from goliath_local.bench.raw import verify_trials
from goliath_local.bench.rows import row_name
from goliath_local.budget import OUTPUT_CAPS
from goliath_local.errors import ConfigError
from goliath_local.model import (
    Capabilities,
    CountingModel,
    Part,
    PromptTokens,
    Reply,
    Request,
    Stage,
    Usage,
)
from goliath_local.testing import fake_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_tests_have_the_names_that_llama_bench_gives_them() -> None:
    assert row_name(prompt=512) == "pp512"
    assert row_name(reply=128) == "tg128"
    assert row_name(reply=128, depth=2048) == "tg128 @ d2048"


@pytest.mark.parametrize(
    ("trials", "why"),
    [
        (Trials(repetitions=0), "-r"),
        (Trials(prompts=(0,), replies=(0,)), "nothing to measure"),
        (Trials(prompts=(-1,)), "negative"),
        (Trials(prompts=(512,), depths=(0, 3600)), "window has 4,096"),
    ],
)
def test_impossible_trials_are_refused_before_anything_is_loaded(trials: Trials, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        verify_trials(trials, window_tokens=4096)


def test_a_busy_neighbour_is_a_doubt() -> None:
    assert Spell(seconds=1, others_share=0.02, stolen_share=0.0).doubts == ()
    (doubt,) = Spell(seconds=1, others_share=0.4, stolen_share=0.0).doubts
    assert "40%" in doubt
    (doubt,) = Spell(seconds=1, others_share=0.0, stolen_share=0.2).doubts
    assert "host" in doubt


def test_the_watch_blames_others_for_what_was_not_our_own_work() -> None:
    moments = iter(
        [
            Clocks(at=10.0, busy=100.0, stolen=1.0, own=5.0),
            Clocks(at=20.0, busy=114.0, stolen=2.0, own=11.0),
        ]
    )
    spell = Watch(lambda: next(moments), processors=2).spell()
    assert spell == Spell(seconds=10.0, others_share=0.4, stolen_share=0.05)


def test_our_own_work_moves_our_own_clock() -> None:
    before = read_clocks()
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    after = read_clocks()
    # It counts in hundredths, as floats: 10.53 - 10.49 is a little less than 0.04.
    assert round(after.own - before.own, 3) >= 0.04
    assert after.at > before.at


def _request(schema: dict[str, object] | None) -> Request:
    return Request(
        stage=Stage.CONDUCTOR,
        system=(Part(name="instructions", text="Be brief."),),
        user=(Part(name="ask", text="Hello"),),
        schema=schema,
        max_tokens=8,
    )


def test_the_constraint_costs_what_was_chosen_for_over_the_tokens_that_were_sampled() -> None:
    usage = Usage(completion_tokens=12, forced_tokens=8, choosing_s=0.002)
    heard = Heard(
        request=_request({"type": "object"}), reply=Reply(text="", usage=usage), seconds=1
    )
    assert constraint_ms(heard) == pytest.approx(0.5)


def test_free_text_and_replies_without_a_choice_have_no_cost_of_the_constraint() -> None:
    free = Heard(request=_request(None), reply=Reply(text=""), seconds=1)
    forced = Usage(completion_tokens=8, forced_tokens=8, choosing_s=0.002)
    all_forced = Heard(request=_request({}), reply=Reply(text="", usage=forced), seconds=1)
    assert constraint_ms(free) is None
    assert constraint_ms(all_forced) is None


class Counting:
    """A scripted model that counts characters as tokens."""

    def __init__(self, script: list[dict[str, object]]) -> None:
        self._model = fake_model(script)

    async def generate(self, request: Request) -> Reply:
        return await self._model.generate(request)

    def capabilities(self) -> Capabilities:
        return Capabilities(name="scripted", window_tokens=4096)

    def count_text(self, text: str) -> int:
        return len(text) // 4

    def count_request(self, request: Request) -> PromptTokens:
        return PromptTokens(total=self.count_text(request.system_text), by_part={})


async def test_a_listener_keeps_whole_requests_and_gives_them_away_once() -> None:
    listener = Listener(Counting([{"text": "hi"}]))
    await listener.generate(_request(None))
    (heard,) = listener.taken()
    assert heard.request == _request(None)
    assert heard.reply.text == "hi"
    assert listener.taken() == ()
    assert isinstance(listener, CountingModel)


async def test_turns_are_measured_cold_and_warm() -> None:
    plan: dict[str, object] = {"json": {"kind": "answer", "brief": "Say hello."}}
    rows = await measure_turns(Counting([plan, {"text": "Hello."}] * 8), repetitions=2)
    counts = {row.test: len(row.samples) for row in rows}
    assert counts["turn: first token, cold"] == 2
    assert counts["turn: whole, warm"] == 2
    assert counts["turn: step, warm"] == 2


def test_a_scripted_model_has_no_speed(goliath: Callable, script: Callable) -> None:
    ran = goliath("bench", "--engine", script({"text": "hi"}))
    assert ran.code == 2
    assert "no speed" in ran.err


def test_counts_that_are_none_are_wrong_usage(goliath: Callable) -> None:
    ran = goliath("bench", "-p", "many")
    assert ran.code == 2
    assert "-p many" in ran.err


def test_a_report_to_compare_with_must_be_there_before_anything_is_measured(
    goliath: Callable, tmp_path: Path
) -> None:
    ran = goliath("bench", "--compare", str(tmp_path / "gone.json"))
    assert ran.code == 2
    assert "gone.json" in ran.err


@pytest.mark.model
def test_a_real_model_gets_its_rows_and_can_be_compared_with_itself(
    goliath: Callable, weights: Callable[[str], Path], tmp_path: Path
) -> None:
    path = str(weights("smollm2-135m"))
    common = ("bench", "-m", path, "-p", "32", "-n", "4", "-d", "0,16", "-r", "2")
    saved = tmp_path / "report.json"
    first = goliath(*common, "-o", "json", "--save", str(saved))
    assert first.code == 0, first.err
    tests = [row["test"] for row in first.json["rows"]]
    assert tests[:4] == ["pp32", "tg4", "pp32 @ d16", "tg4 @ d16"]
    assert all(row["avg_ts"] > 0 for row in first.json["rows"])
    assert json.loads(saved.read_text(encoding="utf-8")) == first.json
    second = goliath(*common, "--compare", str(saved))
    assert second.code == 0, second.err
    assert "times as good" in second.out


@pytest.mark.model
@pytest.mark.slow
def test_whole_turns_of_a_real_model_are_measured(
    goliath: Callable, weights: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every stage is asked as always, with less to read and to say: that it is measured is tried.
    for stage in Stage:
        monkeypatch.setitem(OUTPUT_CAPS, stage, 96)  # type: ignore[arg-type]  # a dict, in fact
    monkeypatch.setattr(turn, "_ASKS", turn._ASKS[:1])
    monkeypatch.setattr(turn, "create_agent", partial(create_agent, built_in_examples=False))
    path = str(weights("smollm2-135m"))
    ran = goliath("bench", "-m", path, "-p", "8", "-n", "2", "-r", "1", "--turn", "--json")
    assert ran.code == 0, ran.err
    rows = {row["test"]: row for row in ran.json["rows"]}
    turns = [row["avg"] for test, row in rows.items() if test.startswith("turn: ")]
    assert len(turns) == 6
    assert min(turns) > 0
    assert rows["memory, peak"]["unit"] == "MB"
