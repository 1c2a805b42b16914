"""What went wrong, as a user is told it: an exit code and a message.

Pure. One table gives each error class its code; the message is the error's own text, which says
what happened, why, and what to do.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import IntEnum

from goliath_local.errors import (
    BudgetError,
    ConfigError,
    ContextFull,
    EngineBusy,
    ExtensionError,
    FallbackError,
    FetchError,
    FileError,
    GoliathError,
    GrammarError,
    HttpError,
    InvalidValue,
    MachineError,
    ModelError,
    ModelFileError,
    ModelUnavailable,
    NoModel,
    RunCancelled,
    SchemaError,
    ScriptError,
    StorageBusy,
    StorageError,
    ToolServerError,
    missing_package,
)


class ExitCode(IntEnum):
    """What the shell is told."""

    DONE = 0
    OUR_BUG = 1
    USAGE = 2
    NOT_READY = 3
    BAD_MODEL_FILE = 4
    NETWORK_OR_DISK = 5
    NEEDED_A_YES = 6
    DID_NOT_FIT = 7
    NOT_FINISHED = 8
    GATE_NOT_MET = 9
    BUSY = 10
    TIMED_OUT = 124
    INTERRUPTED = 130
    READER_GONE = 141


class NeededYes(GoliathError):
    """A call waited for a yes that nobody could give."""


class NotFinished(GoliathError):
    """The turn was handed over, and nobody finished it."""


class GateNotMet(GoliathError):
    """A figure is below the gate that was asked for."""


class TimedOut(GoliathError):
    """The time that was given is over."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(
            f"No answer within {timeout_s:g} s (--timeout). "
            "Give it longer, or use a smaller model."
        )
        self.timeout_s = timeout_s


class ReaderGone(GoliathError):
    """Whoever read our output has closed the pipe."""


class Interrupted(GoliathError):
    """Ctrl-C."""


CODES: tuple[tuple[type[BaseException], ExitCode], ...] = (
    (NeededYes, ExitCode.NEEDED_A_YES),
    (NotFinished, ExitCode.NOT_FINISHED),
    (GateNotMet, ExitCode.GATE_NOT_MET),
    (TimedOut, ExitCode.TIMED_OUT),
    (ReaderGone, ExitCode.READER_GONE),
    (BrokenPipeError, ExitCode.READER_GONE),
    (Interrupted, ExitCode.INTERRUPTED),
    (RunCancelled, ExitCode.INTERRUPTED),
    (KeyboardInterrupt, ExitCode.INTERRUPTED),
    (NoModel, ExitCode.NOT_READY),
    (ModelFileError, ExitCode.BAD_MODEL_FILE),
    (ModelUnavailable, ExitCode.NOT_READY),
    (ContextFull, ExitCode.DID_NOT_FIT),
    (BudgetError, ExitCode.DID_NOT_FIT),
    (EngineBusy, ExitCode.BUSY),
    (ModelError, ExitCode.NOT_FINISHED),
    (FallbackError, ExitCode.NOT_FINISHED),
    (MachineError, ExitCode.NOT_READY),
    (FetchError, ExitCode.NETWORK_OR_DISK),
    (HttpError, ExitCode.NETWORK_OR_DISK),
    (FileError, ExitCode.NETWORK_OR_DISK),
    (StorageBusy, ExitCode.BUSY),
    (StorageError, ExitCode.NETWORK_OR_DISK),
    (ToolServerError, ExitCode.NOT_READY),
    (ConfigError, ExitCode.USAGE),
    (SchemaError, ExitCode.USAGE),
    (GrammarError, ExitCode.USAGE),
    (InvalidValue, ExitCode.USAGE),
    (ExtensionError, ExitCode.USAGE),
    (ScriptError, ExitCode.USAGE),
)
"""First match wins, so the more special class stands above the more general one."""

_SILENT = (ReaderGone, BrokenPipeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One error, ready to be shown."""

    code: ExitCode
    message: str
    """Several lines at most; empty when there is nobody to read it."""


def read_problem(error: BaseException) -> Problem:
    """Return what a user is told about the error."""
    code = next((code for kind, code in CODES if isinstance(error, kind)), None)
    if code is not None:
        text = "" if isinstance(error, _SILENT) else str(error).strip()
        return Problem(code=code, message=text or _nameless(error, code))
    if _is_out_of_memory(error):
        return Problem(code=ExitCode.NOT_READY, message=_NO_MEMORY)
    if isinstance(error, OSError):
        return _from_os(error)
    if isinstance(error, ImportError) and (missing := missing_package(error)):
        return read_problem(missing)
    return Problem(code=ExitCode.OUR_BUG, message=_our_bug(error))


def _is_out_of_memory(error: BaseException) -> bool:
    """True for what Python raises when memory runs out, a thread or library included."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    text = str(error).lower()
    is_start = isinstance(error, ImportError | RuntimeError | OSError)
    return is_start and any(words in text for words in _OUT_OF_MEMORY)


def _nameless(error: BaseException, code: ExitCode) -> str:
    if isinstance(error, _SILENT):
        return ""
    if code is ExitCode.INTERRUPTED:
        return "Interrupted. Nothing was left half done; run it again."
    return f"{type(error).__name__}, without a word of why. Run it again with -vv to see where."


_NO_MEMORY = (
    "There is not enough memory to go on. Close programs, raise a limit (ulimit -v), or use a "
    "smaller model."
)
_OUT_OF_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread")
"""How libraries and threads that found no memory put it."""

_OS_CURES: dict[int, str] = {
    errno.ENOSPC: "The disk is full. Free some space and run the same command again.",
    errno.EDQUOT: "Your disk quota is used up. Free some space and run the same command again.",
    errno.EROFS: "The disk is read-only. Use a folder that can be written to.",
    errno.EACCES: "You may not read or write it. Check its owner and mode with: ls -l",
    errno.EPERM: "You may not change it. Check its owner and mode with: ls -l",
    errno.ENOENT: "It is not there. Check the spelling.",
    errno.EISDIR: "It is a folder; name a file.",
    errno.ENOTDIR: "A part of the path is a file, not a folder.",
    errno.EMFILE: "Too many files are open. Raise the limit with: ulimit -n 4096",
    errno.EIO: "The disk gave an error. Check it, then run the same command again.",
}


def _from_os(error: OSError) -> Problem:
    what = error.strerror or type(error).__name__
    where = f"{error.filename}: " if error.filename else ""
    cure = _OS_CURES.get(error.errno or 0, "Mend the cause and run the same command again.")
    return Problem(code=ExitCode.NETWORK_OR_DISK, message=f"{where}{what}. {cure}")


def _our_bug(error: BaseException) -> str:
    return (
        f"This is a bug in goliath-local: {type(error).__name__}: {error}\n"
        "Run it again with -vv to see where, and please report it."
    )
