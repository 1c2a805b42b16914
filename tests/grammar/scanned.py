"""A model's tokens, in an order in which a grammar can be asked about all of them at once.

Pure. Tokens are sorted by their bytes. Where a beginning is refused, all tokens with that
beginning are passed over by one search, so a scan takes time by what the grammar allows, not by
the size of the vocabulary.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goliath_local.grammar.match import Matcher


class Vocabulary:
    """The texts of all tokens, ready to be scanned."""

    __slots__ = ("_ids", "_shared", "_tokens")

    def __init__(self, tokens: Sequence[bytes]) -> None:
        """Take the bytes of every token, by id; empty for those that are not text."""
        self._ids = sorted(
            (id_ for id_, token in enumerate(tokens) if token), key=tokens.__getitem__
        )
        self._tokens = [tokens[id_] for id_ in self._ids]
        pairs = zip([b"", *self._tokens], self._tokens, strict=False)
        # How many leading bytes a token has in common with the one before it.
        self._shared = [_common(before, token) for before, token in pairs]

    def allowed(self, matcher: Matcher) -> list[int]:
        """Return the ids of the tokens that the grammar allows next, in no order that matters."""
        ids: list[int] = []
        states = [matcher]  # states[n]: after the first n bytes of the present token
        index = 0
        while index < len(self._tokens):
            token = self._tokens[index]
            del states[self._shared[index] + 1 :]
            refused = _extend(states, token)
            if refused is None:
                ids.append(self._ids[index])
                index += 1
            else:
                index = self._after(refused, index)
        return ids

    def _after(self, beginning: bytes, index: int) -> int:
        """Return the first index from here on whose token does not begin like that."""
        while beginning and beginning[-1] == 0xFF:
            beginning = beginning[:-1]
        if not beginning:
            return len(self._tokens)
        above = beginning[:-1] + bytes([beginning[-1] + 1])
        return bisect_left(self._tokens, above, index + 1)


def _common(before: bytes, token: bytes) -> int:
    if token.startswith(before):
        return len(before)
    pairs = enumerate(zip(before, token, strict=False))
    return next(at for at, (left, right) in pairs if left != right)


def _extend(states: list[Matcher], token: bytes) -> bytes | None:
    """Walk on over the token; return its beginning up to the byte that is refused, if one is."""
    for position in range(len(states) - 1, len(token)):
        after = states[-1].step(token[position])
        if after is None:
            return token[: position + 1]
        states.append(after)
    return None
