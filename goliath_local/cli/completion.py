"""What the shell offers when a name is half typed: models, conversations, traces, sets, files.

Edge: looks into the stores. Whatever goes wrong there offers nothing; it never prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goliath_local.cli.settings import Settings


def model_names(incomplete: str) -> list[str]:
    """Return the names of models that begin so."""
    from goliath_local.catalogue import cards

    return _beginning(incomplete, ("default", *(card.name for card in cards())))


def tool_set_names(incomplete: str) -> list[str]:
    """Return the names of tool sets and the Python files that begin so."""
    from goliath_local.toolsets import TOOL_SETS

    return _beginning(incomplete, TOOL_SETS) + _files(incomplete, ".py")


def eval_set_names(incomplete: str) -> list[str]:
    """Return the names of sets of cases and the JSONL files that begin so."""
    from goliath_local.evals.sets import set_names

    return _beginning(incomplete, set_names()) + _files(incomplete, ".jsonl")


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


def _files(incomplete: str, suffix: str) -> list[str]:
    """Return the folders and the files of this kind that begin so, as they were begun."""
    folder, slash, begun = incomplete.rpartition("/")
    try:
        found = sorted(Path(folder + slash or ".").iterdir())
    except (OSError, ValueError):
        return []
    named = [
        f"{path.name}/" if path.is_dir() else path.name
        for path in found
        if path.name.startswith(begun) and (begun or not path.name.startswith("."))
    ]
    return [folder + slash + name for name in named if name.endswith((suffix, "/"))][:_OFFERED]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    wanted = incomplete.casefold()
    return [name for name in names if name and name.casefold().startswith(wanted)]
