"""A vocabulary's pieces, arranged for the questions that choosing a token asks.

Pure, over the pieces the tokenizer gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from goliath_local.engine.constraint import Constraint

_MOST_ASKED: Final = 512
"""More tokens than that beginning with the same bytes: something will grow."""

_NO_BYTE: Final = 256
"""Stands for the end of a piece where its next byte is asked for."""

_NOTHING: Final = b"\xff"
"""Stands for the first byte of a token without text; no text has this byte."""


class Vocabulary:
    """Bytes of every token id, and which ids end a reply."""

    def __init__(self, pieces: Sequence[bytes], end_ids: Iterable[int]) -> None:
        self.pieces = pieces
        self.end_ids = frozenset(end_ids)
        self._ends = np.array(sorted(self.end_ids), dtype=np.intp)
        first = b"".join([piece[:1] or _NOTHING for piece in pieces])
        self._first = np.frombuffer(first, dtype=np.uint8)
        self._beginning: dict[bytes, npt.NDArray[np.intp]] = {}
        self._next: dict[bytes, npt.NDArray[np.int16]] = {}
        self._longer: dict[bytes, tuple[bytes, ...]] = {}

    def ids_starting_with(self, first_bytes: Iterable[int]) -> npt.NDArray[np.intp]:
        """Return all ids whose first byte is among these, ascending."""
        wanted = [byte for byte in first_bytes if byte != _NOTHING[0]]
        return np.flatnonzero(np.isin(self._first, wanted))

    def only_possible(
        self, ids: npt.NDArray[np.intp], constraint: Constraint
    ) -> npt.NDArray[np.intp]:
        """Return those of the ids that may come next by their first byte, in their order."""
        possible = _table(constraint.allowed_first_bytes())[self._first[ids]]
        if constraint.is_complete:
            possible |= np.isin(ids, self._ends)
        return ids[possible]

    def ids_going_on(self, piece: bytes, next_bytes: Iterable[int]) -> npt.NDArray[np.intp]:
        """Return the ids of the piece, and of it and more with one of these bytes behind it."""
        ids = self.ids_beginning_with(piece)
        following = self._next.get(piece)
        if following is None:
            pieces, end = self.pieces, len(piece)
            following = self._next[piece] = np.array(
                [pieces[token][end] if len(pieces[token]) > end else _NO_BYTE for token in ids],
                dtype=np.int16,
            )
        return ids[_table((*next_bytes, _NO_BYTE))[following]]

    def ids_beginning_with(self, piece: bytes) -> npt.NDArray[np.intp]:
        """Return the ids of all tokens that are the piece, or the piece and more, ascending."""
        found = self._beginning.get(piece)
        if found is None:
            pieces = self.pieces
            alike = self.ids_starting_with(piece[:1])
            found = alike[[pieces[token].startswith(piece) for token in alike]]
            self._beginning[piece] = found
        return found

    def may_grow(self, piece: bytes, after: Constraint) -> bool:
        """Return whether some token is the piece and more, and the more may come after it."""
        longer = self._longer.get(piece)
        if longer is None:
            longer = self._longer[piece] = self._find_longer(piece)
        return len(longer) >= _MOST_ASKED or any(
            after.advance(rest) is not None for rest in longer
        )

    def _find_longer(self, piece: bytes) -> tuple[bytes, ...]:
        alike = (self.pieces[token] for token in self.ids_beginning_with(piece))
        found = {other[len(piece) :] for other in alike} - {b""}
        return tuple(sorted(found)[:_MOST_ASKED])


def _table(wanted: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return for each byte, and for the end of a piece, whether it is wanted; shape (257,)."""
    table = np.zeros(_NO_BYTE + 1, dtype=np.bool_)
    table[list(wanted)] = True
    return table
