"""B5: whatever foreign text comes to the terminal, the screen holds the shown text and no more.

A terminal emulator reads what is written; beside it a second one only draws the same letters, for
which no letter has a meaning. Both have to be alike: cells, scroll-back, cursor, modes, title.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goliath_local.cli.asks import _file_text
from goliath_local.cli.problems import read_problem
from goliath_local.cli.show import TurnView
from goliath_local.cli.terminal import Styled, Terminal
from goliath_local.cli.visible import visible, visible_line
from goliath_local.errors import ConfigError
from goliath_local.events import EscalateEvent, PlanEvent, ToolEvent
from goliath_local.records import Reason
from tests.cli.test_visible import LISTED, STEERING
from tests.levers import many

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS, LINES = 80, 6


class Screen(pyte.HistoryScreen):
    """One that draws letter by letter: pyte leaves out what follows an odd one."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, LINES, history=10_000)
        self.answers: list[str] = []

    def draw(self, data: str) -> None:
        for letter in data:
            super().draw(letter)

    def write_process_input(self, data: str) -> None:
        self.answers.append(data)

    def state(self) -> dict[str, Any]:
        """Everything but what is written, which is `cells`."""
        cursor = self.cursor
        return {
            "cursor": (cursor.x, cursor.y, cursor.hidden, cursor.attrs._replace(data=" ")),
            "modes": set(self.mode),
            "names": (self.title, self.icon_name),
            "charsets": (self.charset, self.g0_charset, self.g1_charset),
            "margins": self.margins,
            "tabs": set(self.tabstops),
            "saved": list(self.savepoints),
            "answers": self.answers,
        }

    def cells(self) -> list[str]:
        """The lines that have gone up and those on the screen."""
        rows = [*self.history.top, *(self.buffer[y] for y in range(LINES))]
        return ["".join(row[x].data for x in range(COLUMNS)) for row in rows]


def fed(written: str) -> Screen:
    screen = Screen()
    pyte.Stream(screen).feed(written.replace("\n", "\r\n"))  # as the system's terminal does
    return screen


def drawn(text: str) -> Screen:
    """Write letters that mean nothing; only lines and tabs are followed."""
    screen = Screen()
    for number, line in enumerate(text.split("\n")):
        if number:
            screen.carriage_return()
            screen.linefeed()
        for place, part in enumerate(line.split("\t")):
            if place:
                screen.tab()
            screen.draw(part)
    return screen


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def _view(terminal: Terminal, **options: Any) -> TurnView:
    return TurnView(terminal, streaming=True, window=4096, clock=lambda: 0.0, **options)


def answer(terminal: Terminal, text: str) -> None:
    view = _view(terminal, steps="off")
    for at in range(0, len(text), 3):
        view.text(text[at : at + 3])
    view.answer(text)


def result(terminal: Terminal, text: str) -> None:
    event = ToolEvent(tool="look", input={text: text}, result=text, ms=1.0, status="completed")
    _view(terminal, steps="full").handle(event)


def tool_name(terminal: Terminal, text: str) -> None:
    view = _view(terminal, steps="full")
    view.handle(PlanEvent(index=0, kind="tool", tool=text, brief="b"))
    event = ToolEvent(tool=text, input={}, result="ok", ms=1.0, status="completed")
    view.handle(event)
    _view(terminal, steps="short").handle(event)


def error(terminal: Terminal, text: str) -> None:
    terminal.complain(Styled(read_problem(ConfigError(text)).message, "red"))
    _view(terminal, steps="off").handle(EscalateEvent(reason=Reason.TOOL_ERROR, error=text))


def file_name(terminal: Terminal, text: str) -> None:
    # As the system passes it on: never with a NUL, and what is no UTF-8 in Python's own way.
    name = os.fsdecode(text.encode("utf-8", "surrogatepass")).replace("\0", "")
    try:
        _file_text(f"/nowhere/{name}")
    except (ConfigError, OSError) as said:
        terminal.complain(Styled(read_problem(said).message, "red"))


def conversation_id(terminal: Terminal, text: str) -> None:
    terminal.put(f"{text}  3 turns kept, a minute ago")


def passing_line(terminal: Terminal, text: str) -> None:
    terminal.status(text)
    terminal.status(text * 3)
    terminal.say("said")


SINKS: tuple[Callable[[Terminal, str], None], ...] = (
    answer,
    result,
    tool_name,
    error,
    file_name,
    conversation_id,
    passing_line,
)


def written_by(sink: Callable[[Terminal, str], None], text: str, *, colour: Any) -> str:
    """What goes to the terminal, stdout and stderr being the same one."""
    both = Tty()
    terminal = Terminal(out=both, err=both, colour=colour, environ={"TERM": "xterm"})
    sink(terminal, text)
    return both.getvalue()


def assert_only_shown(sink: Callable[[Terminal, str], None], text: str) -> None:
    plain = written_by(sink, text, colour="never")
    assert "\x1b" not in plain
    wanted, got, coloured = drawn(plain), fed(plain), fed(written_by(sink, text, colour="always"))
    assert got.cells() == coloured.cells() == wanted.cells()
    assert got.state() == coloured.state() == wanted.state()
    assert got.state() | {"cursor": ()} == Screen().state() | {"cursor": ()}
    if sink is answer:
        assert plain.rstrip("\n") == visible(text.lstrip()).rstrip("\n")
    if sink is conversation_id:
        assert visible(text) in plain
    if sink is tool_name:
        assert visible_line(text) in plain
    if sink is passing_line:
        assert [line for line in coloured.cells() if line.strip()] == ["said".ljust(COLUMNS)]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


@pytest.mark.parametrize("sink", SINKS, ids=lambda sink: sink.__name__)
def test_a_listed_text_changes_nothing_but_the_letters(sink: Any) -> None:
    for text in LISTED:
        assert_only_shown(sink, text)


@pytest.mark.parametrize(
    "text",
    ["漢字" * 60, "🦜" * 60, "e\u0301" * 100, "👩\u200d👧" * 30],
    ids=["Han", "parrots", "marks", "families"],
)
def test_a_passing_line_of_wide_letters_is_taken_back_whole(text: str) -> None:
    assert_only_shown(passing_line, text)


@given(sink=st.sampled_from(SINKS), text=STEERING)
def test_a_text_of_controls_changes_nothing_but_the_letters(sink: Any, text: str) -> None:
    assert_only_shown(sink, text)


@pytest.mark.slow
@settings(max_examples=many(2_000))
@given(sink=st.sampled_from(SINKS), text=STEERING, again=st.integers(1, 4))
def test_many_texts_of_controls_change_nothing_but_the_letters(
    sink: Any, text: str, again: int
) -> None:
    assert_only_shown(sink, text * again)
