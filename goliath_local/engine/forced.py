"""Text that a grammar leaves no choice about, as tokens.

Pure; the tokenizer is handed in. Forced text is tokenised by itself, the same way every time. Its
last token stays open when the text behind it could have been part of a longer token: the model
then chooses that token, and the grammar sees to it that it begins with the forced bytes.

    forced  {"kind":"    tokens  {" kind ":"    taken  {" kind    left to choose  ":" or longer
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goliath_local.engine.constraint import is_final

if TYPE_CHECKING:
    from goliath_local.engine.constraint import Constraint
    from goliath_local.engine.vocabulary import Vocabulary


class ByteEncoder(Protocol):
    """What turns bytes into ids."""

    def encode_bytes(self, data: bytes) -> tuple[int, ...]:
        """Return the ids; the bytes may begin or end inside a character."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Forced:
    """Tokens to be taken without sampling; never empty."""

    ids: tuple[int, ...]
    data: bytes
    after: Constraint


def plan_forced(
    constraint: Constraint, encoder: ByteEncoder, vocabulary: Vocabulary
) -> Forced | None:
    """Return what can be taken without asking the model, None when nothing can."""
    data = constraint.forced()
    if not data:
        return None
    ids = encoder.encode_bytes(data)
    after = constraint.advance(data)
    if after is None or b"".join(vocabulary.pieces[token] for token in ids) != data:
        return None
    last = vocabulary.pieces[ids[-1]]
    if not is_final(after) and vocabulary.may_grow(last, after):
        ids, data = ids[:-1], data[: -len(last)]
        after = constraint.advance(data)
    return Forced(ids=ids, data=data, after=after) if ids and after is not None else None
