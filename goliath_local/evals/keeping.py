"""Records on disk: written attempt by attempt, read whole.

Edge: disk. What a user asked is in a record, so files are readable by their owner alone.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError
from goliath_local.evals.accepted import is_accepted, read_accepted
from goliath_local.evals.results import passes, read_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goliath_local.evals.results import Kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What a record says of each fixture, and what it was made with."""

    passed: Mapping[str, bool]
    about: Mapping[str, Any]


def begin_record(path: Path) -> None:
    """Make the file, empty; an earlier record of that name is replaced.

    Raises:
        ConfigError: something else is there.
        OSError: it cannot be written.
    """
    if path.exists() and path.stat().st_size:
        try:
            load_record(path)
        except ConfigError as error:
            msg = f"{path} is there and is no record of an eval; it stays. Name another file."
            raise ConfigError(msg) from error
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))


def append_attempt(path: Path, attempt: Mapping[str, Any]) -> None:
    """Add one attempt to the record."""
    line = json.dumps(attempt, ensure_ascii=False, default=str) + "\n"
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as out:
        out.write(line)


def load_record(path: Path) -> tuple[Kept, ...]:
    """Return the attempts of a record.

    Raises:
        ConfigError: the file is not there or no record.
    """
    return read_record(_text(path).splitlines(), source=path.name)


def load_outcomes(path: Path) -> Outcomes:
    """Return which fixtures passed, of a record or of what `eval-ci` accepted.

    Raises:
        ConfigError: the file is not there or neither.
    """
    text = _text(path)
    if is_accepted(text):
        accepted = read_accepted(text, source=path.name)
        return Outcomes(passed=accepted.passed, about=accepted.about)
    record = read_record(text.splitlines(), source=path.name)
    return Outcomes(passed=passes(record), about=record[-1].about)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        msg = f"There is no file {path}. Make a record: goliath-local eval run SET -o {path}"
        raise ConfigError(msg) from error
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read as a record of an eval: {error}."
        raise ConfigError(msg) from error
