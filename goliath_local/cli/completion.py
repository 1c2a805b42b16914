"""What the shell offers when a name is half typed: models, conversations, traces, tool sets.

Edge: looks into the stores. Whatever goes wrong there offers nothing; it never prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.cli.settings import Settings


def model_names(incomplete: str) -> list[str]:
    """Return the names of models that begin so."""
    from goliath_local.catalogue import cards

    return _beginning(incomplete, ("default", *(card.name for card in cards())))


def tool_set_names(incomplete: str) -> list[str]:
    """Return the names of tool sets that begin so."""
    from goliath_local.toolsets import TOOL_SETS

    return _beginning(incomplete, TOOL_SETS)


def conversation_names(incomplete: str) -> list[str]:
    """Return the names of stored conversations that begin so, the last used first."""
    from goliath_local.errors import GoliathError
    from goliath_local.memory import sqlite_memory

    try:
        path = _settings().places.conversations
        stored = sqlite_memory(path).conversations() if path.is_file() else ()
    except (GoliathError, OSError):
        return []
    return _beginning(incomplete, [one.conversation_id or "" for one in stored])


def trace_names(incomplete: str) -> list[str]:
    """Return the names of traces that begin so, newest first, and `last`."""
    from goliath_local.cli.tracefile import trace_paths
    from goliath_local.errors import GoliathError

    try:
        paths = trace_paths(_settings().places.traces)
    except (GoliathError, OSError):
        return []
    return _beginning(incomplete, ["last", *(path.stem for path in paths[:_OFFERED])])


_OFFERED = 50


def _settings() -> Settings:
    from goliath_local.cli.settings import load_settings

    return load_settings({})


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    wanted = incomplete.casefold()
    return [name for name in names if name and name.casefold().startswith(wanted)]
