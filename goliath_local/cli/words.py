"""The slash words of `chat`: one table, one small function each.

Edge: they print, and some change the conversation.
"""

from __future__ import annotations

import difflib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args

from goliath_local.cli import talk
from goliath_local.cli.chat_facts import figures, model_lines, next_bill
from goliath_local.cli.outcome import reason_words
from goliath_local.cli.show import Steps
from goliath_local.cli.visible import clipped_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from goliath_local.cli.session import Parts, Session
    from goliath_local.cli.show import Tally
    from goliath_local.cli.terminal import Terminal
    from goliath_local.events import Event
    from goliath_local.memory import Memory
    from goliath_local.records import StepRecord
    from goliath_local.tools import Tool


class Chat(Protocol):
    """What slash words know of a chat, and may change in it."""

    parts: Parts
    terminal: Terminal
    session: Session
    conversation_id: str
    steps: Steps
    stats: bool
    last_steps: Sequence[StepRecord]
    last_events: Sequence[Event]

    @property
    def tools(self) -> Sequence[Tool]:
        """What the model can do."""
        ...

    @property
    def memory(self) -> Memory:
        """Of the conversation that is going on."""
        ...

    @property
    def tally(self) -> Tally | None:
        """What the last turn cost; None before the first."""
        ...

    def go_on_with(self, conversation_id: str) -> None:
        """Go on with another conversation."""
        ...


Act: TypeAlias = "Callable[[Chat, str], Awaitable[None]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One slash word."""

    about: str
    act: Act


class Leave(Exception):
    """The user is done."""


def is_word(text: str) -> bool:
    """True when the message is a slash word, and not text for the model."""
    return text.startswith("/") and not text.startswith("//") and "\n" not in text


async def obey(chat: Chat, text: str) -> None:
    """Do what a slash word says.

    Raises:
        Leave: the user wants to end the chat.
    """
    name, _, rest = text[1:].partition(" ")
    word = WORDS.get(name.casefold())
    if word is not None:
        await word.act(chat, rest.strip())
        return
    close = difflib.get_close_matches(name, WORDS, n=1)
    hint = f" Did you mean /{close[0]}?" if close else " See /help."
    chat.terminal.complain(f"There is no /{name}.{hint} To send it as text, begin with //")


async def _help(chat: Chat, _: str) -> None:
    for name, word in WORDS.items():
        chat.terminal.complain(f"  /{name:<14} {word.about}")
    chat.terminal.complain(
        '  Enter sends, Alt-Enter adds a line, """ begins and ends a block, Ctrl-R searches.'
    )


async def _tools(chat: Chat, _: str) -> None:
    for tool in chat.tools:
        asks = "  (asks first)" if tool.writes or tool.requires_confirmation else ""
        chat.terminal.complain(f"  {tool.name}{asks}  {tool.description}")
    if not chat.tools:
        chat.terminal.complain("  There are none. Start with -T demo, or -T FILE.py")


async def _steps(chat: Chat, rest: str) -> None:
    if rest in get_args(Steps):
        chat.steps = rest  # type: ignore[assignment]  # one of the three, as just checked
        chat.terminal.complain(f"  Steps are shown: {rest}")
        return
    if rest:
        chat.terminal.complain("  Give full, short or off; alone, /steps shows the last turn.")
        return
    for step in chat.last_steps:
        chat.terminal.complain(f"  {step.index + 1} {step.tool or 'answer'}: {step.status}")
        for line in (step.result or "").splitlines():
            chat.terminal.complain(f"      {line}")
    if not chat.last_steps:
        chat.terminal.complain("  There were no steps yet.")


async def _memory(chat: Chat, _: str) -> None:
    state = await chat.memory.load()
    chat.terminal.complain(f"  Conversation {chat.conversation_id}")
    for line in state.summary.splitlines():
        chat.terminal.complain(f"  {line}")
    for exchange in state.recent:
        partial = " (partial)" if exchange.best_effort else ""
        chat.terminal.complain(f"  you>  {clipped_line(exchange.ask, 70)}")
        chat.terminal.complain(f"        {clipped_line(exchange.answer, 70)}{partial}")
    if not state.recent:
        chat.terminal.complain("  Nothing is remembered yet.")


async def _undo(chat: Chat, _: str) -> None:
    gone = await talk.undo(chat.memory)
    if gone is None:
        chat.terminal.complain("  There is nothing to take back.")
        return
    done = any(step.writes and step.status == "completed" for step in gone.steps)
    effect = " What its tools changed stays changed." if done else ""
    chat.terminal.complain(f'  Forgotten: "{clipped_line(gone.ask, 60)}".{effect}')


async def _clear(chat: Chat, _: str) -> None:
    await talk.clear(chat.memory)
    chat.terminal.complain("  Everything of this conversation is forgotten.")


async def _new(chat: Chat, _: str) -> None:
    chat.go_on_with(talk.fresh_id())
    chat.terminal.complain("  A new conversation.")


async def _conversations(chat: Chat, _: str) -> None:
    for number, one in enumerate(await talk.recent(chat.parts.memory), start=1):
        mark = "*" if one.id == chat.conversation_id else " "
        when = talk.ago(time.time() - one.saved_at)
        head = f" {mark}{number:>2}  {one.id}  {when:<14}  "
        ask = clipped_line(one.last_ask, max(20, chat.terminal.columns - len(head) - 1))
        chat.terminal.complain(head, ask)
    chat.terminal.complain("  Go on with one: /resume, and its number or name.")


async def _resume(chat: Chat, rest: str) -> None:
    if not rest:
        await _conversations(chat, rest)
        return
    found = await talk.recent(chat.parts.memory, wanted=rest)
    if not found:
        chat.terminal.complain(f'  There is no conversation "{rest}". See /conversations.')
        return
    chat.go_on_with(found[0].id)
    chat.terminal.complain(f"  Going on with {found[0].id}: {found[0].last_ask}")


async def _tokens(chat: Chat, _: str) -> None:
    for line in await next_bill(chat.parts, chat.memory):
        chat.terminal.complain(f"  {line}")


async def _stats(chat: Chat, _: str) -> None:
    chat.stats = not chat.stats
    chat.terminal.complain(f"  Figures after each turn: {'on' if chat.stats else 'off'}")
    for line in figures(chat.tally) if chat.tally else []:
        chat.terminal.complain(f"  {line}")


async def _trace(chat: Chat, _: str) -> None:
    name = chat.session.trace_id
    told = f"goliath-local trace show {name}" if name else "Nothing is traced yet."
    chat.terminal.complain(f"  {told}")


async def _why(chat: Chat, _: str) -> None:
    lines = [line for event in chat.last_events for line in _reasons(event)]
    for line in lines or ["Nothing was decided yet."]:
        chat.terminal.complain(f"  {line}")


def _reasons(event: Event) -> Iterator[str]:
    """Yield what an event says of why the turn went as it did."""
    match event.type:
        case "plan":
            yield f"{event.index + 1} {event.tool or event.kind}: {event.why or event.brief}"
            yield from (f"    {_share(one)}" for one in event.choices)
        case "retry":
            yield f"  asked again ({event.stage}): {event.reason}"
        case "confirm":
            yield f"  {'allowed' if event.approved else 'not allowed'}: {event.tool}"
        case "escalate":
            yield f"  handed over: {reason_words(event.reason)}"
        case _:
            pass


def _share(choice: Any) -> str:
    name = choice.path.strip("/") or "value"
    other = f", then {choice.runner_up} {choice.runner_up_share:.0%}" if choice.runner_up else ""
    return f"{name} = {choice.value} {choice.share:.0%}{other}"


async def _model(chat: Chat, _: str) -> None:
    for line in model_lines(chat.parts.ready):
        chat.terminal.complain(f"  {line}")


async def _exit(_chat: Chat, _: str) -> None:
    raise Leave


WORDS: dict[str, Word] = {
    "help": Word(about="this list", act=_help),
    "tools": Word(about="what the model can do", act=_tools),
    "steps": Word(about="the last turn's steps; full, short, off: how to show them", act=_steps),
    "why": Word(about="how the last turn was decided, with shares", act=_why),
    "memory": Word(about="what is remembered", act=_memory),
    "undo": Word(about="forget the last exchange", act=_undo),
    "clear": Word(about="forget the whole conversation", act=_clear),
    "new": Word(about="begin another conversation", act=_new),
    "conversations": Word(about="those that are stored, the last used first", act=_conversations),
    "resume": Word(about="go on with another one: /resume 2, or its name", act=_resume),
    "tokens": Word(about="what the next prompt costs, by part", act=_tokens),
    "stats": Word(about="figures after each turn, on or off", act=_stats),
    "trace": Word(about="where the last turn was written down", act=_trace),
    "model": Word(about="which model this is", act=_model),
    "exit": Word(about="leave, like Ctrl-D", act=_exit),
}
