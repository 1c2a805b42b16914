"""One reply, token by token, from a prompt that was just evaluated.

Drives the session; what comes next is decided by `forced`, `sampling` and `choices`. A token that
was sampled and the text that is forced behind it are evaluated in one batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from goliath_local.engine.choices import Choices
from goliath_local.engine.constraint import FreeText, is_final
from goliath_local.engine.forced import plan_forced
from goliath_local.engine.sampling import Choosing, Pick, draw, permitted_shares
from goliath_local.engine.streaming import Streaming

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from goliath_local.engine.constraint import Constraint
    from goliath_local.engine.forced import ByteEncoder
    from goliath_local.engine.sampling import Odds
    from goliath_local.engine.vocabulary import Vocabulary
    from goliath_local.model import Choice, Finish


class Timeline(Protocol):
    """The part of a session that decoding needs."""

    def evaluate(self, ids: Sequence[int]) -> None:
        """Append ids to the prompt."""
        ...

    def logits(self) -> npt.NDArray[np.float32]:
        """Return the logits behind the last id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What kind of reply is wanted."""

    constraint: Constraint
    max_tokens: int
    odds: Odds
    clock: Callable[[], float]
    stop_texts: tuple[str, ...] = ()
    on_text: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A reply."""

    text: str
    finish: Finish
    tokens: int
    forced_tokens: int
    choices: tuple[Choice, ...]
    first_at: float
    """When its first token was there, on the clock."""

    choosing_s: float
    """Seconds that were not spent in the network."""


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A reply in the making."""

    wanted: Wanted
    streaming: Streaming
    constraint: Constraint
    choices: Choices | None
    ids: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    """Ids that are chosen, but not evaluated yet."""

    open_piece: bytes = b""
    """What the next token has to begin with; empty: anything the grammar allows."""

    forced_tokens: int = 0
    first_at: float | None = None
    started: float = 0.0
    evaluating_s: float = 0.0

    @property
    def remaining(self) -> int:
        return self.wanted.max_tokens - len(self.ids)

    def take(self, ids: Sequence[int], data: bytes, after: Constraint) -> None:
        if self.first_at is None:
            self.first_at = self.wanted.clock()
        self.ids += ids
        self.waiting += ids
        self.constraint = after
        self.open_piece = b""
        if self.choices is not None:
            self.choices.take(data)
        self._give(self.streaming.feed(data))

    def evaluate(self, timeline: Timeline) -> None:
        started = self.wanted.clock()
        timeline.evaluate(self.waiting)
        self.waiting = []
        self.evaluating_s += self.wanted.clock() - started

    def end(self, finish: Finish) -> Decoded:
        self._give(self.streaming.finish())
        return Decoded(
            text=self.streaming.text,
            finish=finish,
            tokens=len(self.ids),
            forced_tokens=self.forced_tokens,
            choices=self.choices.made if self.choices is not None else (),
            first_at=self.first_at if self.first_at is not None else self.wanted.clock(),
            choosing_s=self.wanted.clock() - self.started - self.evaluating_s,
        )

    def _give(self, text: str) -> None:
        if text and self.wanted.on_text is not None:
            self.wanted.on_text(text)


def decode(
    timeline: Timeline, wanted: Wanted, encoder: ByteEncoder, vocabulary: Vocabulary
) -> Decoded:
    """Return a reply to the prompt that the timeline holds, its last logits at hand."""
    is_free = isinstance(wanted.constraint, FreeText)
    draft = _Draft(
        wanted=wanted,
        streaming=Streaming(wanted.stop_texts),
        constraint=wanted.constraint,
        choices=None if is_free else Choices(),
        started=wanted.clock(),
    )
    while True:
        # 1. What the grammar forces needs no model.
        _take_forced(draft, encoder, vocabulary)
        if is_final(draft.constraint) or draft.streaming.is_stopped:
            return draft.end("stop")
        if draft.remaining <= 0:
            return draft.end("stop" if draft.constraint.is_complete and not is_free else "length")
        # 2. Everything chosen so far is evaluated in one batch.
        if draft.waiting:
            draft.evaluate(timeline)
        # 3. The model chooses.
        pick = _pick(timeline.logits(), draft, encoder, vocabulary)
        if pick is None:
            _take_ending(draft, encoder)
            return draft.end("stop" if draft.constraint.is_complete else "length")
        if pick.is_end:
            return draft.end("stop")
        draft.take((pick.token,), vocabulary.pieces[pick.token], pick.after)


def _take_forced(draft: _Draft, encoder: ByteEncoder, vocabulary: Vocabulary) -> None:
    forced = plan_forced(draft.constraint, encoder, vocabulary)
    if forced is None or not _fits(forced.after, draft.remaining - len(forced.ids), encoder):
        return
    if forced.ids:
        draft.forced_tokens += len(forced.ids)
        draft.take(forced.ids, forced.data, forced.after)
    draft.open_piece = forced.open_piece


def _pick(
    logits: npt.NDArray[np.float32], draft: _Draft, encoder: ByteEncoder, vocabulary: Vocabulary
) -> Pick | None:
    """Return the next token; None when the cap leaves room for the shortest ending only."""
    room = draft.remaining - 1
    # A cap that was too small from the start cannot be steered to: the reply is cut.
    is_hopeless = not _fits(draft.constraint, draft.remaining, encoder)

    def fits(after: Constraint) -> bool:
        return is_hopeless or _fits(after, room, encoder)

    choosing = Choosing(
        constraint=draft.constraint,
        vocabulary=vocabulary,
        fits=fits,
        open_piece=draft.open_piece,
    )
    if draft.choices is not None and draft.choices.is_open_at(draft.constraint):
        draft.choices.weigh(permitted_shares(logits, choosing))
    return draw(logits, choosing, draft.wanted.odds)


def _take_ending(draft: _Draft, encoder: ByteEncoder) -> None:
    data = draft.constraint.shortest_ending()
    ids = encoder.encode_bytes(data)
    after = draft.constraint.advance(data)
    if ids and after is not None and len(ids) <= draft.remaining:
        draft.take(ids, data, after)


def _fits(after: Constraint, room: int, encoder: ByteEncoder) -> bool:
    """Return whether the shortest ending from there has room, in tokens."""
    # A token has at least one byte, so most of the time counting bytes is enough.
    return after.distance <= room or len(encoder.encode_bytes(after.shortest_ending())) <= room
