"""The chat in a real terminal: what a person sees, and what stays."""

import io
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from goliath_local.demo import TaskList

LIST = {"json": {"why": "the list says it", "kind": "tool", "tool": "list_tasks", "brief": "list"}}
CREATE = {
    "json": {"why": "milk is new", "kind": "tool", "tool": "create_task", "brief": "add milk"}
}
MILK = {"json": {"title": "milk", "missing": ""}}
ANSWER = {"json": {"why": "w", "kind": "answer", "brief": "say it"}}
WAITS = {"piece_chars": 8, "piece_s": 600}
"""A reply that stops after its first piece, until somebody has had enough of it."""


def said(text: str) -> dict:
    return {"text": text}


@pytest.fixture
def chat(spawn, script):
    """A chat on a scripted model, at its first prompt."""

    def start(*replies: dict, flags: tuple[str, ...] = ("-T", "demo"), wait: bool = True, **pace):
        screen = spawn("chat", "--engine", script(*replies, **pace), *flags)
        if wait:
            screen.wait_for("you>")
        return screen

    return start


@pytest.fixture
def tasks(home: Path) -> TaskList:
    return TaskList(home / ".local/share/goliath-local/tasks.sqlite")


@pytest.mark.slow
def test_a_turn_shows_its_steps_asks_before_a_write_and_streams_the_answer(chat, tasks) -> None:
    screen = chat(CREATE, MILK, LIST, ANSWER, said("Your list has milk on it."))
    assert "goliath-local 0.1.0 · scripted · window 4,096 · tools: 3 (2 ask first)" in screen.text
    screen.type("put milk on my list\r")
    screen.wait_for("[w] why ?")
    assert '  1 create_task  title="milk"' in screen.text
    assert "    │ create_task  title: milk" in screen.text
    assert "    │ what changes:\n    │   + milk\n    │   4 tasks are then open" in screen.text
    screen.type("w\r")
    screen.wait_for("milk is new")
    screen.type("y\r")
    screen.wait_for("Your list has milk on it.")
    screen.wait_for("2 steps")
    assert '    → "milk" was added.' in screen.text
    assert "  2 list_tasks" in screen.text
    assert "    → 4 lines" in screen.text
    screen.wait_for("you>", times=2)
    screen.child.sendcontrol("d")
    assert screen.end() == 0
    assert tasks.titles()[-1] == "milk"


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["n\r", "\r", "maybe\r", "\x04", "\x03"], ids=ascii)
def test_whatever_is_not_a_yes_is_a_no_and_the_chat_goes_on(chat, tasks, answer) -> None:
    screen = chat(CREATE, MILK, ANSWER, said("It was not added."), ANSWER, said("Second."))
    screen.type("put milk on my list\r")
    screen.wait_for("[w] why ?")
    screen.type(answer)
    screen.wait_for("It was not added.")
    assert "→ Not run: the user declined" in screen.text
    screen.wait_for("you>", times=2)
    screen.type("again\r")
    screen.wait_for("Second.")
    assert "milk" not in tasks.titles()


@pytest.mark.slow
def test_what_was_typed_before_the_question_does_not_answer_it(chat, tasks) -> None:
    arguments = MILK | {"piece_chars": 1000, "piece_s": 5}
    screen = chat(CREATE, arguments, ANSWER, said("It was not added."))
    screen.type("put milk on my list\r")
    screen.wait_for("1 create_task")
    screen.type("y\ry\r")
    screen.wait_for("[w] why ?")
    screen.settle(0.5)
    assert "→" not in screen.text
    screen.type("n\r")
    screen.wait_for("It was not added.")
    assert "milk" not in tasks.titles()


@pytest.mark.slow
def test_always_is_asked_once_a_conversation(chat, tasks) -> None:
    tea = {"json": {"title": "tea", "missing": ""}}
    screen = chat(CREATE, MILK, CREATE, tea, ANSWER, said("Both are on it."))
    screen.type("milk and tea\r")
    screen.wait_for("[w] why ?")
    screen.type("a\r")
    screen.wait_for("Both are on it.")
    assert screen.text.count("[w] why ?") == 1
    assert tasks.titles()[-2:] == ["milk", "tea"]


@pytest.mark.slow
def test_ctrl_c_stops_an_answer_keeps_the_part_and_the_chat_can_be_resumed(chat) -> None:
    screen = chat(ANSWER, said("One two three four five six seven eight.") | WAITS)
    screen.type("count\r")
    screen.wait_for("One two")
    pressed = screen.interrupt()
    screen.wait_for("(interrupted)")
    screen.wait_for("you>", times=2)
    assert time.monotonic() - pressed < 20  # a hang, not a speed
    screen.interrupt()
    screen.wait_for("(Ctrl-D leaves)")
    screen.type("/memory\r")
    screen.wait_for("(partial)")
    assert "One two" in screen.text
    screen.child.sendcontrol("d")
    assert screen.end() == 0
    again = chat(wait=False)
    again.wait_for("Resuming")
    again.wait_for("you>  count")


@pytest.mark.slow
def test_ctrl_c_while_the_model_loads_is_code_130(chat) -> None:
    screen = chat(wait=False, load_s=30)
    screen.wait_for("loading scripted")
    pressed = screen.interrupt()
    assert screen.end() == 130
    assert time.monotonic() - pressed < 20  # a hang, not a speed
    assert "Interrupted while the model was loading." in screen.text


@pytest.mark.slow
def test_ctrl_c_while_the_prompt_is_read_gives_the_prompt_back(chat) -> None:
    screen = chat(ANSWER, said("x"), read_s=30)
    screen.type("hello\r")
    screen.wait_for("conductor · ctx")
    pressed = screen.interrupt()
    screen.wait_for("(interrupted)")
    screen.wait_for("you>", times=2)
    assert time.monotonic() - pressed < 20  # a hang, not a speed


@pytest.mark.slow
def test_a_paste_a_block_and_alt_enter_are_one_message_each(chat) -> None:
    screen = chat(said("first"), said("second"), said("third"), flags=())
    screen.paste("one\r\ntwo\r\nthree")
    screen.settle()
    assert "first" not in screen.text
    screen.type("\r")
    screen.wait_for("first")
    screen.wait_for("ctx", times=2)
    screen.type('"""\ra\rb"""\r')
    screen.wait_for("second")
    screen.settle()
    screen.type("x\x1b\ry\r")
    screen.wait_for("third")
    screen.settle()
    screen.type("/memory\r")
    for ask in ("one⏎two⏎three", "a⏎b", "x⏎y"):
        screen.wait_for(f"you>  {ask}")


@pytest.mark.slow
def test_a_large_paste_is_taken_whole_and_refused_by_count(chat) -> None:
    screen = chat(said("never"), flags=())
    screen.paste("word " * 20_000)
    screen.wait_for("[paste 1: 100,000 characters]")
    screen.type("\r")
    screen.wait_for("it does not fit the window")
    assert "2,867" in screen.text.replace("\n", "")
    screen.wait_for("you>", times=2)


LISTED = (
    "\x1b[2J\x1b[1A\x1b[2K\x1b[8m\x1b]0;pwned\x07\x1b]52;c;QQ==\x07\x1bc\x1b[?1049h\x1b[6n\x9b2J"
    "\x9d0;t\x9cok\rno rm\x08\x08ls\x00\x0e\x7f end"
)


@pytest.mark.slow
def test_text_of_model_tool_and_error_cannot_drive_the_terminal(chat, home) -> None:
    Path("evil.py").write_text(
        f"from goliath_local import tool\n\n@tool\ndef read_note() -> str:\n"
        f'    """Read the note."""\n    return {LISTED!r}\n\n\n@tool\ndef fail() -> str:\n'
        f'    """Fail."""\n    raise ValueError({LISTED!r})\n'
    )
    read = {"json": {"why": LISTED, "kind": "tool", "tool": "read_note", "brief": LISTED}}
    fail = {"json": {"why": LISTED, "kind": "tool", "tool": "fail", "brief": LISTED}}
    screen = chat(read, fail, ANSWER, said(LISTED), flags=("-T", "evil.py"), piece_chars=1)
    screen.type("read the note\r")
    screen.wait_for("2 steps")
    screen.type("/steps\r/why\r/memory\r")
    screen.wait_for("you>  read the note")
    assert screen.emulator.title == ""
    assert "␛[2J␛[1A␛[2K␛[8m␛]0;pwned␇" in screen.text
    assert "ok␍no rm␈␈ls␀␎␡ end" in screen.text
    assert "you> read the note" in screen.text  # nothing was wiped out


def program_under(screen) -> int:
    """The process that the shell has started."""
    shell = screen.child.pid
    return int(Path(f"/proc/{shell}/task/{shell}/children").read_text().split()[0])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["prompt", "turn", "confirm"])
def test_a_signal_leaves_the_terminal_as_it_was(spawn_shell, script, number, moment) -> None:
    engine = script(CREATE, MILK, ANSWER, said("Slowly."), read_s=0 if moment == "confirm" else 20)
    # The shell waits on and says how the program ended.
    screen = spawn_shell(
        f"trap '' TERM HUP; stty -g; goliath-local chat --engine {engine} -T demo; "
        "echo code $?; stty -g"
    )
    screen.wait_for("you>")
    if moment != "prompt":
        screen.type("put milk on\r")
        screen.wait_for("[w] why ?" if moment == "confirm" else "conductor · ctx")
    os.kill(program_under(screen), number)
    screen.wait_for(f"code {128 + number}")
    screen.end()
    before, after = modes_of(screen)
    assert before == after


def modes_of(screen) -> list[str]:
    """What `stty -g` said, before and after."""
    return [line for line in screen.text.splitlines() if line.count(":") > 20]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["prompt", "turn", "confirm"])
def test_a_chat_that_was_stopped_goes_on_where_it_was(spawn_shell, script, tasks, moment) -> None:
    slowly = said("It is on your list.") | {"piece_chars": 4, "piece_s": 0.2}
    engine = script(CREATE, MILK, ANSWER, slowly, ANSWER, said("Second."))
    # With job control, as at a person's shell: without it nothing stops at SIGTSTP.
    screen = spawn_shell(
        "set -m; stty -g; "
        f"goliath-local chat --engine {engine} -T demo; code=$?; "
        "while [ $code = 148 ]; do sleep 0.2; fg; code=$?; done; echo code $code; stty -g"
    )
    screen.wait_for("you>")
    if moment != "prompt":
        screen.type("put milk on my list\r")
        screen.wait_for("[w] why ?")
    if moment == "turn":
        screen.type("y\r")
        screen.wait_for("It is")
        screen.child.send("\x1a")
    else:
        os.kill(program_under(screen), signal.SIGTSTP)
    screen.wait_for("Stopped")
    screen.settle(0.5)
    if moment == "prompt":
        screen.type("put milk on my list\r")
        screen.wait_for("[w] why ?")
    if moment != "turn":
        screen.type("y\r")
    screen.wait_for("your list.")  # the first words stand before the stop
    screen.wait_for("1 step ·")
    screen.settle()
    screen.type("again\r")
    screen.wait_for("Second.")
    screen.settle()
    screen.child.sendcontrol("d")
    screen.wait_for("code 0")
    screen.end()
    before, after = modes_of(screen)
    assert before == after
    assert tasks.titles().count("milk") == 1


@pytest.mark.slow
def test_a_window_may_change_its_size_while_one_types_and_while_an_answer_comes(
    chat, tasks
) -> None:
    slowly = said("One two three four five six seven eight nine ten.")
    screen = chat(
        CREATE, MILK, ANSWER, slowly | {"piece_chars": 4, "piece_s": 0.1}, ANSWER, said("Second.")
    )
    screen.type("put milk on my long, long, long, long, long list")
    screen.settle()
    screen.resize(columns=40)
    screen.settle()
    screen.type(" of things\r")
    screen.wait_for("[w] why ?")
    screen.resize(columns=70)
    screen.settle()
    screen.type("y\r")
    screen.wait_for("One two")
    screen.resize(columns=100)
    screen.wait_for("nine ten.")
    screen.wait_for("1 step ·")
    screen.settle()
    screen.type("again\r")
    screen.wait_for("Second.")
    screen.settle()
    screen.type("/memory\r")
    screen.wait_for("you>  put milk on my long, long, long, long, long list of things")
    screen.wait_for("you>  again")
    screen.child.sendcontrol("d")
    assert screen.end() == 0
    assert tasks.titles()[-1] == "milk"


@pytest.mark.slow
@pytest.mark.parametrize("cut", ["--jsonl ask | head -1", "ask | head -c 0"])
def test_a_reader_that_goes_away_ends_the_run_with_141(spawn_shell, script, cut) -> None:
    engine = script(ANSWER, said("One two three four five six.") | {"piece_s": 0.01})
    run = f"goliath-local run --engine {engine} -T demo -c trip"
    screen = spawn_shell(
        f"stty -g; {run} {cut}; echo code ${{PIPESTATUS[0]}}; stty -g; {run} ask | tail -1"
    )
    screen.wait_for("code 141")
    screen.end()
    assert "Traceback" not in screen.text
    before, after = modes_of(screen)
    assert before == after
    assert "One two three four five six." in screen.text.rpartition("code 141")[2]


@pytest.mark.slow
def test_slash_words_work_and_unknown_ones_are_explained(chat) -> None:
    screen = chat(LIST, ANSWER, said("Three tasks."), said("Hi."))
    for word, wanted in (
        ("/help", "Ctrl-R searches"),
        ("/tools", "create_task  (asks first)"),
        ("/undo", "There is nothing to take back."),
        ("/mode", "There is no /mode. Did you mean /model?"),
        ("/steps loud", "Give full, short or off"),
        ("/why", "Nothing was decided yet."),
        ("/tokens", "of 4,096"),
    ):
        screen.type(f"{word}\r")
        screen.wait_for(wanted)
    screen.type("/steps short\r")
    screen.type("what is on my list?\r")
    screen.wait_for("  1 list_tasks → 3 lines")
    screen.wait_for("1 step ·")
    screen.type("/steps\r")
    screen.wait_for("2. call the dentist")
    screen.type("/trace\r")
    screen.wait_for("goliath-local trace show 0")
    screen.type("/undo\r")
    screen.wait_for('Forgotten: "what is on my list?"')
    screen.type("/new\r")
    screen.wait_for("A new conversation.")
    screen.type("/exit\r")
    assert screen.end() == 0


@pytest.mark.slow
def test_a_run_in_a_terminal_asks_and_ctrl_c_there_is_code_130(spawn, script, tasks) -> None:
    engine = script(CREATE, MILK, ANSWER, said("Added."))
    screen = spawn("run", "--engine", engine, "-T", "demo", "put milk on")
    screen.wait_for("[w] why ?")
    screen.type("y\r")
    screen.wait_for("Added.")
    assert screen.end() == 0
    screen = spawn("run", "--engine", engine, "-T", "demo", "put milk on")
    screen.wait_for("[w] why ?")
    screen.interrupt()
    assert screen.end() == 130
    assert tasks.titles().count("milk") == 1


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["NO_COLOR=1", "TERM=dumb"])
def test_a_terminal_that_wants_no_colours_gets_no_escape(spawn_shell, script, setting) -> None:
    engine = script(LIST, ANSWER, said("Three tasks."), read_s=0.1)
    screen = spawn_shell(f"{setting} goliath-local run --engine {engine} -T demo tasks")
    seen = screen.child.read()
    assert b"Three tasks." in seen
    assert b"\x1b" not in seen


@pytest.mark.slow
def test_a_narrow_terminal_shows_the_whole_call(spawn, script) -> None:
    title = {"json": {"title": "milk, " * 19 + "END", "missing": ""}}
    screen = spawn("run", "--engine", script(CREATE, title), "-T", "demo", "x", columns=40)
    screen.wait_for("[w] why ?")
    assert "END" in screen.text


def test_without_a_terminal_lines_are_messages_and_nothing_is_asked(
    goliath, script, monkeypatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('hello\n"""\na\nb"""\n'))
    engine = script(said("First."), said("Second."))
    ran = goliath("chat", "--engine", engine)
    assert ran.code == 0
    assert "First.\n" in ran.out
    assert "Second.\n" in ran.out
    assert "\x1b" not in ran.out + ran.err
    assert "you>" not in ran.out


@pytest.mark.slow
def test_why_tells_each_choice_with_its_share_and_what_was_next(chat) -> None:
    shares = [
        {"path": "/kind", "value": "tool", "share": 0.93},
        {"path": "/tool", "value": "list_tasks", "share": 0.71, "runner_up": "create_task",
         "runner_up_share": 0.2},
    ]  # fmt: skip
    screen = chat(LIST | {"choices": shares}, ANSWER, said("Three."))
    screen.type("what is on my list?\r")
    screen.wait_for("1 step ·")
    screen.type("/why\r")
    screen.wait_for("1 list_tasks: the list says it")
    screen.wait_for("tool = list_tasks 71%, then create_task 20%")
    assert "kind = tool 93%" in screen.text


@pytest.mark.slow
def test_a_turn_that_was_handed_over_says_to_whom_and_why(chat, home) -> None:
    Path("helper.py").write_text("def finish(request):\n    return {'text': 'From afar.'}\n")
    over = {"json": {"why": "w", "kind": "escalate", "brief": "too hard"}}
    screen = chat(over, flags=("-T", "demo", "--fallback", "helper:finish"))
    assert "What fails here is handed to helper:finish" in screen.text
    screen.type("do my taxes\r")
    screen.wait_for("From afar.")
    screen.wait_for("Answered by helper:finish, since the model asked for help.")
    screen.wait_for("· cloud")
    screen.type("/why\r")
    screen.wait_for("handed over: the model asked for help (conductor-asked)")


@pytest.mark.slow
def test_conversations_are_listed_and_resumed_by_number(chat) -> None:
    screen = chat(said("One."), said("Two."), said("Three."), flags=())
    screen.type("first ask\r")
    screen.wait_for("One.")
    screen.wait_for("ctx", times=2)
    screen.type("/new\rsecond ask\r")
    screen.wait_for("Two.")
    screen.wait_for("ctx", times=4)
    screen.type("/conversations\r")
    screen.wait_for(" * 1  ")
    screen.wait_for("  2  ")
    screen.type("/resume 9\r")
    screen.wait_for('There is no conversation "9".')
    screen.type("/resume 2\r")
    screen.wait_for("Going on with")
    screen.type("/memory\r")
    screen.wait_for("you>  first ask")
    screen.type("/exit\r")
    assert screen.end() == 0
