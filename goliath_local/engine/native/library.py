"""llama.cpp, opened once and kept quiet.

Edge. Its log goes into a ring of lines, so that an exception can say what the library said last;
nothing of it reaches stderr unless somebody listens.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib.metadata
import logging
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from goliath_local.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable

# llama.cpp's levels: 1 debug, 2 info, 3 warning, 4 error, 5 goes on with the line before.
_LEVELS: Final = {1: logging.DEBUG, 2: logging.INFO, 3: logging.WARNING, 4: logging.ERROR}
_CONTINUED: Final = 5


class NativeLog:
    """The last lines llama.cpp wrote, and who hears new ones."""

    def __init__(self) -> None:
        self._lines: deque[tuple[int, str]] = deque(maxlen=64)
        self._level = logging.INFO
        self._open_line = ""
        self._listener: Callable[[int, str], None] | None = None

    def listen(self, listener: Callable[[int, str], None] | None) -> None:
        """Hand each new line with its `logging` level to the listener; None to stop."""
        self._listener = listener

    def last_errors(self, *, most: int = 3) -> str:
        """Return the last error lines, joined by `; `; empty when there are none."""
        errors = [text for level, text in self._lines if level >= logging.ERROR]
        return "; ".join(errors[-most:])

    def clear(self) -> None:
        """Forget the lines so far, so that the next errors are those of the next call."""
        self._lines.clear()

    def write(self, level: int, text: str) -> None:
        """Take a piece of text at one of llama.cpp's levels; lines are kept when they end."""
        if level != _CONTINUED:
            self._level = _LEVELS.get(level, logging.INFO)
        self._open_line += text
        *lines, self._open_line = self._open_line.split("\n")
        for line in lines:
            if line.strip():
                self._lines.append((self._level, line.strip()))
                if self._listener is not None:
                    self._listener(self._level, line.rstrip())


native_log: Final = NativeLog()


@functools.cache
def open_library() -> Any:
    """Return the binding's low-level module, its log already turned to `native_log`.

    Raises:
        MachineError: llama-cpp-python is missing or its library cannot be loaded.
    """
    try:
        from llama_cpp import llama_cpp as library
    except (ImportError, OSError, RuntimeError) as error:
        message = (
            f"llama-cpp-python cannot be loaded: {error}. Install it with a C++ compiler at hand: "
            "pip install --force-reinstall --no-cache-dir llama-cpp-python"
        )
        raise MachineError(message) from error
    _turn_log(library)
    library.llama_backend_init()
    return library


def native_build() -> str:
    """Return what identifies the native code: version of the binding and the build's features."""
    library = open_library()
    features = library.llama_print_system_info().decode("utf-8", "replace").strip()
    return f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')} | {features}"


def lays_out_anew() -> bool:
    """Return whether this build copies weights into a layout of its own for the processor."""
    library = open_library()
    return not library.llama_supports_gpu_offload() and "REPACK = 1" in native_build()


_kept_alive: list[object] = []


def _turn_log(library: Any) -> None:
    @library.llama_log_callback  # type: ignore[untyped-decorator]  # a ctypes function type
    def receive(level: int, text: bytes | None, _data: object) -> None:
        native_log.write(level, (text or b"").decode("utf-8", "replace"))

    library.llama_log_set(receive, None)
    _kept_alive.append(receive)
    atexit.register(_mute, library)
    atexit.register(_close_sinks)


def _mute(library: Any) -> None:
    # Native destructors may log after Python is gone, and a Python callback would then crash.
    # C's abs() is a callback that does nothing: it ignores all but its first argument.
    nothing = ctypes.cast(ctypes.CDLL(None).abs, library.llama_log_callback)
    library.llama_log_set(nothing, None)
    _kept_alive.append(nothing)


def _close_sinks() -> None:
    # The binding opens two sinks on import and never closes them, which Python's development
    # mode reports at exit: `outnull_file` and `errnull_file` in llama_cpp._utils.
    utilities = sys.modules.get("llama_cpp._utils")
    for name in ("outnull_file", "errnull_file"):
        sink = getattr(utilities, name, None)
        if sink is not None:
            sink.close()
