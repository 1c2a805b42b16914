"""How sure the model was where the grammar left it a few values to choose from.

Pure. A choice is a value (an enum, a constant that tells alternatives apart, true or false) of
which at most 64 are possible. Its share is the probability of the taken value among the
permitted ones, multiplied up over the tokens that tell them apart.

    permitted  "tool"  "answer"          tokens      t  0.2   tool 0.5   an 0.3
    taken      "tool"                    share       0.7, runner-up "answer" 0.3
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from goliath_local.engine.json_cursor import JsonCursor
from goliath_local.model import Choice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goliath_local.engine.constraint import Constraint

_MOST_VALUES: Final = 64
_MOST_STEPS: Final = 512
_MOST_BRANCHES: Final = 24
"""More ways to go on than that: a string of its own words."""

_MOST_SHOWN: Final = 6
"""Values told with their shares."""

_BEGINNINGS: Final = frozenset(b'"tfn')
"""How a choice can begin: a string, true, false, null. Numbers are not counted out."""


@dataclass(slots=True, kw_only=True)
class _Open:
    """A choice that is being made."""

    pointer: str
    start: int
    live: tuple[bytes, ...]
    """Values that the text so far may still become."""

    scores: dict[bytes, float]


class Choices:
    """Follows one constrained reply and collects its choices."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._cursor = JsonCursor()
        self._open: _Open | None = None
        self._seen = -1
        self._made: list[Choice] = []

    @property
    def made(self) -> tuple[Choice, ...]:
        """The choices so far."""
        return tuple(self._made)

    def is_open_at(self, constraint: Constraint) -> bool:
        """Return whether the next token decides, or helps to decide, a choice."""
        if self._open is None:
            self._look(constraint)
        return self._open is not None

    def weigh(self, shares: Mapping[bytes, float]) -> None:
        """Take in how probable each permitted piece is here, before one is taken."""
        if self._open is None:
            return
        begun = bytes(self._text)
        sums = dict.fromkeys(self._open.live, 0.0)
        for piece, share in shares.items():
            text = (begun + piece)[self._open.start :]
            for value in self._open.live:
                if value.startswith(text) or text.startswith(value):
                    sums[value] += share
        for value, total in sums.items():
            self._open.scores[value] *= total

    def take(self, data: bytes) -> None:
        """Follow bytes of the reply, sampled or forced."""
        self._text += data
        self._cursor.feed(data)
        if self._open is not None:
            self._settle(self._open)

    def _look(self, constraint: Constraint) -> None:
        place = self._cursor.place
        if place is not None and place.start <= self._seen and not constraint.forced():
            return
        forced = constraint.forced()
        ahead = self._cursor.copy()
        ahead.feed(forced)
        place = ahead.place
        after = constraint.advance(forced) if forced else constraint
        if place is None or place.start <= self._seen or after is None:
            return
        self._seen = place.start
        values = values_after(after, bytes(self._text + forced)[place.start :])
        if len(values) > 1:
            self._open = _Open(
                pointer=place.pointer,
                start=place.start,
                live=values,
                scores=dict.fromkeys(values, 1.0),
            )

    def _settle(self, choice: _Open) -> None:
        text = bytes(self._text[choice.start :])
        choice.live = tuple(
            value for value in choice.live if value.startswith(text) or text.startswith(value)
        )
        if len(choice.live) > 1:
            return
        self._open = None
        if choice.live:
            self._made.append(_choice(choice.pointer, choice.live[0], choice.scores))


@lru_cache(maxsize=512)
def values_after(constraint: Constraint, begun: bytes) -> tuple[bytes, ...]:
    """Return all values that a begun scalar may become, as JSON; empty when they are many.

    Args:
        constraint: the place behind `begun`.
        begun: the first bytes of the value, possibly none.
    """
    found: list[bytes] = []
    waiting = [(constraint, begun)]
    steps = 0
    while waiting:
        place, text = waiting.pop()
        steps += 1
        if _is_whole(text):
            found.append(text)
            continue
        followers = _followers(place, text)
        if not followers or steps > _MOST_STEPS:
            return ()
        waiting += [(after, text + piece) for piece, after in followers]
        if len(waiting) + len(found) > _MOST_VALUES:
            return ()
    return tuple(sorted(found))


def _followers(place: Constraint, text: bytes) -> list[tuple[bytes, Constraint]]:
    forced = _within_value(text, place.forced())
    first = place.allowed_first_bytes()
    if not forced and len(first) > _MOST_BRANCHES:
        return []
    followers = []
    for piece in (forced,) if forced else (bytes((byte,)) for byte in sorted(first)):
        after = place.advance(piece)
        if after is None:
            continue
        if not text and piece[0] not in _BEGINNINGS:
            return []
        followers.append((piece, after))
    return followers


def _within_value(text: bytes, forced: bytes) -> bytes:
    """Return the forced bytes that still belong to the value."""
    for end in range(1, len(forced) + 1):
        if _is_whole(text + forced[:end]):
            return forced[:end]
    return forced


def _is_whole(text: bytes) -> bool:
    if text[:1] != b'"':
        return text in (b"true", b"false", b"null")
    if len(text) < 2 or text[-1:] != b'"':
        return False
    body = text[1:-1]
    return (len(body) - len(body.rstrip(b"\\"))) % 2 == 0


def _choice(pointer: str, taken: bytes, scores: Mapping[bytes, float]) -> Choice:
    ranked = sorted((-score, value) for value, score in scores.items())
    score, runner_up = next(pair for pair in ranked if pair[1] != taken)
    return Choice(
        path=pointer,
        value=_shown(taken),
        share=min(scores[taken], 1.0),
        runner_up=_shown(runner_up),
        runner_up_share=min(-score, 1.0),
        shares=tuple((_shown(value), min(-score, 1.0)) for score, value in ranked[:_MOST_SHOWN]),
    )


def _shown(value: bytes) -> str:
    read = json.loads(value)
    return read if isinstance(read, str) else value.decode()
