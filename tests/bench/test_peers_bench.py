from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from bench.amounts import FULL, QUICK, USUAL
from bench.answers import Failed
from bench.child import Child
from bench.compare import rendered
from bench.constraint import field_count
from bench.growth import steps_of
from bench.limit import bytes_per_token, operations_per_token
from bench.measures import (
    BARS,
    Measure,
    line,
    of_other_sections,
    read_csv,
    shown,
    write_csv,
)
from bench.plot import seconds_by_steps
from bench.recorded import (
    RecordedTurn,
    head_only,
    heads,
    messages,
    prompts_sha256,
    read_request,
    read_turns,
    request_json,
    save_turns,
    varied,
)
from bench.recording import choose_fixtures, dev_set
from bench.turns import Line, Lines, figures, group_ratios
from goliath_local.bench import Heard
from goliath_local.catalogue import read_gguf_header
from goliath_local.model import ExampleTurn, Part, Reply, Request, Stage, Usage

if TYPE_CHECKING:
    from pathlib import Path


def _request(ask: str = "What is on my list?", *, stage: Stage = Stage.CONDUCTOR) -> Request:
    return Request(
        stage=stage,
        system=(Part(name="instructions", text="You plan."), Part(name="tools", text="\nnone")),
        examples=(ExampleTurn(user="Hi", assistant='{"kind":"answer"}'),),
        user=(Part(name="counter", text="Step 1\n"), Part(name="ask", text=ask)),
        schema={"type": "object", "properties": {"kind": {"enum": ["tool", "answer"]}}},
        max_tokens=32,
    )


def _turn(name: str = "a", *requests: Request) -> RecordedTurn:
    return RecordedTurn(
        fixture=name,
        steps=2,
        requests=requests or (_request(),),
        replies=('{"kind":"answer"}',),
        seconds=1.5,
        evaluated_tokens=40,
        completion_tokens=9,
        prompt_s=1.0,
        decode_s=0.4,
    )


def test_a_request_comes_back_from_json_the_same() -> None:
    assert read_request(json.loads(json.dumps(request_json(_request())))) == _request()


def test_recorded_turns_come_back_for_their_own_model_only(tmp_path: Path) -> None:
    save_turns([_turn()], tmp_path / "turns.json", model="aa")
    assert read_turns(tmp_path / "turns.json", model="aa") == (_turn(),)
    with pytest.raises(ValueError, match="recorded on aa"):
        read_turns(tmp_path / "turns.json", model="bb")


def test_a_request_becomes_the_messages_of_a_chat_in_order() -> None:
    assert [(m["role"], m["content"]) for m in messages(_request())] == [
        ("system", "You plan.\nnone"),
        ("user", "Hi"),
        ("assistant", '{"kind":"answer"}'),
        ("user", "Step 1\nWhat is on my list?"),
    ]


def test_heads_are_warmed_once_and_without_the_ask() -> None:
    warming = heads([_request("one"), _request("two")])
    assert len(warming) == 1
    assert warming[0] == head_only(_request("one"))
    assert "one" not in warming[0].user_text
    assert warming[0].system == _request().system


def test_varied_requests_are_all_different_and_begin_with_the_recorded_ones() -> None:
    found = varied([_request("one"), _request("two")], 5)
    assert found[:2] == (_request("one"), _request("two"))
    assert len({request.user_text for request in found}) == 5
    assert all(request.system == _request().system for request in found)
    assert varied([], 5) == ()


def test_the_prompts_have_one_hash_that_any_change_moves() -> None:
    assert prompts_sha256([_turn()]) == prompts_sha256([_turn()])
    assert prompts_sha256([_turn()]) != prompts_sha256([_turn("a", _request("other"))])


def test_fixtures_are_chosen_by_rule_and_cover_the_largest_tool_sets() -> None:
    chosen = choose_fixtures(dev_set(), 30)
    assert chosen == choose_fixtures(dev_set(), 30)
    assert len({fixture.id for fixture in chosen}) == 30
    assert len({fixture.toolset for fixture in chosen}) == 6
    assert all(len(fixture.turns) == 1 for fixture in chosen)
    sets = [fixture.toolset for fixture in chosen]
    assert sets == sorted(sets, key=sets.index)  # one tool set after the other


def test_the_ratio_is_taken_in_groups_of_the_turns_that_both_have() -> None:
    theirs = dict.fromkeys("abcdefghij", 4.0) | {"only theirs": 100.0}
    ours = dict.fromkeys("abcdefghij", 2.0)
    assert group_ratios(theirs, ours) == (2.0,) * 5
    assert group_ratios({"a": 3.0}, {"a": 2.0}) == (1.5,)
    assert group_ratios({}, ours) == ()


def _line(engine: str, state: str, *, seconds: float, tokens: int = 100) -> Line:
    return Line(
        fixture="a",
        engine=engine,
        state=state,
        steps=1,
        requests=3,
        seconds=seconds,
        evaluated_tokens=tokens,
        completion_tokens=10,
        prompt_s=1.0,
        decode_s=1.0,
    )


def test_figures_of_turns_hold_the_ratios_that_the_bars_are_about() -> None:
    lines = Lines(
        [
            _line("ours", "heads warm", seconds=2.0),
            _line("server", "heads warm", seconds=3.0, tokens=300),
            _line("binding", "its own cache", seconds=10.0),
        ]
    )
    found = {measure.name: measure for measure in figures(lines)}
    assert found["whole turns: binding over ours"].value == 5.0
    assert found["whole turns: binding over ours"].is_met
    assert found["whole turns, heads warm: server over ours"].value == 1.5
    # 300 tokens at our 0.01 s, 10 at our 0.1 s: 4 s over 2 s.
    priced = "whole turns, heads warm: server over ours, at our seconds a token"
    assert found[priced].value == pytest.approx(2.0)


def test_a_bar_is_met_on_its_own_side_only() -> None:
    least, most = BARS["plan replies: constrained over free"], BARS["goliath-local --help"]
    assert (least.is_met(1.0), least.is_met(0.99)) == (True, False)
    assert (most.is_met(0.3), most.is_met(0.31)) == (True, False)


def test_a_figure_below_its_bar_says_so() -> None:
    slow = Measure(section="start", name="goliath-local --help", unit="s", samples=(0.5,))
    assert "NOT MET" in shown(slow)
    assert line(slow, {})["met"] == "no"


def test_units_stand_in_the_names_of_the_columns(tmp_path: Path) -> None:
    one = Measure(section="limit", name="pp512", unit="tokens_per_s", samples=(90.0, 110.0))
    write_csv(tmp_path / "a.csv", [line(one, {"commit": "abc"})])
    (row,) = read_csv(tmp_path / "a.csv")
    assert (row["median_tokens_per_s"], row["median_s"], row["commit"]) == ("100", "", "abc")


def test_two_results_are_compared_by_unit_and_with_what_else_differs() -> None:
    def row(samples: tuple[float, ...], machine: str) -> list[dict[str, str]]:
        one = Measure(section="limit", name="pp512", unit="tokens_per_s", samples=samples)
        return [{key: str(value) for key, value in line(one, {"machine": machine}).items()}]

    text = rendered(row((100.0, 100.0), "a"), row((150.0, 150.0), "b"))
    assert "1.50" in text
    assert "better" in text
    assert "machine: a before, b after" in text


def test_only_objects_have_fields() -> None:
    assert field_count('{"a":1,"b":2,"c":3}') == 3
    assert field_count("[1,2,3]") == field_count("no json") == 0


def test_the_plan_begins_a_step_and_the_answer_belongs_to_the_last() -> None:
    def heard(stage: Stage, tokens: int) -> Heard:
        usage = Usage(evaluated_tokens=tokens, prompt_tokens=100)
        return Heard(request=_request(stage=stage), reply=Reply(text="", usage=usage), seconds=1)

    stages = (Stage.CONDUCTOR, Stage.WORKER, Stage.CONDUCTOR, Stage.ANSWER)
    steps = steps_of(
        [heard(stage, at) for at, stage in enumerate(stages, start=1)],
        turn_steps=1,
        memory_tokens=0,
    )
    assert [(step.index, step.evaluated_tokens, step.seconds) for step in steps] == [
        (1, 3, 2),
        (2, 7, 2),
    ]


def test_the_plot_takes_the_median_of_the_turns_of_each_length() -> None:
    rows = [
        {"engine": "ours", "state": "heads warm", "steps": steps, "turn_s": seconds}
        for steps, seconds in (("2", "3"), ("1", "1"), ("2", "5"))
    ]
    assert seconds_by_steps(rows, "ours") == ([1, 2], [1.0, 4.0])
    assert seconds_by_steps(rows, "server") == ([], [])


def test_the_usual_run_is_smaller_than_the_full_one_and_larger_than_the_quick_one() -> None:
    for name in ("binding_turns", "same_requests", "starts"):
        assert getattr(QUICK, name) < getattr(USUAL, name) <= getattr(FULL, name)
    assert FULL.same_requests == 200
    assert USUAL.turns == FULL.turns == 30


def test_a_child_that_dies_is_told_with_its_last_words() -> None:
    program = "raise SystemExit('no model here')"
    with (
        Child([sys.executable, "-c", program]) as child,
        pytest.raises(Failed, match="no model here"),
    ):
        child.hear()


def test_a_child_that_reports_an_error_fails_that_question_only() -> None:
    program = (
        "import sys, json\n"
        "for l in sys.stdin:\n"
        "    print(json.dumps({'error': 'too long'}) if 'x' in l else l, flush=True)"
    )
    with Child([sys.executable, "-c", program]) as child:
        child.say("x")
        with pytest.raises(Failed, match="too long"):
            child.hear()
        child.say("fine")
        assert child.hear() == "fine"


def test_the_bytes_of_a_token_leave_out_an_embedding_that_is_only_looked_up(
    tmp_path: Path,
) -> None:
    from scripts.make_shape import Shape, tensors, write_shape

    shape = Shape(layers=2, width=256, inside=512, vocabulary=64)
    path = tmp_path / "shape.gguf"
    write_shape(path, shape, [], seed=0)
    header = read_gguf_header(path)
    whole = sum(tensor.size_bytes for tensor in tensors(shape))
    # The embedding is the output layer here, so it is read.
    assert bytes_per_token(header, depth_tokens=0) == whole
    assert bytes_per_token(header, depth_tokens=10) - whole == 10 * 2 * 2 * 2 * 128
    matrices = 2 * (2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 512)
    assert operations_per_token(header) == 2 * matrices


def test_a_shape_file_is_sound_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    from scripts.make_shape import Shape, write_shape

    shape = Shape(layers=1, width=256, inside=256, vocabulary=32)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_shape(tmp_path / name, shape, [], seed=seed)
    header = read_gguf_header(tmp_path / "a")
    assert header.architecture == "llama"
    assert header.kv_bytes_per_token == 2 * 128 * 2
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


def test_rows_of_sections_that_were_not_measured_stay_and_the_others_are_replaced(tmp_path):
    path = tmp_path / "machine-model.csv"
    old = [{"section": "turns", "measure": "a"}, {"section": "start", "measure": "b"}]
    assert of_other_sections(path, old) == []
    write_csv(path, old)
    new = [{"section": "start", "measure": "c"}]
    assert of_other_sections(path, new) == [{"section": "turns", "measure": "a"}]
