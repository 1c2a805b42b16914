"""A toy model for tests without weights: real decoding over a small vocabulary.

It knows every byte and a few longer pieces, tokenises by longest match, and its logits follow the
texts it is told to like: the better a piece fits a wished text, the likelier it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goliath_local.engine.decode import Wanted
from goliath_local.engine.sampling import Odds
from goliath_local.engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGER = (
    *(b'{"', b'":"', b'","', b'"}', b'":', b"kind", b"tool", b"answer", b"ans", b"to", b"wer"),
    *(b"true", b"false", b"null", b" a", b"the", b"list_", b"tasks", b"create_", b"task", b'e":"'),
    *("é".encode(), "🦜".encode(), "🦜".encode()[:2]),
)
PIECES = [*(bytes([byte]) for byte in range(256)), *LONGER, b""]
END = len(PIECES) - 1


class ToyEncoder:
    """Longest match first."""

    def encode_bytes(self, data: bytes) -> tuple[int, ...]:
        ids = []
        while data:
            best = max((p for p in PIECES if p and data.startswith(p)), key=len)
            ids.append(PIECES.index(best))
            data = data[len(best) :]
        return tuple(ids)


class ToyTimeline:
    """Remembers what was evaluated, and likes what continues one of its wishes."""

    def __init__(self, *wishes: str, odd: Callable[[bytes], float] | None = None) -> None:
        self.wishes = [wish.encode() for wish in wishes]
        self.batches: list[tuple[int, ...]] = []
        self.odd = odd

    @property
    def text(self) -> bytes:
        return b"".join(PIECES[token] for batch in self.batches for token in batch)

    def evaluate(self, ids: Sequence[int]) -> None:
        self.batches.append(tuple(ids))

    def logits(self) -> np.ndarray:
        scores = np.full(len(PIECES), -20.0, dtype=np.float32)
        for rank, wish in enumerate(self.wishes):
            if not wish.startswith(self.text):
                continue
            rest = wish[len(self.text) :]
            for token, piece in enumerate(PIECES):
                if piece and rest.startswith(piece):
                    scores[token] = max(scores[token], 10.0 + len(piece) - 3 * rank)
            if not rest:
                scores[END] = 10.0
        if self.odd is not None:
            scores += np.array([self.odd(piece) for piece in PIECES], dtype=np.float32)
        return scores


def toy_vocabulary() -> Vocabulary:
    return Vocabulary(PIECES, [END])


def wanted(constraint: object, max_tokens: int = 200, **more: object) -> Wanted:
    odds = Odds(temperature=0.0, top_k=40, top_p=0.95, chance=np.random.default_rng(0))
    return Wanted(
        **{
            "constraint": constraint,
            "max_tokens": max_tokens,
            "odds": odds,
            "clock": lambda: 0.0,
            **more,
        }
    )
