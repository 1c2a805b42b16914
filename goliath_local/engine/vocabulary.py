"""A vocabulary's pieces, arranged for the questions that choosing a token asks.

Pure, over the pieces the tokenizer gives.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from goliath_local.engine.constraint import Constraint

_BEHIND_ALL: Final = b"\xff" * 8
"""Sorts behind whatever a token may go on with: UTF-8 has no byte FF."""

_MOST_ASKED: Final = 512
"""More tokens than that beginning with the same bytes: something will grow."""


class Vocabulary:
    """Bytes of every token id, and which ids end a reply."""

    def __init__(self, pieces: Sequence[bytes], end_ids: Iterable[int]) -> None:
        self.pieces = pieces
        self.end_ids = frozenset(end_ids)
        order = sorted((piece, token) for token, piece in enumerate(pieces) if piece)
        self._sorted = [piece for piece, _ in order]
        self._order = np.array([token for _, token in order], dtype=np.intp)
        self._first = np.fromiter(
            (piece[0] if piece else -1 for piece in pieces), dtype=np.int16, count=len(pieces)
        )
        self._longer: dict[bytes, tuple[bytes, ...]] = {}

    def ids_starting_with(self, first_bytes: Iterable[int]) -> npt.NDArray[np.intp]:
        """Return all ids whose first byte is among these, ascending."""
        return np.flatnonzero(np.isin(self._first, list(first_bytes)))

    def ids_beginning_with(self, piece: bytes) -> npt.NDArray[np.intp]:
        """Return the ids of all tokens that are the piece, or the piece and more, ascending."""
        first = bisect_left(self._sorted, piece)
        behind = bisect_left(self._sorted, piece + _BEHIND_ALL)
        return np.sort(self._order[first:behind])

    def may_grow(self, piece: bytes, after: Constraint) -> bool:
        """Return whether some token is the piece and more, and the more may come after it."""
        longer = self._longer.get(piece)
        if longer is None:
            longer = self._longer[piece] = self._find_longer(piece)
        return len(longer) >= _MOST_ASKED or any(
            after.advance(rest) is not None for rest in longer
        )

    def _find_longer(self, piece: bytes) -> tuple[bytes, ...]:
        found: list[bytes] = []
        index = bisect_right(self._sorted, piece)
        while index < len(self._sorted) and len(found) < _MOST_ASKED:
            if not self._sorted[index].startswith(piece):
                break
            found.append(self._sorted[index][len(piece) :])
            index += 1
        return tuple(found)
