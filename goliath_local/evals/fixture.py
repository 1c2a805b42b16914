"""What an eval fixture says: the asks, and what a good run of them does.

Pure. Files are read through pydantic at the border; inside, fixtures are frozen values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from goliath_local.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Match: TypeAlias = "Mapping[str, Any]"
"""An acceptable value: `mode` and, for most modes, `any_of`."""

Escalation: TypeAlias = Literal["forbidden", "expected", "allowed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """What the n-th call of a tool has to look like; an argument not named is free."""

    tool: str
    match: Mapping[str, Match] | None = None
    missing: tuple[str, ...] = ()
    """Values that were not said: the worker has to skip the step for them."""

    fails: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTurn:
    """One ask, and what a good turn makes of it."""

    ask: str
    sequences: tuple[tuple[str, ...], ...]
    """Acceptable tool sequences, the preferred one first."""

    handled_by: Literal["device", "cloud"] = "device"
    escalation: Escalation = "forbidden"
    expected_reason: str | None = None
    args: tuple[ExpectedCall, ...] = ()
    mentions: tuple[tuple[str, ...], ...] = ()
    """Each is a list of texts of which the answer has to contain at least one."""

    forbids: tuple[str, ...] = ()
    state_after: Mapping[str, Any] | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The preferred tool sequence."""
        return self.sequences[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """Asks of one conversation over one store."""

    id: str
    turns: tuple[ExpectedTurn, ...]
    kind: str = "sample"
    lang: str = "en"
    toolset: str = ""
    """Name of the tool set; empty for the sample tools."""

    facts: Mapping[str, str] | None = None


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tool: str
    match: dict[str, dict[str, Any]] | None = None
    missing: list[str] = []
    fails: bool = False


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")
    ask: str
    tools: list[str] = []
    alternatives: list[list[str]] = []
    args: list[_Call] = []
    handled_by: Literal["device", "cloud"] = "device"
    escalation: Escalation | None = None
    expected_reason: str | None = None
    mentions: list[str | list[str]] = []
    forbids: list[str] = []
    state_after: dict[str, Any] | None = None


class _Fixture(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: str
    kind: str = "own"
    lang: str = "en"
    toolset: str = ""
    facts: dict[str, str] | None = None
    turns: list[_Turn]
    alternatives: list[list[str]] = []
    note: str = ""


def read_fixtures(lines: Iterable[str], *, source: str) -> tuple[Fixture, ...]:
    """Return the fixtures of a JSONL text.

    A line is a whole fixture, or, for a case of one ask, the turn's fields beside an `id`.

    Raises:
        ConfigError: a line is not a fixture; names `source`, the line and the field.
    """
    found = tuple(
        _read_line(line, place=f"{source}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )
    ids = [fixture.id for fixture in found]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        msg = f"{source}: the id {twice[0]!r} stands twice. Give each case its own."
        raise ConfigError(msg)
    return found


def _read_line(line: str, *, place: str) -> Fixture:
    try:
        raw = json.loads(line)
    except ValueError as error:
        msg = f"{place} is not JSON ({error}). One case a line, please."
        raise ConfigError(msg) from error
    try:
        return _lower(_Fixture.model_validate(_as_fixture(raw)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "the line"
        msg = f"{place}: {where}: {first['msg']}. See docs/evals.md."
        raise ConfigError(msg) from error


def _as_fixture(raw: Any) -> Any:
    if not isinstance(raw, dict) or "turns" in raw:
        return raw
    outer = {key: raw[key] for key in ("id", "kind", "lang", "toolset", "facts") if key in raw}
    return outer | {"turns": [{key: raw[key] for key in raw if key not in outer}]}


def _lower(raw: _Fixture) -> Fixture:
    return Fixture(
        id=raw.id,
        kind=raw.kind,
        lang=raw.lang,
        toolset=raw.toolset,
        facts=raw.facts,
        turns=tuple(_lower_turn(turn, others=raw.alternatives) for turn in raw.turns),
    )


def _lower_turn(raw: _Turn, *, others: list[list[str]]) -> ExpectedTurn:
    default: Escalation = "forbidden" if raw.handled_by == "device" else "expected"
    return ExpectedTurn(
        ask=raw.ask,
        sequences=tuple(tuple(s) for s in (raw.tools, *raw.alternatives, *others)),
        handled_by=raw.handled_by,
        escalation=raw.escalation or default,
        expected_reason=raw.expected_reason,
        args=tuple(
            ExpectedCall(tool=c.tool, match=c.match, missing=tuple(c.missing), fails=c.fails)
            for c in raw.args
        ),
        mentions=tuple((m,) if isinstance(m, str) else tuple(m) for m in raw.mentions),
        forbids=tuple(raw.forbids),
        state_after=raw.state_after,
    )
