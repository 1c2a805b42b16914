"""The `goliath-local` command: it parses, calls and prints, and decides nothing."""

from goliath_local.cli.app import main

__all__ = ["main"]
