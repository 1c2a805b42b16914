"""`python -m goliath_local`, and the entry point of `goliath-local`. Edge."""

from __future__ import annotations

import sys

from goliath_local.cli import main as run_command_line


def main() -> None:
    """Run the command line and end the process with its exit code."""
    sys.exit(run_command_line())


if __name__ == "__main__":
    main()
