"""One reply, token by token, on a toy model: forced text, steering, stopping, choices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.constraint import FreeText
from goliath_local.engine.decode import decode
from goliath_local.engine.forced import plan_forced
from goliath_local.engine.sampling import Odds
from goliath_local.grammar import compile_schema
from tests.engine.toy import PIECES, ToyEncoder, ToyTimeline, toy_vocabulary, wanted

PLAN = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["tool", "answer"]},
        "tool": {"enum": ["list_tasks", "create_task"]},
        "brief": {"type": "string", "maxLength": 30},
    },
    "required": ["kind", "tool", "brief"],
}
ANSWER = '{"kind":"answer","tool":"list_tasks","brief":"all of 🦜"}'


def start(schema=PLAN):
    return compile_schema(schema).matcher()


def run(timeline, want):
    return decode(timeline, want, ToyEncoder(), toy_vocabulary())


def test_a_constrained_reply_says_what_the_model_likes_best():
    reply = run(ToyTimeline(ANSWER), wanted(start()))
    assert (reply.text, reply.finish) == (ANSWER, "stop")


def test_what_the_model_wants_to_say_beside_the_grammar_is_not_said():
    reply = run(ToyTimeline("Sure! Here you are: {}"), wanted(start()))
    assert reply.finish == "stop"
    assert set(json.loads(reply.text)) == {"kind", "tool", "brief"}


def test_forced_text_is_evaluated_together_with_the_token_before_it():
    timeline = ToyTimeline(ANSWER)
    reply = run(timeline, wanted(start()))
    # `answer` was chosen; `","tool":"` is forced behind it, its last piece left open.
    batch = next(batch for batch in timeline.batches if PIECES.index(b"answer") in batch)
    assert b"".join(PIECES[token] for token in batch) == b'answer","tool":"'
    assert reply.forced_tokens >= 8
    assert timeline.text == ANSWER[: len(timeline.text.decode())].encode()


def test_the_end_of_a_reply_is_not_evaluated():
    timeline = ToyTimeline(ANSWER)
    run(timeline, wanted(start()))
    assert not timeline.text.endswith(b"}")


def test_the_last_forced_token_stays_open_when_a_longer_one_may_follow():
    schema = {"type": "object", "properties": {"e": {"enum": ["to", "tool"]}}, "required": ["e"]}
    forced = plan_forced(start(schema), ToyEncoder(), toy_vocabulary())
    # `{"e":"to` is forced. `to` may become `tool`, so the model chooses between the two.
    assert forced is not None
    assert forced.data == b'{"e":"'
    assert forced.after is start(schema).advance(b'{"e":"') or forced.after.advance(b"tool")


def test_forced_text_is_never_spelled_in_shorter_tokens_than_its_own():
    # A title began with a comma, since `":` was taken where the forced text's own token is `":"`.
    schema = {"type": "object", "properties": {"e": {"enum": ["to", "tool"]}}, "required": ["e"]}
    timeline = ToyTimeline(odd=lambda piece: 50.0 if piece == b"t" else 0.0)
    reply = run(timeline, wanted(start(schema)))
    assert json.loads(reply.text)["e"] in {"to", "tool"}
    assert not any(PIECES.index(b"t") in batch for batch in timeline.batches)


def test_a_last_forced_token_that_nothing_continues_is_taken():
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    forced = plan_forced(start(schema), ToyEncoder(), toy_vocabulary())
    assert forced is not None
    assert forced.data == b'{"x":'


def test_a_fully_forced_reply_needs_no_model():
    timeline = ToyTimeline()
    reply = run(timeline, wanted(start({"const": {"kind": "tool"}})))
    assert (reply.text, reply.finish) == ('{"kind":"tool"}', "stop")
    assert timeline.batches == []
    assert reply.forced_tokens == reply.tokens


@given(cap=st.integers(1, 80))
def test_a_reply_always_closes_when_its_shortest_form_has_room(cap: int):
    reply = run(
        ToyTimeline('{"kind":"tool","tool":"create_task","brief":"' + "x" * 30),
        wanted(start(), cap),
    )
    shortest = len(ToyEncoder().encode_bytes(start().shortest_ending()))
    assert reply.tokens <= cap
    if cap >= shortest:
        assert reply.finish == "stop"
        json.loads(reply.text)
    else:
        assert reply.finish == "length"
    if cap >= 60:
        assert json.loads(reply.text)["brief"].startswith("x" * 20)


@given(seed=st.integers(0, 2**32 - 1), temperature=st.floats(0.1, 5))
def test_a_drawn_reply_keeps_to_the_grammar(seed: int, temperature: float):
    odds = Odds(temperature=temperature, top_k=40, top_p=0.9, chance=np.random.default_rng(seed))
    reply = run(ToyTimeline(ANSWER, '{"kind":"tool"'), wanted(start(), 90, odds=odds))
    assert reply.finish == "stop"
    assert compile_schema(PLAN).accepts(reply.text)


def test_free_text_ends_with_the_models_end():
    reply = run(ToyTimeline("the list"), wanted(FreeText()))
    assert (reply.text, reply.finish, reply.tokens) == ("the list", "stop", 6)
    assert reply.choices == ()


def test_free_text_over_the_cap_is_cut_and_says_so():
    reply = run(ToyTimeline("the list"), wanted(FreeText(), 3))
    assert (reply.text, reply.finish) == ("the l", "length")


def test_half_an_emoji_at_the_cap_is_dropped():
    parrot = "🦜".encode()
    timeline = ToyTimeline("a🦜")
    timeline.logits = (
        lambda: np.array(  # its bytes one by one
            [
                10.0 if piece == parrot[len(timeline.text) : len(timeline.text) + 1] else -9.0
                for piece in PIECES
            ],
            dtype=np.float32,
        )
    )
    reply = run(timeline, wanted(FreeText(), 3))
    assert (reply.text, reply.finish) == ("", "length")


def test_bytes_that_are_no_text_are_not_taken():
    timeline = ToyTimeline()
    timeline.logits = lambda: np.array(
        [9.0 if piece == b"\xff" else (5.0 if piece == b"a" else -9.0) for piece in PIECES],
        dtype=np.float32,
    )
    assert run(timeline, wanted(FreeText(), 4)).text == "aaaa"


def test_a_control_text_that_the_model_spells_out_ends_the_reply():
    shown: list[str] = []
    want = wanted(FreeText(), stop_texts=("<|im_end|>",), on_text=shown.append)
    reply = run(ToyTimeline("done<|im_end|>\n<|im_start|>user"), want)
    assert (reply.text, reply.finish) == ("done", "stop")
    assert "".join(shown) == "done"


def test_streamed_pieces_are_the_reply():
    shown: list[str] = []
    reply = run(ToyTimeline(ANSWER), wanted(start(), on_text=shown.append))
    assert "".join(shown) == reply.text
    assert all("\ufffd" not in piece for piece in shown)


def test_a_choice_has_a_share_for_what_was_taken_and_for_the_runner_up():
    other = '{"kind":"tool","tool":"list_tasks"'
    reply = run(ToyTimeline(ANSWER, other), wanted(start()))
    kind, tool = reply.choices
    assert (kind.path, kind.value, kind.runner_up) == ("/kind", "answer", "tool")
    assert 0.5 < kind.share < 1.0
    assert kind.share + kind.runner_up_share == pytest.approx(1.0)
    assert kind.shares == (("answer", kind.share), ("tool", kind.runner_up_share))
    assert (tool.path, tool.value, tool.runner_up) == ("/tool", "list_tasks", "create_task")
    assert tool.share > 0.99


def test_true_and_false_are_a_choice_and_words_are_not():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
            "t": {"type": "string"},
        },
        "required": ["a", "t"],
    }
    reply = run(ToyTimeline('{"a":[true,false],"t":"the list"}'), wanted(start(schema)))
    assert [(choice.path, choice.value) for choice in reply.choices] == [
        ("/a/0", "true"),
        ("/a/1", "false"),
    ]


def test_logits_that_are_not_numbers_are_an_error():
    from goliath_local.errors import ModelUnavailable

    timeline = ToyTimeline()
    timeline.logits = lambda: np.full(len(PIECES), np.nan, dtype=np.float32)
    with pytest.raises(ModelUnavailable, match="no sound numbers"):
        run(timeline, wanted(FreeText(), 4))
