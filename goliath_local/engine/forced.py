"""Text that a grammar leaves no choice about, as tokens.

Pure; the tokenizer is handed in. Forced text is tokenised by itself, the same way every time. Its
last token stays open when the text behind it could have been part of a longer token: the model
then chooses that token or a longer one that begins with it, never a shorter one. With a shorter
one the reply would be spelled in tokens that the model has hardly seen, and what it says next
suffers: `{"title` `":` made a 1.5B model begin a title with a comma.

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
    """Tokens to be taken without sampling, and the piece that the next one has to begin with."""

    ids: tuple[int, ...]
    data: bytes
    after: Constraint
    open_piece: bytes = b""
    """Forced bytes that are left to choose a token for; empty when nothing is."""


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
    if is_final(after) or not vocabulary.may_grow(last, after):
        return Forced(ids=ids, data=data, after=after)
    before = constraint.advance(data[: -len(last)]) if len(ids) > 1 else constraint
    if before is None:
        return None
    return Forced(ids=ids[:-1], data=data[: -len(last)], after=before, open_piece=last)
