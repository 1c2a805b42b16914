"""What a person types into `chat`: lines, pastes, blocks.

Edge: prompt-toolkit reads the keys; without a terminal, lines of stdin are read. A paste is one
message however many lines it has; a long one is shown as a short mark and sent whole.
"""

from __future__ import annotations

import io
import re
import sys
from typing import TYPE_CHECKING, Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys

from goliath_local.cli.asks import verify_utf8
from goliath_local.cli.signals import stoppable
from goliath_local.cli.waiting import in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

BLOCK = '"""'
PROMPT = "you> "
_LONG_CHARS = 2_000
"""A longer paste is shown as a mark: drawing it would take longer than sending it."""


class Reader(Protocol):
    """Gives one message after the other."""

    async def read(self, meter: str) -> str:
        """Return the next message.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: Ctrl-C at the prompt.
        """
        ...


class KeyReader:
    """Reads keys at a terminal."""

    def __init__(self, earlier: Iterable[str]) -> None:
        self._pasted: dict[str, str] = {}
        self._session: PromptSession[str] = PromptSession(
            history=InMemoryHistory(list(earlier)),
            key_bindings=self._keys(),
            multiline=True,
            prompt_continuation="...> ",
            enable_history_search=False,
        )

    async def read(self, meter: str) -> str:
        """Return what was typed until Enter."""
        with stoppable(run_in_terminal):
            text = await self._session.prompt_async(PROMPT, rprompt=meter)
        return read_block(self._expanded(text))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add(Keys.Enter)
        def _(event: KeyPressEvent) -> None:
            if is_open_block(event.current_buffer.text):
                event.current_buffer.insert_text("\n")
            else:
                event.current_buffer.validate_and_handle()

        @keys.add(Keys.Escape, Keys.Enter)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(self._shown(text))

        return keys

    def _shown(self, text: str) -> str:
        if len(text) <= _LONG_CHARS:
            return text
        mark = f"[paste {len(self._pasted) + 1}: {len(text):,} characters]"
        self._pasted[mark] = text
        return mark

    def _expanded(self, text: str) -> str:
        if not self._pasted:
            return text
        pattern = "|".join(re.escape(mark) for mark in self._pasted)
        return re.sub(pattern, lambda match: self._pasted[match.group()], text)


class LineReader:
    """Reads lines of a pipe or file, in UTF-8 whatever the locale."""

    def __init__(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        self._lines = 0

    async def read(self, meter: str) -> str:  # noqa: ARG002 - nobody looks
        """Return the next line, or the next block between triple quotes.

        Raises:
            ConfigError: it is not UTF-8; line and byte are said.
        """
        text = await self._line()
        while text and is_open_block(text.rstrip("\n")):
            more = await self._line()
            if not more:
                break
            text += more
        if not text:
            raise EOFError
        return read_block(text)

    async def _line(self) -> str:
        line: str = await in_thread(sys.stdin.readline)
        self._lines += 1
        verify_utf8(line, f"Line {self._lines} of stdin")
        return line


def is_open_block(text: str) -> bool:
    """True when the text begins a block that is not yet closed."""
    stripped = text.strip()
    if not stripped.startswith(BLOCK):
        return False
    return not (len(stripped) >= 2 * len(BLOCK) and stripped.endswith(BLOCK))


def read_block(text: str) -> str:
    """Return the message: without the triple quotes around it, if there are any."""
    stripped = text.strip()
    if stripped.startswith(BLOCK):
        return stripped.removeprefix(BLOCK).removesuffix(BLOCK).strip("\n")
    return stripped
