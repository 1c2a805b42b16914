"""`python -m goliath_local`, and the entry point of `goliath-local`. Edge."""

from __future__ import annotations

import os
import sys

_BROKEN_OFF = 124
"""The least exit code of what was told to stop: time-out, Ctrl-C, signals, a closed pipe."""

_INTERRUPTED = 130
_NOT_READY = 3


def main() -> None:
    """Run the command line and end the process with its exit code."""
    code = _code()
    if code >= _BROKEN_OFF:
        # Whatever was broken off may sit in native code for a while yet; nobody waits for it.
        os._exit(code)
    sys.exit(code)


def _code() -> int:
    # Here and not above: Ctrl-C may come while the command line is still being read from disk.
    try:
        from goliath_local.cli import main as run_command_line
    except KeyboardInterrupt:
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        from goliath_local.errors import missing_package

        if (missing := missing_package(error)) is None:
            raise
        sys.stderr.write(f"{missing}\n")
        return _NOT_READY
    return run_command_line()


if __name__ == "__main__":
    main()
