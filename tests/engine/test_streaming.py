"""Bytes become text as they come: whole characters, and nothing of a stop text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goliath_local.engine.streaming import Streaming


def feed(data: list[bytes], *stops: str) -> tuple[list[str], Streaming]:
    streaming = Streaming(stops)
    given_out = [streaming.feed(piece) for piece in data]
    return [*given_out, streaming.finish()], streaming


@given(text=st.text(), sizes=st.lists(st.integers(1, 5), max_size=40))
def test_a_text_cut_anywhere_comes_out_whole(text: str, sizes: list[int]):
    data, pieces = text.encode(), []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    chunks, streaming = feed([*pieces, data])
    assert "".join(chunks) == streaming.text == text


def test_half_an_emoji_is_held_back_and_dropped_at_the_end():
    parrot = "🦜".encode()
    chunks, streaming = feed([b"Hi ", parrot[:2], parrot[2:], parrot[:3]])
    assert chunks == ["Hi ", "", "🦜", "", ""]
    assert streaming.text == "Hi 🦜"


def test_a_text_that_ends_the_turn_is_never_shown():
    chunks, streaming = feed([b"Paris<|im", b"_end", b"|>\nuser"], "<|im_end|>", "</s>")
    assert "".join(chunks) == "Paris"
    assert streaming.is_stopped
    assert streaming.feed(b"more") == ""


def test_what_only_looked_like_a_stop_text_is_given_out():
    chunks, streaming = feed([b"a <", b"|im", b"age"], "<|im_end|>")
    assert chunks == ["a ", "", "<|image", ""]
    assert not streaming.is_stopped


def test_what_is_held_back_at_the_end_is_text():
    chunks, _ = feed([b"if a <"], "<|im_end|>")
    assert "".join(chunks) == "if a <"


@given(st.text(alphabet="ab<|>", max_size=30), st.integers(1, 4))
def test_all_before_the_first_stop_text_is_given_out(text: str, size: int):
    data = text.encode()
    chunks, _ = feed([data[i : i + size] for i in range(0, len(data), size)], "<|a|>", "bb")
    ends = [index for stop in ("<|a|>", "bb") if (index := text.find(stop)) >= 0]
    assert "".join(chunks) == text[: min(ends, default=len(text))]
