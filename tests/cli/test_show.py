"""Events as lines: steps, figures, outcomes."""

import io

import pytest

from goliath_local.cli.chat_facts import figures
from goliath_local.cli.outcome import MEANINGS, Ended, read_outcome
from goliath_local.cli.problems import ExitCode
from goliath_local.cli.show import Tally, TurnView, argument_text, closing_line, result_text
from goliath_local.cli.talk import ago, steps_of
from goliath_local.cli.terminal import Terminal
from goliath_local.events import (
    AnswerEvent,
    BudgetEvent,
    EscalateEvent,
    ModelEvent,
    PlanEvent,
    RetryEvent,
    ToolEvent,
)
from goliath_local.model import Stage, Usage
from goliath_local.records import Reason


def tool_event(**changes) -> ToolEvent:
    values = {"tool": "list", "input": {}, "result": "ok", "ms": 900.0, "status": "completed"}
    return ToolEvent(**(values | changes))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (tool_event(result="one"), "one"),
        (tool_event(result="a\nb\n\nc"), "3 lines"),
        (tool_event(result=""), "ok"),
        (tool_event(result="no", status="failed"), "failed: no"),
        (tool_event(result="the user said no", status="skipped"), "not run: the user said no"),
        (tool_event(result="see step 1", status="cached"), "as before: see step 1"),
        (tool_event(result="x" * 200), "x" * 39 + "…"),
        (tool_event(result="a\x1b[2J"), "a␛[2J"),
    ],
)
def test_what_came_of_a_step_is_one_line(event: ToolEvent, line: str) -> None:
    assert result_text(event, 40) == line


def test_arguments_are_shown_with_quotes_and_clipped() -> None:
    assert argument_text({"title": "milk", "n": 3}, 60) == 'title="milk" n=3'
    assert len(argument_text({"title": "x" * 500}, 60)) == 60
    assert argument_text(None, 60) == ""


def test_the_closing_line_has_steps_seconds_speed_window_and_place() -> None:
    tally = Tally(window=4096, started_s=0.0)
    tally.add(tool_event(), 1.0)
    tally.add(
        ModelEvent(
            stage=Stage.ANSWER,
            usage=Usage(prompt_tokens=700, completion_tokens=20, decode_s=2.0),
            finish="stop",
        ),
        4.0,
    )
    line = closing_line(tally, place="device", now_s=4.1)
    assert line == "1 step · 4.1 s · 10.0 tok/s · ctx 720/4,096 · device"


def test_shortened_parts_and_a_cut_answer_are_kept_in_mind() -> None:
    tally = Tally(window=4096, started_s=0.0)
    budget = BudgetEvent(
        label="answer",
        tokens=5,
        limit=9,
        source="tokenizer",
        window=4096,
        output_cap=3,
        trimmed=("log",),
    )
    tally.add(budget, 0.0)
    tally.add(budget, 0.0)
    tally.add(ModelEvent(stage=Stage.ANSWER, finish="length"), 0.0)
    assert (tally.shortened, tally.was_cut) == (["log"], True)


def test_every_reason_has_words_a_cure_and_a_code() -> None:
    assert set(MEANINGS) == set(Reason)
    for reason in Reason:
        event = EscalateEvent(reason=reason, error="it said so")
        ended = Ended(text="", handled_by="device", best_effort=False, events=[event])
        outcome = read_outcome(ended)
        assert outcome.code != ExitCode.DONE
        assert "it said so" in outcome.note
        assert outcome.note.count(". ") >= 1
        finished = Ended(text="done", handled_by="cloud", best_effort=False, events=[event])
        assert read_outcome(finished).code == ExitCode.DONE


def test_strict_minds_what_was_shortened() -> None:
    ended = Ended(
        text="x", handled_by="device", best_effort=False, events=[], shortened=["log"], strict=True
    )
    assert read_outcome(ended).code == ExitCode.DID_NOT_FIT


def test_a_final_text_that_is_not_what_was_streamed_is_shown_again() -> None:
    out = io.StringIO()
    terminal = Terminal(out=out, err=io.StringIO(), environ={})
    view = TurnView(terminal, steps="off", streaming=True, window=4096)
    view.text("  First ")
    view.text("try")
    view.answer("Second try")
    assert out.getvalue() == "First try\nSecond try\n"


def test_an_answer_that_is_asked_for_again_is_shown_once_on_a_line_of_its_own() -> None:
    out = io.StringIO()
    terminal = Terminal(out=out, err=io.StringIO())
    view = TurnView(terminal, steps="off", streaming=True, window=4096)
    view.text("Done.")
    view.handle(RetryEvent(stage="answer", attempt=1, reason="it names nothing"))
    view.text("Milk is added.")
    view.answer("Milk is added.")
    assert out.getvalue() == "Done.\nMilk is added.\n"


def test_steps_of_an_interrupted_turn_are_read_from_its_events() -> None:
    events = [
        PlanEvent(index=0, kind="tool", brief="add milk", tool="create"),
        tool_event(tool="create", input={"title": "milk"}),
        PlanEvent(index=1, kind="answer", brief="say so"),
    ]
    (step,) = steps_of(events, writing={"create"})
    assert (step.brief, step.tool, step.writes, step.status) == (
        "add milk", "create", True, "completed",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "just now"), (60, "1 minute ago"), (7300, "2 hours ago"), (200_000, "2 days ago")],
)
def test_a_span_is_told_in_its_largest_unit(seconds: float, words: str) -> None:
    assert ago(seconds) == words


@pytest.mark.parametrize(("chance", "shown"), [(0.824, True), (None, False)])
def test_the_figures_say_how_likely_the_turn_is_right_where_that_is_known(chance, shown) -> None:
    tally = Tally(window=4096, started_s=0.0)
    tally.add(AnswerEvent(text="Milk.", confidence=chance), 1.0)
    assert any("82% likely" in line for line in figures(tally)) is shown
