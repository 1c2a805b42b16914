"""Events of a turn, as lines of a terminal.

Edge: `TurnView` writes through the terminal; the functions that make the lines are pure.
"""

from __future__ import annotations

import json
import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from goliath_local.cli.outcome import reason_words
from goliath_local.cli.terminal import Styled
from goliath_local.cli.visible import clipped_line, visible_line
from goliath_local.model import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from goliath_local.cli.terminal import Stream, Terminal
    from goliath_local.events import (
        BudgetEvent,
        EscalateEvent,
        Event,
        MemoryErrorEvent,
        ModelEvent,
        PlanEvent,
        RetryEvent,
        ToolEvent,
    )

Steps: TypeAlias = Literal["full", "short", "off"]

STATUS_WORDS = {
    "skipped": "not run",
    "failed": "failed",
    "cached": "as before",
    "interrupted": "interrupted",
}


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a turn cost so far; grows with each event."""

    window: int
    started_s: float
    prompt_tokens: int = 0
    evaluated_tokens: int = 0
    completion_tokens: int = 0
    forced_tokens: int = 0
    decode_s: float = 0.0
    context_tokens: int = 0
    """Prompt of the latest model call, and its reply."""

    first_token_s: float | None = None
    steps: int = 0
    confidence: float | None = None
    """Chance that the turn is right, where that was fitted for the model."""

    was_cut: bool = False
    """The answer ended because its cap was reached."""

    shortened: list[str] = field(default_factory=list)

    def add(self, event: Event, now_s: float) -> None:
        """Count one event."""
        match event.type:
            case "budget":
                self.context_tokens, self.window = event.tokens, event.window
                self.shortened += [part for part in event.trimmed if part not in self.shortened]
            case "model":
                self._add_model(event, now_s)
            case "tool":
                self.steps += 1
            case "answer":
                self.confidence = event.confidence
            case _:
                pass

    def _add_model(self, event: ModelEvent, now_s: float) -> None:
        usage = event.usage
        self.prompt_tokens += usage.prompt_tokens
        self.evaluated_tokens += usage.evaluated_tokens
        self.completion_tokens += usage.completion_tokens
        self.forced_tokens += usage.forced_tokens
        self.decode_s += usage.decode_s
        self.context_tokens = usage.prompt_tokens + usage.completion_tokens or self.context_tokens
        if self.first_token_s is None and usage.completion_tokens:
            self.first_token_s = now_s - self.started_s - usage.decode_s
        if event.stage == Stage.ANSWER:
            self.was_cut = event.finish == "length"

    @property
    def tokens_per_s(self) -> float | None:
        """Generated tokens a second; None when nothing was timed."""
        return self.completion_tokens / self.decode_s if self.decode_s > 0 else None


def argument_text(arguments: dict[str, Any] | None, columns: int) -> str:
    """Return arguments as `name="value"`, clipped to one line."""
    pairs = [f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in (arguments or {}).items()]
    return clipped_line(" ".join(pairs), columns)


def result_text(event: ToolEvent, columns: int) -> str:
    """Return what came of a tool step, in one line."""
    status = STATUS_WORDS.get(event.status)
    if status is not None and event.result.casefold().startswith(status):
        return clipped_line(event.result, columns)
    if status is not None:
        return clipped_line(f"{status}: {event.result}", columns)
    lines = [line for line in event.result.splitlines() if line.strip()]
    if len(lines) > 1:
        return f"{len(lines)} lines"
    return clipped_line(lines[0] if lines else "ok", columns)


def with_tail(text: str, tail: str, columns: int) -> str:
    """Return the text with something at the right edge, two blanks at least between."""
    return f"{text}{' ' * max(2, columns - len(text) - len(tail))}{tail}"


def closing_line(tally: Tally, *, place: str, now_s: float) -> str:
    """Return the line under an answer: steps, seconds, speed, window, place."""
    steps = f"{tally.steps} step{'' if tally.steps == 1 else 's'}"
    speed = f" · {tally.tokens_per_s:.1f} tok/s" if tally.tokens_per_s else ""
    meter = f"ctx {tally.context_tokens:,}/{tally.window:,}"
    return f"{steps} · {now_s - tally.started_s:.1f} s{speed} · {meter} · {place}"


class TurnView:
    """Shows one turn while it runs."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        steps: Steps,
        streaming: bool,
        window: int,
        notes: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal, self._steps, self._streaming = terminal, steps, streaming
        self._notes = notes
        self._clock = clock
        self.tally = Tally(window=window, started_s=clock())
        self.stream: Stream | None = None
        self._open_line = ""
        """The step line that waits for its arguments."""

        self.events: list[Event] = []

    def restart(self) -> None:
        """Begin to count seconds now."""
        self.tally.started_s = self._clock()

    @property
    def _columns(self) -> int:
        return min(self._terminal.columns, 100)

    def handle(self, event: Event) -> None:
        """Show one event."""
        self.events.append(event)
        self.tally.add(event, self._clock())
        match event.type:
            case "budget":
                self._reading(event)
            case "plan":
                self._plan(event)
            case "tool":
                self._tool(event)
            case "retry":
                self._retry(event)
            case "escalate":
                self._escalate(event)
            case "memory-error":
                self._memory_error(event)
            case _:
                pass

    def text(self, piece: str) -> None:
        """Show a piece of the answer, as it comes."""
        if not self._streaming:
            return
        if self.stream is None:
            self._close_line()
            self._terminal.clear_status()
            self.stream = self._terminal.stream()
        self.stream.write(piece)

    def show_call(self, arguments: dict[str, Any]) -> None:
        """Complete the open step line with the arguments, before a yes is asked for."""
        if self._open_line:
            room = self._columns - len(self._open_line) - 2
            self._terminal.say("  ", argument_text(arguments, max(20, room)))
            self._open_line = ""

    def answer(self, text: str) -> None:
        """Show the final text, unless exactly it was streamed."""
        self._close_line()
        self._terminal.clear_status()
        if self.stream is not None:
            self.stream.end_line()
        if text and (self.stream is None or self.stream.text.strip() != text.strip()):
            self._terminal.put(text)

    def close(self, *, place: str) -> None:
        """Show the line under the answer."""
        if self._steps == "off":
            return
        line = closing_line(self.tally, place=place, now_s=self._clock())
        self._terminal.say(Styled(line.rjust(self._columns), "dim"))

    def abandon(self) -> None:
        """Go to a fresh line, whatever was being shown."""
        self._close_line()
        self._terminal.clear_status()
        if self.stream is not None:
            self.stream.end_line()

    def interrupted(self) -> str:
        """Say that the turn was broken off; return what had come of the answer."""
        self.abandon()
        self._terminal.complain(Styled("(interrupted)", "yellow"))
        return self.stream.text if self.stream is not None else ""

    def _reading(self, event: BudgetEvent) -> None:
        if not self._open_line and self._steps != "off":
            self._terminal.status(f"  {event.label} · ctx {event.tokens:,}/{event.window:,}")

    def _plan(self, event: PlanEvent) -> None:
        if event.kind != "tool" or self._steps != "full":
            return
        self._terminal.clear_status()
        self._open_line = f"  {event.index + 1} {visible_line(event.tool or '')}"
        self._terminal.say(self._open_line, end="")

    def _tool(self, event: ToolEvent) -> None:
        self._terminal.clear_status()
        seconds = f"{event.ms / 1000:.1f} s"
        if self._steps == "full":
            self.show_call(event.input or {})
            meter = f"   ctx {self.tally.context_tokens:,}/{self.tally.window:,}"
            line = f"    → {result_text(event, max(20, self._columns - 30))}"
            self._terminal.say(Styled(with_tail(line, seconds + meter, self._columns), "dim"))
        elif self._steps == "short":
            call = f"{visible_line(event.tool)} {argument_text(event.input, 40)}".rstrip()
            line = f"  {self.tally.steps} {call} → {result_text(event, 40)}"
            self._terminal.say(Styled(with_tail(line, seconds, self._columns), "dim"))

    def _retry(self, event: RetryEvent) -> None:
        if event.stage == Stage.ANSWER and self.stream is not None:
            # What was said so far stays on its line; the next answer is another one.
            self.stream.end_line()
            self.stream = None
        if self._steps == "full":
            self._note(f"    {event.stage}: asked again ({clipped_line(event.reason, 60)})")

    def _escalate(self, event: EscalateEvent) -> None:
        if self._notes:
            self._note(f"  ! {reason_words(event.reason)}", error=event.error)

    def _memory_error(self, event: MemoryErrorEvent) -> None:
        self._note("  ! This turn was not remembered", error=event.error)

    def _note(self, text: str, *, error: str | None = None) -> None:
        self._close_line()
        self._terminal.clear_status()
        whole = visible_line(f"{text}: {error}" if error else text)
        for line in textwrap.wrap(whole, self._columns - 1, subsequent_indent="    "):
            self._terminal.say(Styled(line, "yellow"))

    def _close_line(self) -> None:
        if self._open_line:
            self._terminal.say()
            self._open_line = ""
