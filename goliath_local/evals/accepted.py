"""The record that was last accepted: one JSON document that a later run is held against.

Pure. It is small enough to be kept in git and read in a review: hashes of what made it, and for
every fixture whether it passed and how it ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Outcomes that were looked at and found good enough."""

    about: Mapping[str, Any]
    """Model with sha256, prompts, seed, commit."""

    passed: Mapping[str, bool]
    """By fixture id."""

    verdicts: Mapping[str, str] = field(default_factory=dict)
    dont_call: Mapping[str, bool] = field(default_factory=dict)
    """Whether no tool was called, by id of the cases in which no call is right."""

    figures: Mapping[str, float] = field(default_factory=dict)


def is_accepted(text: str) -> bool:
    """Return whether the text is meant as an accepted record, sound or not."""
    return text.lstrip().startswith("{") and '"accepted"' in text[:200]


def accepted_json(record: Accepted) -> str:
    """Return the record as JSON text, a fixture a line, so that reviews show what changed."""
    document = {
        "accepted": FORMAT,
        "about": dict(record.about),
        "figures": {name: round(value, 4) for name, value in record.figures.items()},
        "dontCall": dict(record.dont_call),
    }
    head = json.dumps(document, ensure_ascii=False, indent=1)[:-2]
    fixtures = {
        name: {"passed": passed, "verdict": record.verdicts.get(name, "")}
        for name, passed in record.passed.items()
    }
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in fixtures.items())
    return f'{head},\n "fixtures": {{\n{rows}\n }}\n}}\n'


def read_accepted(text: str, *, source: str) -> Accepted:
    """Return the accepted record of a JSON text.

    Raises:
        ConfigError: it is none; names `source`.
    """
    try:
        raw = json.loads(text)
        rows = {FORMAT: raw["fixtures"]}[raw["accepted"]]
        return Accepted(
            about=dict(raw["about"]),
            passed={str(name): bool(row["passed"]) for name, row in rows.items()},
            verdicts={str(name): str(row["verdict"]) for name, row in rows.items()},
            dont_call={str(name): bool(kept) for name, kept in raw["dontCall"].items()},
            figures=dict(raw["figures"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{source} is no accepted record ({error}). Write it anew: make eval-ci ACCEPT=1"
        raise ConfigError(msg) from error
