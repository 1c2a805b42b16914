from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.wire.thinking import MARKS, Thinking


def _fed(*pieces: str) -> tuple[str, str, str]:
    thinking = Thinking()
    given_out = "".join(map(thinking.feed, pieces)) + thinking.finish()
    return thinking.reply, thinking.reasoning, given_out


@pytest.mark.parametrize(
    ("text", "reply", "reasoning"),
    [
        ("", "", ""),
        ("plain", "plain", ""),
        ("  plain ", "  plain ", ""),
        ("<think>why</think>\n\nAnswer", "Answer", "why"),
        ("\n<think>\nwhy\n</think>Answer", "Answer", "why"),
        ("<think>a</think><think>b</think>c", "c", "ab"),
        ("[THINK]a < b[/THINK]yes", "yes", "a < b"),
        ("<reasoning>x</reasoning>", "", "x"),
        ("<think>never ends", "", "never ends"),
        ("<think>almost</thin", "", "almost</thin"),
        ("<thin", "<thin", ""),
        ("<b>bold</b>", "<b>bold</b>", ""),
        (
            "an answer with <think>this</think> in it",
            "an answer with <think>this</think> in it",
            "",
        ),
        ('{"a":"<think>"}', '{"a":"<think>"}', ""),
    ],
)
def test_leading_thoughts_are_told_apart(text: str, reply: str, reasoning: str) -> None:
    assert _fed(text) == (reply, reasoning, reply)


_TEXT = st.text(alphabet="<>/thinkTHINK[] \na", max_size=12)
_THOUGHTS = st.lists(st.sampled_from(MARKS).flatmap(
    lambda marks: _TEXT.map(lambda text: marks[0] + text + marks[1])
), max_size=2)  # fmt: skip


@given(thoughts=_THOUGHTS, rest=_TEXT, cuts=st.lists(st.integers(0, 80), max_size=6))
def test_where_the_pieces_are_cut_changes_nothing(
    thoughts: list[str], rest: str, cuts: list[int]
) -> None:
    text = "".join(thoughts) + rest
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(places)]
    whole = _fed(text)
    assert _fed(*pieces) == whole
    assert whole[0] == whole[2]


@given(st.text(max_size=20).filter(lambda text: not text.lstrip().startswith(("<", "["))))
def test_a_plain_reply_comes_out_as_it_went_in(text: str) -> None:
    assert _fed(*text) == (text, "", text)


def test_a_character_cut_in_two_halves_is_given_out_whole() -> None:
    thinking = Thinking()
    assert thinking.feed("a\ud83d") == "a"
    assert thinking.feed("\ude00b") == "😀b"
    assert thinking.feed("\ud83d") == ""
    assert thinking.finish() == "\ufffd"
    assert thinking.reply == "a😀b\ufffd"


def test_what_the_server_calls_reasoning_is_kept_apart() -> None:
    thinking = Thinking()
    thinking.reason("because")
    assert thinking.feed("\n\nAnswer") == "Answer"
    assert (thinking.reply, thinking.reasoning) == ("Answer", "because")
