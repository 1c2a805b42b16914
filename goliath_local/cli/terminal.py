"""The one door to the terminal: results to stdout, everything else to stderr.

Edge. Whatever is handed in passes `visible` first, so text of a model, a tool or a file cannot
steer the terminal; colours are added here, and only where a person looks and has not said no.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from goliath_local.cli.problems import ReaderGone
from goliath_local.cli.visible import Visible, is_hidden, visible, visible_line, within_columns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

ColourChoice: TypeAlias = Literal["auto", "always", "never"]
Style: TypeAlias = Literal["dim", "bold", "red", "green", "yellow", "cyan"]

_CODES: dict[Style, str] = {
    "dim": "2",
    "bold": "1",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


@dataclass(frozen=True, slots=True)
class Styled:
    """A text and how it looks, where looks are wanted."""

    text: str
    style: Style


Piece: TypeAlias = str | Styled


def wants_colour(choice: ColourChoice, *, is_tty: bool, environ: Mapping[str, str]) -> bool:
    """Return whether to colour: `NO_COLOR` and `TERM=dumb` win, then the choice, then the TTY."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return is_tty if choice == "auto" else choice == "always"


def is_automatic(environ: Mapping[str, str]) -> bool:
    """Return whether `CI` says that nobody is there, though there may be a terminal."""
    return environ.get("CI", "").strip().casefold() not in {"", "0", "false", "no"}


class Terminal:
    """Writes results and remarks; knows who is looking."""

    def __init__(
        self,
        *,
        out: TextIO,
        err: TextIO,
        colour: ColourChoice = "auto",
        quiet: bool = False,
        log_file: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        self._out, self._err, self.quiet = out, err, quiet
        self._log = log_file
        self.out_is_tty, self.err_is_tty = _is_tty(out), _is_tty(err)
        self._colour_out = wants_colour(colour, is_tty=self.out_is_tty, environ=environ)
        self._colour_err = wants_colour(colour, is_tty=self.err_is_tty, environ=environ)

        self._is_watched = not is_automatic(environ)
        self._fleeting = self.err_is_tty and self._colour_err and self._is_watched
        self._has_status = False

    @property
    def columns(self) -> int:
        """How wide the terminal is; 80 where nobody says."""
        return shutil.get_terminal_size((80, 24)).columns

    @property
    def can_ask(self) -> bool:
        """True when a person can see a question and answer it."""
        return self.err_is_tty and _is_tty(sys.stdin) and self._is_watched

    def put(self, *pieces: Piece, end: str = "\n") -> None:
        """Write a result to stdout.

        Raises:
            ReaderGone: nobody reads stdout any more.
        """
        self.put_shown(_joined(pieces, colour=self._colour_out) + end)

    def put_shown(self, text: str) -> None:
        """Write text to stdout that was made visible already.

        Raises:
            ReaderGone: nobody reads stdout any more.
        """
        self.clear_status()
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error

    def document(self, value: Any, *, indent: int | None = None) -> None:
        """Write one JSON document and a newline to stdout."""
        self.put_shown(json_text(value, indent=indent) + "\n")

    def say(self, *pieces: Piece, end: str = "\n") -> None:
        """Write a remark to stderr, unless only results are wanted."""
        if self.quiet:
            self._write_log(pieces, end)
        else:
            self.complain(*pieces, end=end)

    def complain(self, *pieces: Piece, end: str = "\n") -> None:
        """Write to stderr in any case; a closed stderr is nobody's problem."""
        self.clear_status()
        self._send_err(_joined(pieces, colour=self._colour_err) + end)
        self._write_log(pieces, end)

    def _write_log(self, pieces: tuple[Piece, ...], end: str) -> None:
        if self._log is None:
            return
        try:
            descriptor = os.open(self._log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as log:
                log.write(_joined(pieces, colour=False) + end)
        except OSError as error:
            path, self._log = self._log, None
            self.complain(f"{path}: {error.strerror}. Remarks are not written there.")

    def _send_err(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._err.write(text)
            self._err.flush()

    def status(self, text: str) -> None:
        """Show a passing line, where a person looks and the terminal can take it back."""
        if self._fleeting and not self.quiet:
            self.clear_status()
            line = within_columns(visible_line(text), self.columns - 1)
            self._send_err(f"\x1b[2m{line}\x1b[0m")
            self._has_status = True

    def clear_status(self) -> None:
        """Take the passing line back."""
        if self._has_status:
            self._has_status = False
            self._send_err("\r\x1b[K")

    def stream(self) -> Stream:
        """Return a writer for a result that comes in pieces."""
        return Stream(self)


class Stream:
    """A result that comes in pieces."""

    __slots__ = ("_is_ended", "_terminal", "_visible", "text")

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self._visible, self._is_ended = terminal, Visible(), False
        self.text = ""
        """What came so far, as it came."""

    def write(self, piece: str) -> None:
        """Show the next piece."""
        if not self.text:
            piece = piece.lstrip()
        self.text += piece
        self._terminal.put_shown(self._visible.read(piece))

    def end_line(self) -> None:
        """Go to a fresh line, unless nothing was written or the last piece did so."""
        if self.text and not self._is_ended and not self.text.endswith("\n"):
            self._terminal.put_shown("\n")
        self._is_ended = True


def json_text(value: Any, *, indent: int | None = None) -> str:
    """Return the value as JSON in which every control and invisible character is escaped."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, default=str)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return "".join(_escaped(c) if c != "\n" and is_hidden(c) else c for c in text)


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0x7F else f"\\u{ord(char):04x}"


def _joined(pieces: tuple[Piece, ...], *, colour: bool) -> str:
    return "".join(_painted(piece, colour=colour) for piece in pieces)


def _painted(piece: Piece, *, colour: bool) -> str:
    if isinstance(piece, str):
        return visible(piece)
    text = visible(piece.text)
    return f"\x1b[{_CODES[piece.style]}m{text}\x1b[0m" if colour and text else text


def _is_tty(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def open_terminal(
    *, colour: ColourChoice = "auto", quiet: bool = False, log_file: Path | None = None
) -> Terminal:
    """Return the terminal of this process."""
    return Terminal(out=sys.stdout, err=sys.stderr, colour=colour, quiet=quiet, log_file=log_file)


def prints_to_stderr() -> AbstractContextManager[object]:
    """Send what the user's own code prints to stderr: stdout is the result and nothing else.

    A `Terminal` that is there already writes to stdout all the same.
    """
    return redirect_stdout(sys.stderr)


def mend_standard_streams() -> None:
    """Give closed standard streams somewhere to go, and let odd characters pass.

    With descriptor 2 closed, the next file that is opened would get that number, and a native
    library's remarks would be written into it.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDONLY if descriptor == 0 else os.O_WRONLY)
            os.set_inheritable(opened, True)
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
