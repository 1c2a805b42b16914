"""`python -m goliath_local`, and the entry point of `goliath-local`. Edge."""

from __future__ import annotations

import os
import sys

from goliath_local.cli import main as run_command_line

_BROKEN_OFF = 124
"""The least exit code of what was told to stop: time-out, Ctrl-C, signals, a closed pipe."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    code = run_command_line()
    if code >= _BROKEN_OFF:
        # Whatever was broken off may sit in native code for a while yet; nobody waits for it.
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
