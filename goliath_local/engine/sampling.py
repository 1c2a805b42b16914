"""The next token: the best one that the constraint accepts, or one drawn among the best.

Pure: logits in, a pick out. Chance comes as a generator that was seeded by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goliath_local.engine.candidates import WALKED, best_first, best_id, ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from goliath_local.engine.constraint import Constraint
    from goliath_local.engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A token that was chosen."""

    token: int
    after: Constraint
    """The place behind it; the same place when the token ends the reply."""

    is_end: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """How chance comes in. With a temperature of 0 it does not."""

    temperature: float
    top_k: int
    top_p: float
    chance: np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """What a token is chosen by, for one step of a reply."""

    constraint: Constraint
    vocabulary: Vocabulary
    fits: Callable[[Constraint], bool]
    """Whether the reply can still be completed within its cap from such a place."""

    open_piece: bytes = b""
    """What the token has to begin with; empty: anything the constraint accepts."""

    def follow(self, token: int) -> Pick | None:
        """Return the token as a pick, None when the grammar does not allow it here."""
        if token in self.vocabulary.end_ids:
            if not self.constraint.is_complete:
                return None
            return Pick(token=token, after=self.constraint, is_end=True)
        piece = self.vocabulary.pieces[token]
        after = self.constraint.advance(piece) if piece else None
        return None if after is None else Pick(token=token, after=after, is_end=False)

    def has_room(self, pick: Pick) -> bool:
        """Return whether the reply can still be completed after the pick."""
        return pick.is_end or self.fits(pick.after)

    def accept(self, token: int) -> Pick | None:
        """Return the token as a pick, None when it may not come next."""
        pick = self.follow(token)
        return pick if pick is not None and self.has_room(pick) else None


def pick_best(logits: npt.NDArray[np.float32], choosing: Choosing) -> Pick | None:
    """Return the likeliest token that may come next.

    None when there is none, or when the cap is so near that all of the best 256 which the
    grammar allows would leave no room to complete the reply.
    """
    is_tight = False
    for tried, token in enumerate(_best_first(logits, choosing)):
        if is_tight and tried >= WALKED:
            return None
        pick = choosing.follow(token)
        if pick is None:
            continue
        if choosing.has_room(pick):
            return pick
        is_tight = True
    return None


def draw(logits: npt.NDArray[np.float32], choosing: Choosing, odds: Odds) -> Pick | None:
    """Return a token drawn among the accepted ones of the best `top_k`.

    When none of those is accepted it is the likeliest one that is.
    """
    if odds.temperature == 0:
        return pick_best(logits, choosing)
    picks = [choosing.accept(int(token)) for token in _ranked(logits, choosing, odds.top_k)]
    accepted = [pick for pick in picks if pick is not None]
    if not accepted:
        return pick_best(logits, choosing)
    tokens = np.array([pick.token for pick in accepted])
    weights = _softmax(logits[tokens].astype(np.float64) / odds.temperature)
    # The best ones that together reach top_p; the one that crosses the line is in.
    kept = int(np.searchsorted(np.cumsum(weights), odds.top_p)) + 1
    weights = weights[:kept] / weights[:kept].sum()
    reached = np.searchsorted(np.cumsum(weights), odds.chance.random(), side="right")
    return accepted[min(int(reached), len(weights) - 1)]


def permitted_shares(logits: npt.NDArray[np.float32], choosing: Choosing) -> dict[bytes, float]:
    """Return how probable each permitted piece is among the permitted ones of the best 256."""
    ids = _ranked(logits, choosing, WALKED)
    if not choosing.open_piece:
        ids = choosing.vocabulary.only_possible(ids, choosing.constraint)
    picks = [choosing.accept(int(token)) for token in ids]
    tokens = np.array([pick.token for pick in picks if pick and not pick.is_end], dtype=np.intp)
    if not len(tokens):
        return {}
    shares: dict[bytes, float] = {}
    for token, share in zip(tokens, _softmax(logits[tokens].astype(np.float64)), strict=True):
        piece = choosing.vocabulary.pieces[token]
        shares[piece] = shares.get(piece, 0.0) + float(share)
    return shares


def _best_first(logits: npt.NDArray[np.float32], choosing: Choosing) -> Iterable[int]:
    if choosing.open_piece:
        return (int(token) for token in _ranked(logits, choosing, len(logits)))
    return best_first(logits, choosing.constraint, choosing.vocabulary)


def _ranked(
    logits: npt.NDArray[np.float32], choosing: Choosing, most: int
) -> npt.NDArray[np.intp]:
    if not choosing.open_piece:
        return ranked(logits, most)
    best_id(logits)
    after = choosing.constraint.advance(choosing.open_piece)
    behind = after.allowed_first_bytes() if after is not None else ()
    ids = choosing.vocabulary.ids_going_on(choosing.open_piece, behind)
    return ids[np.argsort(-logits[ids], kind="stable")][:most]


def _softmax(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    powers = np.exp(values - values.max())
    return np.asarray(powers / powers.sum())
