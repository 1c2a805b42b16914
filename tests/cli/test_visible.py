"""Promise 7 and B5: foreign text cannot drive the terminal."""

import io
import json
import sys

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goliath_local.cli.terminal import Styled, Terminal, json_text, wants_colour
from goliath_local.cli.visible import Visible, clipped_line, visible, visible_line

LISTED = [
    "\x1b[2J",
    "\x1b[1A\x1b[2K",
    "\x1b[8m",
    "\x1b]0;t\x07",
    "\x1b]52;c;QQ==\x07",
    "\x1b]8;;http://a.invalid\x1b\\x\x1b]8;;\x1b\\",
    "\x1bPq\x1b\\",
    "\x1bc",
    "\x1b[?1049h",
    "\x1b[6n",
    "\x1b[>c",
    "\x9b2J",
    "\x9d0;t\x9c",
    "ok\rno",
    "rm\x08\x08ls",
    "\x07" * 1000,
    "\x00",
    "\u202etxt.exe",
    "\u2066a\u2069",
    "a\u200bb",
    "\u2028",
    "\x7f",
    "\x0e",
    "e" + "\u0301" * 500,
]
STEERING = st.text(
    st.one_of(
        st.characters(categories=["Cc", "Cf", "Zl", "Zp"]),
        st.sampled_from("\x1b[]0123;mHJK\x9b\r\n\t\x08"),
        st.characters(),
    )
)


def shown_in(text: str) -> pyte.Screen:
    """Feed the terminal emulator what the door lets through."""
    screen = pyte.Screen(200, 60)
    stream = pyte.Stream(screen)
    stream.feed("before ")
    stream.feed(visible(text).replace("\n", "\r\n"))
    return screen


@pytest.mark.parametrize("text", LISTED, ids=ascii)
def test_a_listed_sequence_is_shown_and_does_nothing(text: str) -> None:
    screen = shown_in(text)
    assert screen.display[0].startswith("before ")
    assert screen.title == ""
    assert not any(
        char.reverse or char.bold or char.fg != "default" for char in screen.buffer[0].values()
    )
    assert "\x1b" not in visible(text)
    assert "\x9b" not in visible(text)


def test_an_escape_cut_in_two_by_the_chunks_stays_harmless() -> None:
    stream = Visible()
    assert stream.read("\x1b") + stream.read("[2J") == "␛[2J"


@given(STEERING, st.lists(st.integers(0, 50), max_size=6))
def test_every_cutting_of_a_stream_gives_the_same_text(text: str, cuts: list[int]) -> None:
    stream, at, shown = Visible(), 0, ""
    for length in cuts:
        shown += stream.read(text[at : at + length])
        at += length
    assert shown + stream.read(text[at:]) == visible(text)


@given(STEERING)
def test_no_control_character_but_newline_and_tab_passes(text: str) -> None:
    passed = {char for char in visible(text) if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0}
    assert passed <= {"\n", "\t"}
    assert "\n" not in visible_line(text)


def test_usual_text_passes_unchanged() -> None:
    for text in (
        "Grüße, 漢字 und 🦜🌍✓",
        "👩\u200d👩\u200d👧",
        "می\u200cخواهم",
        "नमस्ते",
        "a\tb\nc",
    ):
        assert visible(text) == text


def test_a_line_of_a_million_characters_is_clipped_at_once() -> None:
    assert clipped_line("x" * 1_000_000, 40) == "x" * 39 + "…"


@given(STEERING)
def test_json_escapes_every_hidden_character_and_reads_back(text: str) -> None:
    written = json_text({"text": text, "list": [1, None]})
    assert json.loads(written) == {"text": text, "list": [1, None]}
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in written)


def test_a_lone_surrogate_can_be_shown_and_written() -> None:
    assert visible("\ud800") == "\\ud800"
    json_text({"text": "\ud800"}).encode()


@pytest.mark.parametrize(
    ("choice", "is_tty", "environ", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("always", False, {}, True),
        ("always", True, {"NO_COLOR": "1"}, False),
        ("always", True, {"TERM": "dumb"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("never", True, {}, False),
    ],
)
def test_no_color_and_a_dumb_terminal_win(choice, is_tty, environ, wanted) -> None:
    assert wants_colour(choice, is_tty=is_tty, environ=environ) is wanted


def test_colour_is_added_outside_the_foreign_text() -> None:
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(out=out, err=err, colour="always", environ={"TERM": "xterm"})
    terminal.put(Styled("\x1b[8mhidden", "red"))
    assert out.getvalue() == "\x1b[31m␛[8mhidden\x1b[0m\n"


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("ci", "asks"), [("true", False), ("1", False), ("", True), ("0", True)])
def test_in_a_ci_nobody_is_asked_and_no_line_passes_by(monkeypatch, ci, asks) -> None:
    monkeypatch.setattr(sys, "stdin", Tty())
    err = Tty()
    terminal = Terminal(out=Tty(), err=err, environ={"TERM": "xterm", "CI": ci})
    terminal.status("reading")
    assert terminal.can_ask is asks
    assert ("reading" in err.getvalue()) is asks


def test_a_quiet_terminal_still_complains() -> None:
    out, err = io.StringIO(), io.StringIO()
    terminal = Terminal(out=out, err=err, quiet=True, environ={})
    terminal.say("a remark")
    terminal.complain("a complaint")
    assert err.getvalue() == "a complaint\n"
