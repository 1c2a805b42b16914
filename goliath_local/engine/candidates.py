"""Which tokens are the likeliest, best first, without sorting the vocabulary.

Pure. Equal logits are ordered by id, so that the order is one for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from goliath_local.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from goliath_local.engine.constraint import Constraint
    from goliath_local.engine.vocabulary import Vocabulary

WALKED: Final = 256
"""Candidates that are tried before the rest of the vocabulary is looked at."""

_MARGINS: Final = (4.0, 12.0, 32.0)


def best_id(logits: npt.NDArray[np.float32]) -> int:
    """Return the likeliest id.

    Raises:
        ModelUnavailable: the logits are not numbers.
    """
    best = int(logits.argmax())
    if not np.isfinite(logits[best]):
        raise ModelUnavailable(
            "The model computed no sound numbers. Its file may be damaged: "
            "goliath-local models verify"
        )
    return best


def ranked(logits: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.intp]:
    """Return the ids of the largest logits, at most so many, best first.

    A few thresholds below the best one find them in 0.1 ms; sorting would take 10.
    """
    top = logits[best_id(logits)]
    ids: npt.NDArray[np.intp] = np.arange(0)
    for margin in _MARGINS:
        ids = np.flatnonzero(logits > top - margin)
        if len(ids) >= most:
            break
    else:
        ids = np.arange(len(logits))
    if len(ids) > 4 * most:
        cut = np.partition(logits[ids], len(ids) - most)[len(ids) - most]
        ids = ids[logits[ids] >= cut]
    return ids[np.argsort(-logits[ids], kind="stable")][:most]


def best_first(
    logits: npt.NDArray[np.float32], constraint: Constraint, vocabulary: Vocabulary
) -> Iterator[int]:
    """Yield ids from the likeliest down: the best ones, then all that can begin to fit."""
    best = best_id(logits)
    yield best
    walked = ranked(logits, WALKED)
    possible = vocabulary.only_possible(walked, constraint)
    yield from (int(token) for token in possible if token != best)
    rest = vocabulary.ids_starting_with(constraint.allowed_first_bytes())
    rest = np.setdiff1d(rest, walked, assume_unique=True)
    order = np.argsort(-logits[rest], kind="stable")
    yield from (int(token) for token in rest[order])
